/* Sends runs to another exporter: as JSON to URL/runs (exporter/forward/run_message.h). The
 * receiver recognises a run by its id. A receiver with an older version of this program accepts
 * only one run in a request. */
#ifndef EXPORTER_FORWARD_TO_EXPORTER_H
#define EXPORTER_FORWARD_TO_EXPORTER_H

#include "exporter/forward/forwarder.h"

extern const struct forward_protocol to_exporter;

/* ---- the receiver's answer to one run; any thread ---- */

/* Returns true when the receiver will never take the run: its answer contains the JSON error
 * bad_body (status 400) or too_large (status 413). The status alone is not enough, because a
 * wrongly configured proxy, load balancer or HTTPS port may also answer 400 or 413. In that case a
 * retry may succeed. */
bool forward_is_refusal(const struct http_response *a);

/* Returns true when the answer contains the id of the run. The status alone is not enough, because
 * any server may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

#endif
