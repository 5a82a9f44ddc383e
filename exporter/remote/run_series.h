/* Which series of a Prometheus-compatible store carry an ended run. Each number is one sample of the
 * series rightsize_run_NAME, at the end of the run. The labels of a series are those of the job and
 * the outcome, never the run's id, pod or host: each further series takes about 2 kB of the store's
 * memory. A number that is unknown has no sample.
 *
 * The series carry the numbers from which recommendations are made (recommender/sizing,
 * recommender/servers), and the texts that few runs of a job differ in. They carry no more, so that a
 * job has few series: not the labels of another system, the host, the zone, and statistics that only
 * /stats shows. */
#ifndef EXPORTER_REMOTE_RUN_SERIES_H
#define EXPORTER_REMOTE_RUN_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/mem.h"
#include "recommender/kept_statistics.h"
#include "recommender/run.h"

#define RUN_SERIES_PREFIX "rightsize_run_"

/* A series with a number. */
struct run_series {
	const char *name;         /* without RUN_SERIES_PREFIX */
	size_t offset;            /* of the member of struct run, where `column` is NULL */
	bool is_count;            /* true = the member is a uint64_t, else a double */
	const char *column;       /* of run.stats */
	enum statistic statistic; /* of the column */
	const char *help;
};
extern const struct run_series run_series[]; /* columns are sorted by column */
extern const size_t run_series_n;

/* The series with this number is in the store for each run. */
#define RUN_SERIES_OF_ALL "duration_seconds"

/* Tells how many numbers of the run are in the store. A reader that finds fewer waits for the others. */
#define RUN_SERIES_NUMBERS "numbers"

/* The texts of a run are labels of the series rightsize_run_info, whose value is 1. */
#define RUN_SERIES_INFO "info"
struct run_text {
	const char *label;
	size_t offset; /* of a const char * in struct run; architecture: see run_text_get */
};
extern const struct run_text run_texts[]; /* sorted by label */
extern const size_t run_texts_n;

/* Largest number of rows of the two tables. */
#define RUN_SERIES_MAX 80
#define RUN_TEXTS_MAX  16

/* The numbers and texts of a run in the order of the tables. NaN and NULL = unknown. */
struct run_values {
	double number[RUN_SERIES_MAX];
	const char *text[RUN_TEXTS_MAX];
};

/* The texts of `ret` are those of the run, or constants. Any thread. */
void run_values_of(const struct run *r, struct run_values *ret);

/* Fills the members of `ret` that the tables name, and the counts of its columns. Its other numbers become
 * NaN. The texts of `v` must live as long as `ret`. */
void run_values_set(const struct run_values *v, struct run *ret, struct arena *arena);

#endif
