/*
 * The collectors that are switched on and that this machine has something for: started once, read once per tick.
 * Used by the sampler thread, but for enabled_collectors_start.
 */
#ifndef EXPORTER_SAMPLING_ENABLED_COLLECTORS_H
#define EXPORTER_SAMPLING_ENABLED_COLLECTORS_H

#include "collectors/collector.h"
#include "exporter/options/options.h"
#include "exporter/sampling/self_metrics.h"

struct enabled_collectors;

/* The exporter's own, always on; NULL-terminated. */
extern const struct collector *const enabled_collectors_own[];

/* What cannot start is left out; the log says why, unless the machine just has no such thing. */
struct enabled_collectors *enabled_collectors_start(const struct options *o, struct host *host);

/* What collector_self reports on beside the process. */
void enabled_collectors_watch(struct enabled_collectors *a, const struct self_sources *sources);
void enabled_collectors_stop(struct enabled_collectors *a); /* NULL does nothing */

/* all_collectors, then those of the exporter itself, NULL-terminated: the blocks of a snapshot, whether active or not. */
const struct collector *const *enabled_collectors_list(const struct enabled_collectors *a);

/*
 * Reads every active collector into its block of s. One that fails is complained about, and backed off. kept_only: only
 * what the history keeps is wanted, and collectors of which it keeps nothing are left alone.
 */
void enabled_collectors_read(struct enabled_collectors *a, const struct host *host,
	struct snapshot *s, bool kept_only);

#endif
