/*
 * What the other exporter says of a run that is handed on to it. Any thread.
 */
#ifndef EXPORTER_FORWARD_ANSWER_H
#define EXPORTER_FORWARD_ANSWER_H

#include <stdbool.h>

#include "exporter/client/download.h"

/*
 * Does an exporter refuse the run for good? Only what it says itself counts, its JSON error bad_body or too_large: any
 * proxy, load balancer or HTTPS port in between answers 400 or 413, too, and is mended some day.
 */
bool forward_is_refusal(const struct answer *a);

/* Does an exporter say that it has the run? Whatever else listens there may answer 200. */
bool forward_is_accepted(const struct answer *a, const char *run_id);

/* The beginning of the body, for the log; cuts it off there. */
const char *forward_answer_text(struct answer *a);

#endif
