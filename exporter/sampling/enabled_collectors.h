/*
 * The collectors that are switched on and that work on this machine: started once, read once per
 * tick. Sampler thread, except enabled_collectors_start.
 */
#ifndef EXPORTER_SAMPLING_ENABLED_COLLECTORS_H
#define EXPORTER_SAMPLING_ENABLED_COLLECTORS_H

#include "collectors/collector.h"
#include "exporter/options/options.h"
#include "exporter/sampling/self_metrics.h"

struct enabled_collectors;

/* The exporter's own, always on; NULL-terminated. */
extern const struct collector *const enabled_collectors_own[];

/* Leaves out collectors that cannot start. The log says why, unless the code is -ENOENT. */
struct enabled_collectors *enabled_collectors_start(const struct options *o, struct host *host);

void enabled_collectors_watch(struct enabled_collectors *a, const struct self_sources *sources);
void enabled_collectors_stop(struct enabled_collectors *a); /* NULL does nothing */

/* The blocks of a snapshot: all_collectors, then enabled_collectors_own; NULL-terminated. */
const struct collector *const *enabled_collectors_list(const struct enabled_collectors *a);

/*
 * Reads every active collector into its block of s. The log reports a failing collector at most now
 * and then. kept_only: reads only values that the history keeps, and skips collectors without any.
 */
void enabled_collectors_read(struct enabled_collectors *a, const struct host *host,
	struct snapshot *s, bool kept_only);

#endif
