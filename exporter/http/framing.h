/* Detects requests whose end, host or client is ambiguous. A proxy may read the headers differently
 * and treat a part of the body as the next request of another client (request smuggling). */
#ifndef EXPORTER_HTTP_FRAMING_H
#define EXPORTER_HTTP_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMING_SINGLE 7 /* number of headers that may occur only once */

struct framing { /* all zero at first; then call framing_add for each header */
	unsigned times[FRAMING_SINGLE];
	bool odd;
};

/* Counts one header. `value` is NULL for a name without a colon. */
void framing_add(struct framing *f, const char *name, const char *value);

/* Returns true when the request is ambiguous. `target` and `version` are the undecoded parts of the
 * request line. `host` is the Host header; NULL = absent. */
bool framing_is_ambiguous(const struct framing *f, const char *target, const char *version,
	const char *host);

/* Returns the length in bytes; 0 = `content_length` is NULL or not a number. */
uint64_t framing_length(const char *content_length);

#endif
