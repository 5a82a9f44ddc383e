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

/* What an Accept header asks for, and the Content-Type to answer with. */
struct negotiated {
	enum exposition_format format;
	char content_type[128];
};

/*
 * accept may be NULL. q-values and order decide; unknown parameters are ignored; no match = text
 * 0.0.4. Never fails, whatever the bytes.
 */
struct negotiated negotiate(const char *accept);

/* accept_encoding may be NULL: true when gzip may be sent (q > 0, also by "*"). */
bool negotiate_gzip(const char *accept_encoding);

/* Which families to write; NULL or empty lists mean all. */
struct exposition_filter {
	size_t n_collect, n_exclude, n_name;
	const char *const *collect, *const *exclude; /* collector names */
	const char *const *name;                     /* family or sample names */
};

/* What differs between the types of metrics; by enum metric_type. */
struct exposition_words {
	const char *suffix;             /* of the samples */
	const char *text, *openmetrics; /* words of the TYPE line */
};
extern const struct exposition_words exposition_words[];

/*
 * Of every collector: how its last reading went. Written here, from the blocks, not by a collector.
 */
enum { HEALTH_SUCCESS, HEALTH_DURATION, HEALTH_N_METRICS };
extern const struct metric exposition_health[HEALTH_N_METRICS];

/*
 * What is the same in each answer of a format, most of it words of HELP: made when it is first needed, and copied from
 * then on. Zeroed = nothing yet. One format, one thread at a time.
 */
struct exposition_heads {
	struct buf text;
	struct exposition_head *head; /* of each metric of each block, then of exposition_health */
	size_t n_blocks;
	const struct collector **collector; /* of each block */
};
void exposition_heads_done(struct exposition_heads *h); /* for AUTO(exposition_heads_done) */

/*
 * The families of the snapshot in the order of its blocks, then exposition_health. filter may be NULL. heads are those of
 * earlier calls for this format; of other collectors they are made anew.
 */
void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads);

#endif
