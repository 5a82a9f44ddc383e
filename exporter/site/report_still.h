/* The part of a report that needs no JavaScript. */
#ifndef EXPORTER_SITE_REPORT_STILL_H
#define EXPORTER_SITE_REPORT_STILL_H

#include <jansson.h>

#include "collectors/base/buf.h"

/* Adds the recommendation with its line to paste, the warnings, the used shares of the request and
 * the charts of the run as HTML. `series` and `advice` are answers of /series and /recommend; NULL
 * = there is none. `as_of` = seconds since 1970. Times are in UTC. */
void report_still_add(struct buf *out, double as_of, const json_t *series, const json_t *advice);

#endif
