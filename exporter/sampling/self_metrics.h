/*
 * The exporter's own metrics: build information, process_*, HTTP requests, the history. A collector like any
 * other, but it stands here because it knows the program; the sampler puts it after all_collectors.
 */
#ifndef EXPORTER_SAMPLING_SELF_METRICS_H
#define EXPORTER_SAMPLING_SELF_METRICS_H

#include <stdint.h>

#include "collectors/collector.h"

struct historian;

extern const struct collector collector_self;

/* What it reports on beside the process; both must outlive the collector. */
struct self_sources {
	struct historian *historian;    /* NULL: nothing is said of the history */
	const uint64_t *samples_missed; /* of the thread that collects */
};

/* state is what collector_self.start made; without this call nothing is said of the history. */
void self_metrics_watch(void *state, const struct self_sources *sources);

#endif
