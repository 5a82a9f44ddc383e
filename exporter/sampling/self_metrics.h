/* Metrics about the exporter itself: build information, process_*, HTTP requests, the history. This
 * collector is not in the folder collectors/, because it reads the program's state. Its metrics are
 * written after those of all_collectors. */
#ifndef EXPORTER_SAMPLING_SELF_METRICS_H
#define EXPORTER_SAMPLING_SELF_METRICS_H

#include <stdint.h>

#include "collectors/collector.h"

struct historian;

extern const struct collector collector_self;

/* All members must outlive the collector. */
struct self_sources {
	struct historian *historian;    /* NULL = no metrics of the history */
	const uint64_t *samples_missed; /* only the sampler thread writes and reads it */
	const char *external_url,
		*grafana_url; /* URLs of this exporter and of Grafana; NULL = unknown */
};

/* Sets the sources of some metrics: of those about the history, and of the two with URLs. These
 * metrics are absent before this call. `state` is the state that collector_self.start returned. */
void self_metrics_watch(void *state, const struct self_sources *sources);

#endif
