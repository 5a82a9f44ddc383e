/* Splits the target of an HTTP request ("/stats?job_name=a%2Fb&runs=5", RFC 9112, 3.2) in place.
 * The target may consist of any bytes. The results are valid UTF-8 without NUL. */
#ifndef EXPORTER_API_REQUEST_TARGET_H
#define EXPORTER_API_REQUEST_TARGET_H

#include "collectors/base/err.h"

struct request_target {
	char *path;  /* decoded; may be "" */
	char *query; /* encoded, for request_target_next; may be "" */
};

/* Splits `raw` in place. `ret` points into `raw`. Returns -EINVAL for a wrong percent-encoding, and
 * for a path that is not UTF-8. */
int request_target_split(char *raw, struct request_target *ret, struct err *e);

/* Decodes the next name and value of t->query. A name without "=" has the value "". Returns 1 when
 * there was a pair, 0 at the end of the query, and -EINVAL when the pair is not valid. */
int request_target_next(struct request_target *t, char **name, char **value, struct err *e);

#endif
