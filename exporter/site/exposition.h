/*
 * A snapshot as text for Prometheus: text format 0.0.4, 1.0.0 and OpenMetrics 1.0.0.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and the OpenMetrics specification.
 */
#ifndef EXPORTER_SITE_EXPOSITION_H
#define EXPORTER_SITE_EXPOSITION_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/snapshot.h"

enum exposition_format {
	EXPOSITION_TEXT_0_0_4,
	EXPOSITION_TEXT_1_0_0,
	EXPOSITION_OPENMETRICS_1_0_0,
	EXPOSITION_OPENMETRICS_0_0_1,
	EXPOSITION_FORMATS,
};

/* The format chosen from an Accept header, and its Content-Type. */
struct negotiated {
	enum exposition_format format;
	char content_type[128];
};

/*
 * accept: any bytes, or NULL. The highest q-value wins, then the first element. Ignores unknown
 * parameters. No match: text 0.0.4.
 */
struct negotiated negotiate(const char *accept);

/* True when gzip may be sent (q > 0, also by "*"). accept_encoding may be NULL. */
bool negotiate_gzip(const char *accept_encoding);

/* Which families to write; NULL or empty lists mean all. */
struct exposition_filter {
	size_t n_collect, n_exclude, n_name;
	const char *const *collect, *const *exclude; /* collector names */
	const char *const *name;                     /* family or sample names */
};

/* Words of each enum metric_type. */
struct exposition_words {
	const char *suffix;             /* ends the names of samples */
	const char *text, *openmetrics; /* words of the TYPE line */
};
extern const struct exposition_words exposition_words[];

/* Metrics about the last reading of each collector, made from the blocks of a snapshot. */
enum { HEALTH_SUCCESS, HEALTH_DURATION, HEALTH_N_METRICS };
extern const struct metric exposition_health[HEALTH_N_METRICS];

/*
 * Cache of the constant text of one format (HELP, TYPE, beginnings of samples), made when first
 * needed. Start with zeroes. One thread at a time.
 */
struct exposition_heads {
	struct buf text;
	struct exposition_head *head; /* one a metric, as in blocks; then exposition_health */
	size_t n_blocks;
	const struct collector **collector; /* one a block */
};
void exposition_heads_done(struct exposition_heads *h); /* for AUTO(exposition_heads_done) */

/*
 * Writes the families of the snapshot in the order of its blocks, then exposition_health. filter
 * may be NULL. heads: from earlier calls with this format; made again when the collectors differ.
 */
void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads);

#endif
