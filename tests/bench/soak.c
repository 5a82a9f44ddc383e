/* Runs hours of ticks and scrapes in minutes. The sampler, history, exposition and answers are
 * real, and this program moves the clock. It follows bench_churn in one run after another, and
 * writes its own memory use and number of descriptors as CSV.
 *
 * Usage: bench_soak CHURN-PROGRAM FOLDER TICKS
 *
 * Each tick is one second of the simulated clock. Every fifteenth tick is scraped in all formats.
 * Each run ends after RUN_TICKS. Then the program makes the requests that a user would make. The
 * linker replaces the functions that read the clocks (tests/bench/CMakeLists.txt). There is no HTTP
 * server and no search for jobs: a scrape only renders the answer. `soak.py` has both, in real
 * time. */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/followed/jobs.h"
#include "exporter/core/app.h"
#include "exporter/history/historian.h"
#include "exporter/core/identity.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/answers/result_cache.h"
#include "exporter/cli/query.h"
#include "exporter/sampling/sampler.h"
#include "exporter/site/rendered_cache.h"
#include "exporter/answers/sizing.h"
#include "exporter/core/memory_trim.h"
#include "exporter/answers/app_caches.h"

#define RUN_TICKS    600
#define SCRAPE_TICKS 15
#define NOTE_TICKS   20
#define WAIT_SECONDS 300.0 /* longest wait for a tick or a write, on the real clock */

static _Atomic int64_t ahead_ns;

struct now __real_now_read(void);
struct now __wrap_now_read(void);
struct now __wrap_now_read(void)
{
	struct now now = __real_now_read();
	int64_t ahead = atomic_load(&ahead_ns);

	now.mono.ns += ahead;
	now.wall.ns += ahead;
	return now;
}

double __real_batch_writer_clock(void);
double __wrap_batch_writer_clock(void);
double __wrap_batch_writer_clock(void)
{
	return __real_batch_writer_clock() + (double)atomic_load(&ahead_ns) / 1e9;
}

struct soak {
	struct app app;
	struct options options;
	struct identity self;
	struct rendered_cache *rendered_cache;
	const char *program, *folder;
	pid_t job; /* the root of the followed processes */
	int input; /* the job's stdin; the job ends when this descriptor is closed */
	char run_id[RUN_ID_MAX];
	unsigned runs;
	FILE *notes;
};

static _Noreturn void fail(const char *what, const struct err *e)
{
	fprintf(stderr, "bench_soak: %s: %s\n", what, e->text);
	exit(EXIT_FAILURE);
}

