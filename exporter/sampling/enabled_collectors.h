/* The collectors that are switched on and work on this machine. They are started once, and read at
 * each tick of the sampler. Call enabled_collectors_start before the sampler thread starts, and all
 * other functions on the sampler thread. */
#ifndef EXPORTER_SAMPLING_ENABLED_COLLECTORS_H
#define EXPORTER_SAMPLING_ENABLED_COLLECTORS_H

#include "collectors/collector.h"
#include "exporter/options/options.h"
#include "exporter/sampling/self_metrics.h"

struct enabled_collectors;

/* The collectors of the exporter itself, which are always on; NULL-terminated. */
extern const struct collector *const enabled_collectors_own[];

/* Starts the collectors. A collector that cannot start is left out. This is logged, except for the
 * error -ENOENT, which means that the machine has nothing that the collector could measure. */
struct enabled_collectors *enabled_collectors_start(const struct options *o, struct host *host);

void enabled_collectors_watch(struct enabled_collectors *a, const struct self_sources *sources);
void enabled_collectors_stop(struct enabled_collectors *a); /* NULL does nothing */

/* Returns all collectors as a NULL-terminated list: first all_collectors, then
 * enabled_collectors_own. The blocks of a snapshot have the same order. */
const struct collector *const *enabled_collectors_list(const struct enabled_collectors *a);

/* Reads every active collector into its block of `s`. If a collector fails again and again, only
 * some of the failures are logged. `kept_only`: true = read only values that the history stores,
 * and skip collectors without such values. */
void enabled_collectors_read(struct enabled_collectors *a, const struct host *host,
	struct snapshot *s, bool kept_only);

#endif
