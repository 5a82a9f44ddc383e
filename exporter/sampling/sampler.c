#include "exporter/sampling/sampler_state.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"
#include "collectors/process/process.h"
#include "collectors/runs.h"
#include "exporter/sampling/enabled_collectors.h"
#include "exporter/discovery/finder.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/history/historian.h"
#include "exporter/kubernetes/pod_owners.h"
#include "exporter/core/capabilities.h"
#include "exporter/core/log.h"
#include "exporter/this_server/this_server.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/core/memory_trim.h"

/* After this many rows, the sampler returns free memory to the kernel. Much of it was needed only
 * while the program started. */
#define TRIM_ROWS 3

/* ---- the limit of CPU time ---- */

static double cpu_limit_seconds(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_CPU, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? (double)l.rlim_cur :
									       (double)INFINITY;
}

static double cpu_limit_used(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double cpu_limit_slowdown(double limit, double used, double look)
{
	double most = limit * CPU_LIMIT_SHARE;

	if (isinf(limit))
		return 1;
	/* Stop when the next sample, if it takes as long as the last, would use more than half of
	 * the reserve. The reserve is the CPU time between `most` and `limit`. This rarely happens
	 * before `used` reaches `most`, because only the first sample takes much CPU time. */
	if (used >= most || used + look >= (most + limit) / 2)
		return INFINITY;
	/* The first half of `most` may be used at the usual rate. `left` is the part of the second
	 * half that is not used yet, from 1 down to 0. The time between samples grows with the
	 * inverse square of `left`, so that the CPU time lasts. */
	double left = fmin((most - used) / (most / 2), 1);

	return fmin(1 / (left * left), CPU_LIMIT_STRETCH_MAX);
}

/* Logs once which rights are missing. If the exporter has these rights, logs why they are not
 * enough.
 *
 * To read the files io, smaps_rollup, environ, fd and root in /proc/PID, the exporter needs
 * PTRACE_MODE_READ (ptrace(2)): it must have the user and the group of the process, or
 * CAP_SYS_PTRACE. The user of the process owns io, environ and fd. To read these three, an exporter
 * of another user also needs CAP_DAC_READ_SEARCH. */
void rights_note(bool *logged, const struct snapshot *s)
{
	for (size_t i = 0; i < s->n_runs && !*logged; i++) {
		const struct run_reading *run = &s->runs[i];

		if (run->ended || !(run->value[RUN_UNREADABLE_PROCESSES] > 0))
			continue;
		const char *why = capabilities_not_enough();

		*logged = true;
		log_line(LOG_LEVEL_WARN,
			"processes of another user: their disk I/O, descriptors, PSS, "
			"environment, and the limits of another container cannot be read",
			"job_name", run->job_name, "needs",
			why ? NULL :
			      "the job's own user and group, or root with the capabilities "
			      "SYS_PTRACE and DAC_READ_SEARCH",
			"why", why, NULL);
	}
}

/* ---- one tick ---- */

static void publish(struct sampler *s, struct snapshot *take, enum tick_purpose purpose,
	bool looked)
{
	struct snapshot_age t = {true, take->at.mono, now_read().mono};

	if (looked && purpose == FOR_SCRAPE)
		shared_hold(&take->shared);
	if (looked)
		latest_set(&s->runs_now, &take->shared);
	if (purpose == FOR_SCRAPE)
		latest_set(&s->all_now, &take->shared);
	pthread_mutex_lock(&s->lock);
	s->tick_ended = t.ended;
	s->doing = FOR_NOTHING;
	s->silent = false;
	if (looked)
		s->runs = t;
	if (purpose == FOR_SCRAPE)
		s->all = t;
	else if (purpose >= FOR_EVENT)
		s->all.any = false;
	pthread_mutex_unlock(&s->lock);
	/* Wake the waiting threads after the unlock, so that they find the lock free. */
	pthread_cond_broadcast(&s->ticked);
}

static void drop_ended(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t seen = s->scraped_generation;

	pthread_mutex_unlock(&s->lock);
	jobs_drop_ended(s->host.jobs, &s->host, seen, LINGER_SECONDS);
}

bool sampler_is_stale(const struct snapshot_age *t, struct mono now, double max_age_seconds)
{
	double took = mono_seconds_between(t->at, t->ended);

	if (max_age_seconds > 0 && took * SAMPLER_TICKS_APART > max_age_seconds)
		max_age_seconds = took * SAMPLER_TICKS_APART;
	return !t->any || mono_seconds_between(t->at, now) > max_age_seconds;
}

double sampler_slowdown(const struct sampler *s)
{
	return isinf(s->cpu_limit) ?
		       1 :
		       cpu_limit_slowdown(s->cpu_limit, cpu_limit_used(), s->look_seconds);
}

/* Reads the runs. When the CPU time limit is nearly used up, only a tick with the purpose FOR_END
 * still reads them. All other ticks repeat the latest values. */
static void look_at_runs(struct sampler *s, enum tick_purpose purpose, struct snapshot *snapshot)
{
	if (purpose != FOR_END && isinf(sampler_slowdown(s))) {
		jobs_tell(s->host.jobs, snapshot);
		return;
	}
	if (s->finder)
		finder_look(s->finder, &s->host);
	jobs_read(s->host.jobs, &s->host, snapshot);
}

const struct snapshot *sampler_tick(struct sampler *s, enum tick_purpose purpose)
{
	struct snapshot *snapshot = snapshot_take(s->pool);
	bool all = purpose == FOR_SCRAPE;

	s->host.now = snapshot->at = now_read();
	host_look(&s->host);
	/* No lock is needed, because only this thread writes s->runs. */
	bool look = !all || sampler_is_stale(&s->runs, snapshot->at.mono, SAMPLER_RUNS_AGE);

	drop_ended(s);
	if (look)
		look_at_runs(s, purpose, snapshot);
	else
		jobs_tell(s->host.jobs, snapshot);
	if (all)
		this_server_host(s->app, &s->host.cloud);
	enabled_collectors_read(s->enabled, &s->host, snapshot, !all);
	run_forecasts_add(s->app->run_forecasts, snapshot);
	rights_note(&s->said_rights, snapshot);
	if (look && s->finder)
		finder_settle(s->finder, &s->host, snapshot);
	publish(s, snapshot, purpose, look);
	return snapshot;
}

void sampler_write_rows(struct sampler *s, const struct snapshot *snapshot, const char *run_id)
{
	const struct sample *rows;
	size_t n = sample_rows_read(s->sample_rows, snapshot, run_id, &rows);

	if (n)
		historian_samples(s->app->historian, rows, n);
}

/* Returns the CPU time, in nanoseconds, of this thread and of the threads that read files for
 * it. */
static uint64_t look_clock(const struct sampler *s)
{
	return process_thread_clock() + tree_waits(s->host.proc).worked_ns;
}

static void note_rare_rows(struct sampler *s)
{
	char limit[32];

	if (s->is_rare)
		return;
	s->is_rare = true;
	snprintf(limit, sizeof limit, "%.0f", s->cpu_limit);
	log_line(LOG_LEVEL_WARN,
		"sampling slowed down to stay within the CPU time limit of this process",
		"limit_seconds", limit, NULL);
}

/* Returns the nanoseconds between two rows: the sample interval, or more when a CPU time limit
 * slows sampling down. */
static int64_t row_wait(struct sampler *s, int64_t interval)
{
	double stretch = sampler_slowdown(s);

	if (stretch > 1)
		note_rare_rows(s);
	return (int64_t)((double)interval * fmin(stretch, CPU_LIMIT_STRETCH_MAX));
}

/* Postpones the next row to `until` and counts the skipped rows. */
static void put_off_row(struct sampler *s, int64_t until, int64_t interval)
{
	if (s->next_row.ns >= until)
		return;
	s->samples_missed += (uint64_t)((until - s->next_row.ns) / interval);
	s->next_row.ns = until;
}

/* Writes a row of the history for each run, and sets the time of the next row, which is usually one
 * interval later. It is later if this tick took much CPU time, or if a CPU time limit slows
 * sampling down. Writes no rows when sampler_slowdown returns INFINITY. */
static void row_tick(struct sampler *s, enum tick_purpose purpose)
{
	int64_t interval = (int64_t)(s->app->options->sample_interval * 1e9);
	int64_t now = now_read().mono.ns;
	uint64_t cpu = look_clock(s);
	bool none = isinf(sampler_slowdown(s));

	s->next_row.ns += interval;
	if (s->next_row.ns <= now) {
		s->samples_missed += (uint64_t)((now - s->next_row.ns) / interval) + 1;
		s->next_row.ns = now + interval;
	}
	if (none) {
		s->samples_missed++;
		if (purpose == FOR_EVENT)
			sampler_tick(s, purpose);
		put_off_row(s, s->next_row.ns - interval + row_wait(s, interval), interval);
		return;
	}
	sampler_write_rows(s, sampler_tick(s, purpose), NULL);
	cpu = look_clock(s) - cpu;
	s->look_seconds = (double)cpu / NS_PER_S;
	put_off_row(s, now_read().mono.ns + (int64_t)cpu, interval);
	put_off_row(s, s->next_row.ns - interval + row_wait(s, interval), interval);
	/* Return the memory that only the start of the program needed. After TRIM_ROWS rows, all
	 * files were read once, and all other threads have started. */
	if (++s->rows == TRIM_ROWS)
		memory_trim_start();
}

/* ---- the loop ---- */

void sampler_wake(struct sampler *s)
{
	uint64_t one = 1;

	/* The write fails only when the counter of the eventfd is full. The sampler thread wakes up
	 * in that case, too. */
	while (write(s->wake, &one, sizeof one) < 0 && errno == EINTR)
		;
}

/* Waits for a request, for the end of a run's root process, or for the timeout. The lock is
 * released during the wait. */
static void wait_for_work(struct sampler *s, double seconds)
{
	struct pollfd fds[] = {
		{.fd = s->wake, .events = POLLIN},
		{.fd = jobs_ending_fd(s->host.jobs), .events = POLLIN},
	};
	int64_t ns = (int64_t)(seconds * 1e9);
	struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
	uint64_t ignored;

	pthread_mutex_unlock(&s->lock);
	int n = ppoll(fds, ARRAY_LEN(fds), &t, NULL);

	/* One read sets the counter of the eventfd to 0. */
	while (n > 0 && fds[0].revents && read(s->wake, &ignored, sizeof ignored) < 0 &&
		errno == EINTR)
		;
	pthread_mutex_lock(&s->lock);
	if (n > 0 && fds[1].revents)
		s->want = FOR_EVENT;
}

static void run_requests(struct sampler *s)
{
	while (s->requests) {
		struct sampler_request *r = s->requests;

		s->requests = r->next;
		r->begun = true;
		pthread_mutex_unlock(&s->lock);
		r->function(s, r);
		pthread_mutex_lock(&s->lock);
		r->done = true;
		s->silent = false;
		if (r->abandoned)
			free(r);
		else
			pthread_cond_broadcast(&s->ticked);
	}
}

static void *sampler_loop(void *context)
{
	struct sampler *s = context;
	bool was_row = false;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		double left = mono_seconds_between(now_read().mono, s->next_row);

		if (s->requests) {
			run_requests(s);
			continue;
		}
		enum tick_purpose want = s->want;

		if (left > 0 && want == FOR_NOTHING) {
			wait_for_work(s, left);
			continue;
		}
		/* If ticks take longer than the interval, ticks for rows and for scrapes
		 * alternate. */
		bool row = left <= 0 && (want != FOR_SCRAPE || !was_row);

		if (!row || want != FOR_SCRAPE)
			s->want = FOR_NOTHING;
		s->doing = row ? FOR_ROW : want;
		pthread_mutex_unlock(&s->lock);
		if (row)
			row_tick(s, want == FOR_EVENT ? want : FOR_ROW);
		else
			sampler_tick(s, want);
		was_row = row;
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	row_tick(s, FOR_EVENT);
	return NULL;
}

/* ---- start and stop ---- */

/* The callback for pod_owners_tell, called when the owner of a new pod has become known. Makes the
 * sampler tick at once instead of at the next row, because the pod's runs may be short. */
static void look_soon(void *sampler)
{
	struct sampler *s = sampler;

	pthread_mutex_lock(&s->lock);
	if (s->want < FOR_EVENT)
		s->want = FOR_EVENT;
	pthread_mutex_unlock(&s->lock);
	sampler_wake(s);
}

static void sampler_free(struct sampler *s)
{
	finder_free(s->finder);
	enabled_collectors_stop(s->enabled);
	latest_done(&s->runs_now);
	latest_done(&s->all_now);
	snapshot_pool_free(s->pool);
	sample_rows_free(s->sample_rows);
	jobs_free(s->host.jobs);
	host_close(&s->host);
	closep(&s->wake);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->ticked);
	free(s);
}