/* Starts the job's processes, and returns when all exist. */
static void start_job(struct soak *s)
{
	int input[2], output[2];
	char byte;

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		fail("pipe", &(struct err){0});
	s->job = fork();
	if (s->job == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl(s->program, s->program, "40", "20", (char *)NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	if (s->job < 0 || read(output[0], &byte, 1) != 1)
		fail("start the job", &(struct err){0});
	close(output[0]);
	s->input = input[1];
}

static void begin_run(struct soak *s)
{
	struct wall now = now_read().wall;
	struct err e = {0};

	start_job(s);
	snprintf(s->run_id, sizeof s->run_id, "soak-%04u", s->runs++);
	const struct run_spec spec = {.run_id = s->run_id,
		.job_name = "soak",
		.pid = s->job,
		.started_at = now,
		.started_mono = now_read().mono,
		.awaits_conclusion = true};
	const struct run_begin begin = {.run_id = s->run_id,
		.job_name = "soak",
		.host = s->self.host,
		.started_at = wall_seconds(now),
		.interval_seconds = 1,
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = NAN,
		.input_bytes = NAN,
		.attempt = NAN,
		.root = s->self.here,
		.owner_pid = s->self.pid,
		.owner_start_ticks = s->self.start_ticks};

	if (sampler_follow(s->app.sampler, &spec, &begin, INFINITY, NULL, &e))
		fail("follow the job", &e);
}

static void end_run(struct soak *s)
{
	struct run_finish finish = {.run_id = s->run_id,
		.duration_seconds = RUN_TICKS,
		.outcome = OUTCOME_SUCCEEDED,
		.exit_signal = NAN,
		RUN_FINISH_UNKNOWN};
	double final[RUN_N_METRICS];

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	close(s->input);
	waitpid(s->job, NULL, 0);
	finish.ended_at = wall_seconds(now_read().wall);
	sampler_conclude(s->app.sampler, s->run_id, final, FINAL_AT_LEAST, &finish, INFINITY, NULL);
	if (!historian_flush(s->app.historian, WAIT_SECONDS))
		fail("write the history", &(struct err){0});
}

static void rendered_cache(struct soak *s, struct snapshot *snapshot)
{
	for (int f = 0; f < EXPOSITION_FORMATS; f++)
		for (int gzip = 0; gzip < 2; gzip++) {
			struct response_body *b = rendered_cache_body(s->rendered_cache, snapshot,
				(enum exposition_format)f, NULL, gzip);

			if (!b || b->len == 0)
				fail("scrape", &(struct err){0});
			shared_drop(&b->shared);
		}
	sampler_scraped(s->app.sampler, snapshot->generation);
}

static void ask(struct soak *s, const char *command)
{
	const struct route *route = query_route(command);
	struct reply r = {.status = 200, .body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct err e = {0};

	arguments_begin(&a, route->parameters);
	if (route_parameter_find(route->parameters, "job_name") &&
		arguments_add(&a, "job_name", "soak", &e))
		fail(command, &e);
	if (arguments_finish(&a, &e) || route->answer(&s->app, &a, &r, &e))
		fail(command, &e);
	if (r.status != 200)
		fail(command, &(struct err){.text = "not found"});
	buf_done(&r.body);
}

static size_t descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static uint64_t resident_bytes(void)
{
	char text[128] = "";
	FILE *f = fopen("/proc/self/statm", "re");
	struct slice whole;
	uint64_t pages = 0;

	if (f && fgets(text, sizeof text, f)) {
		struct scan s = SCAN(text, strlen(text));

		if (scan_word(&s, &whole))
			scan_u64(&s, &pages);
	}
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void one_tick(struct soak *s, uint64_t tick)
{
	atomic_fetch_add(&ahead_ns, NS_PER_S);
	bool scrapes = tick % SCRAPE_TICKS == 0;
	struct snapshot *snapshot =
		(scrapes ? sampler_scrape : sampler_runs)(s->app.sampler, 0.5, WAIT_SECONDS);

	if (!snapshot)
		fail("tick", &(struct err){0});
	if (scrapes)
		rendered_cache(s, snapshot);
	shared_drop(&snapshot->shared);
	if (tick % NOTE_TICKS == 0)
		fprintf(s->notes, "%lu,%lu,%zu,%zu\n", tick, resident_bytes(), descriptors(),
			mallinfo2().uordblks + mallinfo2().hblkhd);
}

static void start(struct soak *s, char *program)
{
	char *arguments[] = {program, NULL};
	char path[4096];
	struct err e = {0};

	if (options_read(&s->options, COMMAND_SERVE, 1, arguments, &e))
		fail("options", &e);
	identity_read(&s->self);
	snprintf(path, sizeof path, "%s/history.db", s->folder);
	s->app.options = &s->options;
	s->app.self = NULL; /* NULL = no search for other jobs */
	s->app.history_path = xstrdup(path);
	s->app.results = result_cache_new();
	columns_build(&s->app.columns);
	const struct historian_config c = {.path = s->app.history_path,
		.columns = &s->app.columns,
		.limits = {.runs_per_job = 5, .full_rate_seconds = 7200},
		.here = s->self.here,
		.alive = identity_is_alive};

	s->rendered_cache = rendered_cache_new();
	if (historian_start(&s->app.historian, &c, &e) ||
		run_forecasts_start(&s->app.run_forecasts, &s->app, &e) ||
		sampler_start(&s->app.sampler, &s->app, NULL, &e))
		fail("start", &e);
	snprintf(path, sizeof path, "%s/soak.csv", s->folder);
	s->notes = fopen(path, "we");
	if (!s->notes)
		fail(path, &(struct err){.text = "cannot be written"});
	fprintf(s->notes, "seconds,resident_bytes,descriptors,allocated_bytes\n");
}

static void stop(struct soak *s)
{
	fclose(s->notes);
	sampler_stop(s->app.sampler);
	run_forecasts_stop(s->app.run_forecasts);
	historian_stop(s->app.historian);
	rendered_cache_free(s->rendered_cache);
	columns_done(&s->app.columns);
	free((char *)(uintptr_t)s->app.history_path);
	app_caches_done(&s->app);
	options_done(&s->options);
}

int main(int argc, char **argv)
{
	static const char *const commands[] = {"stats", "recommend", "servers", "runs", "overview"};
	struct soak s = {.app = APP_INIT};
	uint64_t ticks = 0;

	if (argc == 4)
		scan_u64(&SCAN(argv[3], strlen(argv[3])), &ticks);
	if (!ticks) {
		fprintf(stderr, "usage: bench_soak CHURN-PROGRAM FOLDER TICKS\n");
		return EXIT_FAILURE;
	}
	memory_trim_setup();
	history_setup();
	signal(SIGPIPE, SIG_IGN);
	s.program = argv[1];
	s.folder = argv[2];
	start(&s, argv[0]);
	for (uint64_t tick = 0; tick < ticks; tick++) {
		if (tick % RUN_TICKS == 0)
			begin_run(&s);
		one_tick(&s, tick);
		if (tick % RUN_TICKS != RUN_TICKS - 1 && tick != ticks - 1)
			continue;
		end_run(&s);
		for (size_t i = 0; i < ARRAY_LEN(commands); i++)
			ask(&s, commands[i]);
	}
	stop(&s);
	return EXIT_SUCCESS;
}
