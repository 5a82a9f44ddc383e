/* The description of all routes and pages as OpenAPI 3.1. */
#ifndef EXPORTER_SITE_DESCRIPTION_H
#define EXPORTER_SITE_DESCRIPTION_H

#include "exporter/core/json.h"

struct site_page; /* exporter/site/site_state.h */

/* Describes all routes, including those for changes, and all `pages`. The last element of `pages`
 * has `about` NULL. `metrics_path` is the path of the metrics (--web.telemetry-path). The caller
 * calls json_decref for the result. */
json_t *description_of(const struct site_page *pages, const char *metrics_path);

#endif
