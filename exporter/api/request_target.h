/*
 * A request target ("/stats?job_name=a%2Fb&runs=5", RFC 9112, 3.2) taken apart, in place. Any
 * bytes may come; the results are valid UTF-8 without NUL.
 */
#ifndef EXPORTER_API_REQUEST_TARGET_H
#define EXPORTER_API_REQUEST_TARGET_H

#include "collectors/base/err.h"

struct request_target {
	char *path;  /* decoded; "" when there is none */
	char *query; /* still encoded, for request_target_next; "" when there is none */
};

/* raw is edited, and ret points into it. -EINVAL: bad percent-encoding or no UTF-8 in the path. */
int request_target_split(char *raw, struct request_target *ret, struct err *e);

/*
 * Returns the next decoded name and value of the query; a name without "=" has the value "".
 * Returns 1, 0 at the end, or -EINVAL.
 */
int request_target_next(struct request_target *t, char **name, char **value, struct err *e);

#endif
