/* Makes an OpenAPI 3.1 description (https://spec.openapis.org/oas/v3.1.0) from the tables of the
 * routes: parameters, bodies, answers, errors. Any thread. */
#ifndef EXPORTER_API_OPENAPI_H
#define EXPORTER_API_OPENAPI_H

#include <jansson.h>

#include "exporter/api/route.h"

/* Returns a description without routes. The caller calls json_decref. */
json_t *openapi_new(void);

/* Adds the description of a route. `path` is the path at which the route is served, which may
 * differ from route->path. If `path` contains {name}, the parameter `name` is described as a part
 * of the path. `method` is "get" or "post". */
void openapi_add(json_t *document, const char *method, const char *path, const struct route *route);

#endif
