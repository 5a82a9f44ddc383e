/* The columns of a sample in the history: every metric that is stored. */
#ifndef EXPORTER_CORE_COLUMNS_H
#define EXPORTER_CORE_COLUMNS_H

#include <stddef.h>

#include "collectors/metric.h"

/* The list has the same order as the values in struct sample.value. It is built once at the
 * start. */
struct columns {
	size_t n;
	const struct metric **metric;
};
void columns_build(struct columns *ret); /* run_metrics first, then all_collectors in order */
void columns_done(struct columns *c);

#endif
