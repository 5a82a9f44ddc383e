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

/* Chooses the format by an Accept header. `accept` is untrusted; NULL = no such header. The element
 * with the highest q-value wins, and among equal q-values the first element. Unknown parameters are
 * ignored. The default is text format 0.0.4. */
struct negotiated negotiate(const char *accept);

/* Returns true when the client accepts gzip (q > 0, also by "*"). `accept_encoding` may be NULL. */
bool negotiate_gzip(const char *accept_encoding);

/* Selects the metric families to write. An empty list does not exclude any family. */
struct exposition_filter {
	size_t n_collect, n_exclude, n_name;
	const char *const *collect, *const *exclude; /* collector names */
	const char *const *name;                     /* family or sample names */
};

/* The words of the formats for a metric type. */
struct exposition_words {
	const char *suffix;             /* end of the sample names */
	const char *text, *openmetrics; /* word in the TYPE line */
};
extern const struct exposition_words exposition_words[];

/* Metrics about each collector: whether its last reading succeeded, and how long the reading took.
 * They are made from the blocks of a snapshot. */
enum { HEALTH_SUCCESS, HEALTH_DURATION, HEALTH_N_METRICS };
extern const struct metric exposition_health[HEALTH_N_METRICS];

/* Cache of the constant texts of one format: HELP lines, TYPE lines, and starts of sample lines.
 * Each text is made at its first use. A struct of zeros is an empty cache. Only one thread at a
 * time may use a cache. */
struct exposition_heads {
	struct buf text;
	struct exposition_head *head; /* one per metric, in the order of exposition_write */
	size_t n_blocks;
	const struct collector **collector; /* one per block */
};
void exposition_heads_done(struct exposition_heads *h); /* for AUTO(exposition_heads_done) */

/* Writes the metric families of the snapshot in the order of its blocks, then those of
 * exposition_health. `filter` NULL = all families. `heads` caches texts between calls; use one
 * cache for each format. The cache is rebuilt if the snapshot has other collectors than that of the
 * last call. */
void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads);

#endif
