/* The part of a report that a browser shows without JavaScript. */
#ifndef EXPORTER_SITE_REPORT_STILL_H
#define EXPORTER_SITE_REPORT_STILL_H

#include <jansson.h>

#include "collectors/base/buf.h"

/* Adds as HTML: the recommendation with a line to paste into a job, the warnings, how much of the
 * request was used, and the charts of the run. `series` and `advice` are the answers of /series and
 * /recommend; NULL = there is none. `as_of` is the time of the report in seconds since 1970 UTC.
 * Times are shown in UTC. */
void report_still_add(struct buf *out, double as_of, const json_t *series, const json_t *advice);

#endif
