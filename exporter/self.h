/*
 * The exporter's own metrics: build information, process_*, HTTP requests. A collector like any
 * other, but it stands here because it knows the program; the sampler puts it after all_collectors.
 */
#ifndef EXPORTER_SELF_H
#define EXPORTER_SELF_H

#include "collectors/collector.h"

extern const struct collector collector_self;

#endif
