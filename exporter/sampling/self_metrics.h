/*
 * The exporter's own metrics: build information, process_*, HTTP requests, the history. A collector
 * that lies here because it reads the program's state; the sampler puts it after all_collectors.
 */
#ifndef EXPORTER_SAMPLING_SELF_METRICS_H
#define EXPORTER_SAMPLING_SELF_METRICS_H

#include <stdint.h>

#include "collectors/collector.h"

struct historian;

extern const struct collector collector_self;

/* Both must outlive the collector. */
struct self_sources {
	struct historian *historian;    /* NULL: no metrics of the history */
	const uint64_t *samples_missed; /* written by the sampler thread, which collects */
};

/* state: from collector_self.start. Without this call there are no metrics of the history. */
void self_metrics_watch(void *state, const struct self_sources *sources);

#endif
