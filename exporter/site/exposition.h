/* Writes a snapshot as text for Prometheus: text format 0.0.4 and 1.0.0, OpenMetrics 1.0.0 and
 * 0.0.1. The formats are described in https://prometheus.io/docs/instrumenting/exposition_formats/
 * and in the OpenMetrics specification. */
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

/* The format chosen by an Accept header, and its Content-Type. */
struct negotiated {
	enum exposition_format format;
	char content_type[128];
};

/* Chooses the format. `accept` may be any bytes, or NULL. The element with the highest q-value
 * wins. Among equal q-values the first element wins. Unknown parameters are ignored. Text 0.0.4 is
 * the default. */
struct negotiated negotiate(const char *accept);

/* Returns true when the client accepts gzip (q > 0, also by "*"). `accept_encoding` may be NULL. */
bool negotiate_gzip(const char *accept_encoding);

/* The families to write; NULL or empty lists mean all families. */
struct exposition_filter {
	size_t n_collect, n_exclude, n_name;
	const char *const *collect, *const *exclude; /* collector names */
	const char *const *name;                     /* family or sample names */
};

/* Words for each enum metric_type. */
struct exposition_words {
	const char *suffix;             /* end of the sample names */
	const char *text, *openmetrics; /* word in the TYPE line */
};
extern const struct exposition_words exposition_words[];

/* Metrics about the last reading of each collector. They are made from the blocks of a snapshot. */
enum { HEALTH_SUCCESS, HEALTH_DURATION, HEALTH_N_METRICS };
extern const struct metric exposition_health[HEALTH_N_METRICS];

/* Cache of the constant text of one format (HELP, TYPE, starts of sample lines). Each text is
 * written on first use. Zeroed memory is an empty cache. One thread at a time. */
struct exposition_heads {
	struct buf text;
	struct exposition_head *head; /* one per metric, in the order of exposition_write */
	size_t n_blocks;
	const struct collector **collector; /* one per block */
};
void exposition_heads_done(struct exposition_heads *h); /* for AUTO(exposition_heads_done) */

/* Writes the families of the snapshot in the order of its blocks, then exposition_health. `filter`
 * may be NULL. `heads` caches text between calls with the same format. The cache is rebuilt when
 * the collectors of the snapshot are not those of the cache. */
void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads);

#endif