int sampler_start(struct sampler **ret, struct app *app, struct job_rules *take, struct err *e)
{
	struct sampler *s = xcalloc(1, sizeof *s);

	s->app = app;
	s->runs_now = s->all_now = LATEST_INIT;
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->ticked);
	const struct options *o = app->options;
	int code = host_open(&s->host, &(struct host_paths){o->procfs, o->sysfs, o->rootfs}, e);

	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (code == 0 && s->wake < 0)
		code = err_system(e, -errno, "eventfd");
	if (code == 0) {
		s->host.jobs = jobs_new(&s->host);
		s->enabled = enabled_collectors_start(app->options, &s->host);
		enabled_collectors_watch(s->enabled,
			&(struct self_sources){app->historian, &s->samples_missed,
				app->options->external_url, app->options->grafana_url});
		s->pool = snapshot_pool_new(enabled_collectors_list(s->enabled));
		s->sample_rows = sample_rows_new(&app->columns);
		s->finder = app->self ? finder_new(app, s->sample_rows) : NULL;
		pod_owners_tell(app->pod_owners, look_soon, s);
		s->next_row = s->host.now.mono;
		/* Only a wrapper slows down near its CPU time limit. A server (`finder` is set)
		 * samples at full rate until the kernel kills it, and is then restarted. */
		s->cpu_limit = s->finder ? (double)INFINITY : cpu_limit_seconds();
		if (take)
			finder_rules(s->finder, TAKE(take));
	}
	if (code == 0)
		code = thread_start(&s->thread, "sampler", sampler_loop, s, e);
	if (code) {
		job_rules_free(take);
		sampler_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

pthread_t sampler_thread(const struct sampler *s)
{
	return s->thread;
}

void sampler_stop(struct sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	sampler_wake(s);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	sampler_free(s);
}
