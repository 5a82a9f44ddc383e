/* Fills a history with forwarded runs, as a central exporter gets them: RUNS runs of JOBS jobs, each
 * like the run in MESSAGE (the body of POST /runs), with other numbers. Prints the bytes of the file
 * per run, and the runs added in a second. The numbers are invented, and the same each time.
 *
 * Usage: bench_runs FILE JOBS RUNS MESSAGE [END, seconds since 1970 UTC] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/forward/run_message.h"
#include "exporter/history/history.h"
#include "recommender/kept_statistics.h"

#define BATCH      256
#define DAYS       30.0
#define DAY        86400.0
#define NAMESPACES 50

struct filling {
	struct history *h;
	uint64_t jobs, runs;
	double end;
	uint64_t random;
	struct run like;
};

static double random_share(struct filling *f)
{
	f->random = f->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(f->random >> 11) / 0x1p53;
}

/* Whole numbers stay whole, and whole pages stay whole pages. */
static double varied(double v, double factor)
{
	if (v != floor(v))
		return v * factor;
	return fmod(v, 4096) == 0 ? floor(v * factor / 4096) * 4096 : floor(v * factor);
}

static void vary(struct filling *f, struct run *r, struct column_stats *stats, double job_factor)
{
	r->stats = stats;
	for (size_t i = 0; i < r->n_stats; i++) {
		double factor = job_factor * (0.9 + 0.2 * random_share(f));

		stats[i] = f->like.stats[i];
		for (unsigned s = STATISTIC_SUM; s < STATISTIC_COUNT; s++) {
			double v = statistic_get(&f->like.stats[i].d, s);

			statistic_set(&stats[i].d, s, varied(v, factor));
		}
	}
}

static int add(struct filling *f, uint64_t i, struct err *e)
{
	AUTO(freep) struct column_stats *stats = xcalloc(f->like.n_stats, sizeof *stats);
	struct run r = f->like;
	uint64_t job = (uint64_t)(random_share(f) * (double)f->jobs);
	char run_id[64], name[64], host[64], system_run[64], labels[128];

	snprintf(name, sizeof name, "team-%02llu/job-%05llu", (unsigned long long)job % NAMESPACES,
		(unsigned long long)job);
	r.ended_at = f->end - DAYS * DAY * (double)(f->runs - i) / (double)f->runs;
	r.duration_seconds = 60 + 600 * random_share(f);
	r.started_at = r.ended_at - r.duration_seconds;
	snprintf(run_id, sizeof run_id, "20261126T%06llu-%08llx", (unsigned long long)i % 1000000,
		(unsigned long long)f->random >> 32);
	snprintf(host, sizeof host, "node-%llu.example",
		(unsigned long long)(f->random >> 40) % 500);
	snprintf(system_run, sizeof system_run, "job-%05llu-%llx", (unsigned long long)job,
		(unsigned long long)f->random >> 44);
	snprintf(labels, sizeof labels, "{\"namespace\": \"team-%02llu\", \"container\": \"main\"}",
		(unsigned long long)job % NAMESPACES);
	r.run_id = run_id;
	r.job_name = name;
	r.host = host;
	r.system_run = system_run;
	r.labels = labels;
	r.outcome = random_share(f) < 0.03 ? OUTCOME_FAILED : OUTCOME_SUCCEEDED;
	r.exit_code = r.outcome == OUTCOME_FAILED;
	vary(f, &r, stats, 0.5 + (double)(job % 100) / 20);
	return history_run_add(f->h, &r, e);
}

static int fill(struct filling *f, struct err *e)
{
	int code = 0;

	for (uint64_t i = 0; i < f->runs && code >= 0;) {
		code = history_transaction(f->h, e);
		for (unsigned k = 0; k < BATCH && i < f->runs && code >= 0; k++)
			code = add(f, i++, e);
		code = history_end(f->h, code, e);
	}
	return code < 0 ? code : 0;
}

static bool read_message(struct run *ret, const char *path, struct arena *arena)
{
	static char text[RUN_MESSAGE_MAX];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof text, file) : 0;
	struct err e = {0};

	if (file)
		fclose(file);
	if (run_message_read(ret, text, n, arena, &e) == 0)
		return true;
	fprintf(stderr, "%s: %s\n", path, e.text);
	return false;
}

static bool read_count(const char *text, uint64_t *ret)
{
	struct scan s = SCAN(text, strlen(text));

	return scan_u64(&s, ret) && scan_end(&s) && *ret > 0;
}

static bool read_number(const char *text, double *ret)
{
	struct scan s = SCAN(text, strlen(text));

	return scan_double(&s, ret) && scan_end(&s);
}

int main(int argc, char **argv)
{
	AUTO(arena_done) struct arena arena = {0};
	struct filling f = {.random = 1, .end = wall_seconds(now_read().wall)};
	struct columns columns = {0};
	struct err e = {0};
	struct stat st;

	if (argc < 5 || argc > 6 || !read_count(argv[2], &f.jobs) ||
		!read_count(argv[3], &f.runs) || (argc == 6 && !read_number(argv[5], &f.end))) {
		fprintf(stderr, "Usage: bench_runs FILE JOBS RUNS MESSAGE [END]\n");
		return 2;
	}
	history_setup();
	if (!read_message(&f.like, argv[4], &arena))
		return 2;
	int code = history_open(&f.h, argv[1], HISTORY_WRITE, &columns, NULL, &e);
	struct mono begun = now_read().mono;

	if (code == 0)
		code = fill(&f, &e);
	double took = mono_seconds_between(begun, now_read().mono);

	history_close(f.h);
	if (code || stat(argv[1], &st)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	printf("%llu runs of %llu jobs: %.0f bytes a run, %.0f runs a second\n",
		(unsigned long long)f.runs, (unsigned long long)f.jobs,
		(double)st.st_size / (double)f.runs, (double)f.runs / took);
	return 0;
}
