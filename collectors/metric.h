/*
 * The declaration of a number, one const row each. The row drives everything: HELP, TYPE and UNIT at
 * /metrics, the history column, the CSV header, the JSON keys, the manual, the README's table.
 *
 * Rules (tests/unit/test_tables.c walks all tables and refuses a row that breaks one):
 * - name: the whole family name, [a-z0-9_], ends in "_<unit>" when there is a unit, has no suffix
 *   _total, _info, _created, _bucket, _count or _sum: the writer adds _total and _info.
 * - unit: a base unit (seconds, bytes, ratio, cores, celsius, watts, joules, ...) or NULL for plain counts.
 * - help: one sentence without a full stop or newline, saying where the number comes from.
 * - labels: never job, instance, le or quantile, which Prometheus uses itself.
 */
#ifndef COLLECTORS_METRIC_H
#define COLLECTORS_METRIC_H

#include <stddef.h>

#define METRIC_LABELS_MAX 8

enum metric_type {
	METRIC_GAUGE,   /* may go up and down */
	METRIC_COUNTER, /* never falls while the exporter runs */
	METRIC_INFO,    /* value 1; the labels say it */
};

/* How a metric becomes a column of the history. A metric with several label sets is summed first. */
enum metric_fold {
	FOLD_NONE,  /* not kept */
	FOLD_VALUE, /* the value at the end of the interval */
	FOLD_DELTA, /* growth during the interval; unknown over a reset */
	FOLD_PEAK,  /* a high-water mark: the largest value so far */
};

struct metric {
	const char *name, *unit, *help;
	const char *labels[METRIC_LABELS_MAX]; /* names; NULL ends */
	enum metric_type type;
	enum metric_fold fold;
	const char *column; /* history column, unique over all tables; NULL with FOLD_NONE */
};

/*
 * One list makes the enum and the table, so they cannot disagree:
 *
 *	#define LOAD_METRICS(X) X(LOAD1, .name = "rightsize_load1", .help = "...")
 *	enum { LOAD_METRICS(METRIC_ID) };
 *	static const struct metric load_metrics[] = { LOAD_METRICS(METRIC_ROW) };
 */
#define METRIC_ID(id, ...)  id,
#define METRIC_ROW(id, ...) [id] = {__VA_ARGS__},

#endif
