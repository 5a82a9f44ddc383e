/* Fills a history as if an exporter had watched one job for DAYS days: one run a day, and a sample
 * every few seconds. The limits are enforced after each day, and samples are thinned after a week.
 * The numbers are invented, and the same each time.
 *
 * Usage: bench_history FILE DAYS SECONDS-BETWEEN-SAMPLES [END, seconds since 1970 UTC]
 *
 * To serve the history afterwards, pass the present time as END. With the default END an exporter
 * may delete the samples as too old. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/history/history.h"

#define DAY       86400.0
#define END       1795250000.0 /* end of the last day */
#define BATCH     1000
#define KEEP_FULL (7 * DAY)

struct filling {
	struct history *h;
	struct columns columns;
	double days, interval, end;
	uint64_t random;
	double *value; /* the present value of each column */
};

static double random_share(struct filling *f)
{
	f->random = f->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(f->random >> 11) / 0x1p53;
}

/* Bytes and counts are whole numbers. Seconds are rounded to microseconds. */
static double next_value(struct filling *f, size_t column)
{
	const struct metric *m = f->columns.metric[column];
	bool seconds = m->unit && strcmp(m->unit, "seconds") == 0;
	bool bytes = m->unit && strcmp(m->unit, "bytes") == 0;
	double *v = &f->value[column], scale = seconds ? 1 : bytes ? 1e8 : 100;

	if (m->fold == FOLD_DELTA)
		*v = scale * random_share(f) * f->interval;
	else if (m->fold == FOLD_PEAK)
		*v = fmax(*v, scale * (1 + random_share(f)));
	else
		*v = scale * (1 + 0.1 * random_share(f));
	return seconds ? round(*v * 1e6) / 1e6 : floor(*v);
}

static int write_samples(struct filling *f, const char *run_id, double start, struct err *e)
{
	AUTO(freep) double *value = xcalloc(BATCH * f->columns.n, sizeof *value);
	AUTO(freep) struct sample *sample = xcalloc(BATCH, sizeof *sample);
	size_t total = (size_t)(DAY / f->interval);
	int code = 0;

	for (size_t done = 0; done < total && code == 0;) {
		size_t n = total - done < BATCH ? total - done : BATCH;

		for (size_t i = 0; i < n; i++) {
			sample[i] =
				(struct sample){.at = start + (double)(done + i + 1) * f->interval,
					.duration = f->interval,
					.value = value + i * f->columns.n};
			memcpy(sample[i].run_id, run_id, strlen(run_id) + 1);
			for (size_t c = 0; c < f->columns.n; c++)
				sample[i].value[c] = next_value(f, c);
		}
		code = history_samples(f->h, sample, n, e);
		done += n;
	}
	return code;
}

static int write_day(struct filling *f, double day, struct err *e)
{
	double start = f->end - (f->days - day) * DAY;
	char run_id[RUN_ID_MAX];
	int code = history_transaction(f->h, e);

	snprintf(run_id, sizeof run_id, "day-%04.0f", day);
	memset(f->value, 0, f->columns.n * sizeof *f->value);
	struct run_begin begin = {.run_id = run_id,
		.job_name = "etl/load",
		.host = "bench",
		.started_at = start,
		.interval_seconds = f->interval,
		.requested_cpu_cores = 2,
		.requested_memory_bytes = 4e8,
		.memory_limit_bytes = NAN,
		.input_bytes = 1e9 * (1 + random_share(f)),
		.attempt = NAN};
	struct run_finish finish = {.run_id = run_id,
		.ended_at = start + DAY,
		.duration_seconds = DAY,
		.outcome = OUTCOME_SUCCEEDED,
		.exit_code = 0,
		.exit_signal = NAN,
		.cpu_source = "proc",
		.memory_source = "vmhwm",
		RUN_FINISH_UNKNOWN};

	if (code == 0)
		code = history_run_begin(f->h, &begin, e);
	if (code == 0)
		code = write_samples(f, run_id, start, e);
	if (code == 0)
		code = history_run_finish(f->h, &finish, e);
	return history_end(f->h, code, e);
}

static int fill(struct filling *f, struct err *e)
{
	const struct history_limits limits = {
		.max_bytes = (uint64_t)1 << 40, .full_rate_seconds = KEEP_FULL};
	int code = 0;

	for (double day = 0; day < f->days && code == 0; day++) {
		code = write_day(f, day, e);
		while (code == 0 &&
			history_prune(f->h, &limits, f->end - (f->days - day - 1) * DAY, e) > 0)
			;
	}
	return code;
}

static bool number(const char *text, double *ret)
{
	struct scan s = SCAN(text, strlen(text));

	return scan_double(&s, ret) && scan_end(&s) && *ret > 0;
}

int main(int argc, char **argv)
{
	struct filling f = {.random = 1, .end = END};
	struct err e = {0};

	if (argc < 4 || argc > 5 || !number(argv[2], &f.days) || !number(argv[3], &f.interval) ||
		(argc == 5 && !number(argv[4], &f.end))) {
		fprintf(stderr, "usage: bench_history FILE DAYS SECONDS-BETWEEN-SAMPLES [END]\n");
		return EXIT_FAILURE;
	}
	columns_build(&f.columns);
	f.value = xcalloc(f.columns.n, sizeof *f.value);
	int code = history_open(&f.h, argv[1], HISTORY_WRITE, &f.columns, NULL, &e);

	if (code == 0) {
		code = fill(&f, &e);
		history_close(f.h);
	}
	if (code)
		fprintf(stderr, "bench_history: %s\n", e.text);
	free(f.value);
	columns_done(&f.columns);
	return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
