/* Charts of a run as SVG, which needs neither JavaScript nor style attributes. */
#ifndef EXPORTER_SITE_REPORT_CHARTS_H
#define EXPORTER_SITE_REPORT_CHARTS_H

#include <jansson.h>

#include "collectors/base/buf.h"

/* Adds a section of HTML with the id "charts". `series` is the answer of /series. `advice` is the
 * answer of /recommend, or NULL. Adds nothing if there are fewer than two samples, or if all have
 * the same time. Charts without values are left out. */
void report_charts_add(struct buf *out, const json_t *series, const json_t *advice);

#endif
