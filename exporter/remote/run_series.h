/* The time series in which a Prometheus-compatible store contains the ended runs. Each number of a
 * run is one sample of a series rightsize_run_NAME, at the time when the run ended. An unknown
 * number has no sample. The labels of a series are those of the job, the container and the outcome.
 * They never contain the run's id, pod or host, because runs would then not share series, and each
 * series takes about 2 kB of the store's memory.
 *
 * The store gets only the numbers from which recommendations are made (recommender/sizing,
 * recommender/servers), and texts that are the same for most runs of a job. To keep the number of
 * series small, it does not get a run's other labels, its host and zone, and statistics that only
 * /stats shows. */
#ifndef EXPORTER_REMOTE_RUN_SERIES_H
#define EXPORTER_REMOTE_RUN_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "recommender/kept_statistics.h"
#include "recommender/run.h"

#define RUN_SERIES_PREFIX "rightsize_run_"

/* A series for one number of a run: a member of struct run, or a statistic of a column. */
struct run_series {
	const char *name;         /* name of the series without RUN_SERIES_PREFIX */
	size_t offset;            /* offset of the member of struct run; used if `column` is NULL */
	bool is_count;            /* true = the member is a uint64_t, else a double */
	const char *column;       /* column of run.stats; NULL = the number is a member */
	enum statistic statistic; /* statistic of the column */
	const char *help;
};
extern const struct run_series run_series[]; /* elements with a `column` are sorted by it */
extern const size_t run_series_n;

/* Each run has a sample in this series, so it is used to count runs. */
#define RUN_SERIES_OF_ALL "duration_seconds"

/* A series whose value is the count of the run's numbers that were sent to the store, with that of
 * RUN_SERIES_CHECK. A reader that finds fewer numbers reads the run again later. */
#define RUN_SERIES_NUMBERS "numbers"

/* The value of this series is the sum of run_check_term of the run's other numbers. A store may mix
 * the numbers of two runs that were written at one time, and a reader recognises that by the sum,
 * which then differs by more than RUN_CHECK_SLACK times its value. A store may cut a number off
 * after 12 digits, which makes a smaller difference. */
#define RUN_SERIES_CHECK "check"
#define RUN_CHECK_SLACK  1e-10
double run_check_term(double number);

/* The texts of a run are labels of the series rightsize_run_info, whose value is 1. */
#define RUN_SERIES_INFO "info"
struct run_text {
	const char *label;
	/* offset of the text, a const char *, in struct run; the architecture is an enum instead */
	size_t offset;
};
extern const struct run_text run_texts[]; /* sorted by label */
extern const size_t run_texts_n;

/* The label with the name of the run's container. A run has this label if the system that ran it
 * has named the container. In the store, all series of the run have the label. A name has up to
 * RUN_CONTAINER_MAX - 1 bytes, as in Kubernetes. A longer text, such as the id of a container,
 * counts as no name. */
#define RUN_CONTAINER     "container"
#define RUN_CONTAINER_MAX 64
/* Returns the name of the container from the JSON text `labels`; NULL = the run has no labels. An
 * empty name = there is none. Any thread. */
struct slice run_container(const char *labels);

/* Maximum sizes of the arrays run_series and run_texts. */
#define RUN_SERIES_MAX 80
#define RUN_TEXTS_MAX  16

/* The numbers and texts of a run, in the order of run_series and run_texts. NaN and NULL =
 * unknown. */
struct run_values {
	double number[RUN_SERIES_MAX];
	const char *text[RUN_TEXTS_MAX];
};

/* Reads the values of a run. The texts in `ret` belong to the run, or are constants. Any thread. */
void run_values_of(const struct run *r, struct run_values *ret);

/* The reverse of run_values_of: makes a run from its values. Members of `ret` that run_series and
 * run_texts do not contain become unknown (NaN). The texts of `v` must live as long as `ret`. */
void run_values_set(const struct run_values *v, struct run *ret, struct arena *arena);

#endif
