/* The description of all routes and pages as OpenAPI 3.1. */
#ifndef EXPORTER_SITE_DESCRIPTION_H
#define EXPORTER_SITE_DESCRIPTION_H

#include "exporter/core/json.h"

struct site_page; /* exporter/site/site_state.h */

/* Describes the routes, the changes and `pages`, which ends with `about` NULL. `metrics_path`: where the
 * metrics are (--web.telemetry-path). The caller calls json_decref. */
json_t *description_of(const struct site_page *pages, const char *metrics_path);

#endif
