/* A metric is declared by one row of a const table. HELP, TYPE and UNIT at /metrics, the history
 * column, the CSV header, the JSON keys, and the manual's table are made from the row.
 *
 * Rules (tests/unit/test_tables.c fails if a row of any table breaks a rule):
 * - name: the whole family name, of [a-z0-9_]. It ends in "_<unit>" if there is a unit. It does not
 *   end in _total, _info, _created, _bucket, _count or _sum, because the writer adds _total and
 *   _info.
 * - unit: a base unit (seconds, bytes, ratio, cores, celsius, watts, joules, ...), or NULL for
 *   counts.
 * - help: one sentence without a full stop or newline, with the source of the number.
 * - labels: never job, instance, le or quantile, because Prometheus sets these. */
#ifndef COLLECTORS_METRIC_H
#define COLLECTORS_METRIC_H

#include <stddef.h>

#define METRIC_LABELS_MAX 8

enum metric_type {
	METRIC_GAUGE,   /* may go up and down */
	METRIC_COUNTER, /* never falls while the exporter runs */
	METRIC_INFO,    /* the value is 1; the labels are the information */
};

/* How a metric becomes a column of the history, whose rows cover intervals of time. If the metric
 * has several sets of labels, their values are added up first. */
enum metric_fold {
	FOLD_NONE,  /* not a column of the history */
	FOLD_VALUE, /* the value at the end of the interval */
	FOLD_DELTA, /* growth during the interval; unknown if the counter restarted */
	FOLD_PEAK,  /* a high-water mark: the largest value so far */
};

struct metric {
	const char *name, *unit, *help;
	const char *labels[METRIC_LABELS_MAX]; /* names, ending with NULL */
	enum metric_type type;
	enum metric_fold fold;
	const char *column; /* history column, unique in all tables; NULL with FOLD_NONE */
};

/* The enum and the table are made from one list, so that they cannot differ:
 *
 * 	#define LOAD_METRICS(X) X(LOAD1, .name = "rightsize_load1", .help = "...")
 * 	enum { LOAD_METRICS(METRIC_ID) };
 * 	static const struct metric load_metrics[] = { LOAD_METRICS(METRIC_ROW) }; */
#define METRIC_ID(id, ...)  id,
#define METRIC_ROW(id, ...) [id] = {__VA_ARGS__},

#endif
