/* Sends runs to another exporter: as JSON to URL/runs (exporter/forward/run_message.h). The receiver
 * recognises a run by its id. A receiver of an older version takes one run at a time. */
#ifndef EXPORTER_FORWARD_TO_EXPORTER_H
#define EXPORTER_FORWARD_TO_EXPORTER_H

#include "exporter/forward/forwarder.h"

extern const struct forward_protocol to_exporter;

/* ---- the receiver's answer to one run; any thread ---- */

/* Returns true when the receiver refuses the run for good. The answer must then contain the JSON
 * error bad_body (status 400) or too_large (status 413). The status alone is not enough. A proxy, a
 * load balancer or an HTTPS port may answer 400 or 413, too, but a retry succeeds after the
 * configuration was repaired. */
bool forward_is_refusal(const struct http_response *a);

/* Returns true when the answer contains the id of the run. The status alone is not enough, because
 * any server may answer 200. */
bool forward_is_accepted(const struct http_response *a, const char *run_id);

#endif
