/* Detects ambiguous requests: their headers do not tell clearly where the request ends, which host
 * it is for, or which client sent it. A proxy in front of this server may read such headers
 * differently. It may treat a part of the body as the next request of another client (request
 * smuggling). */
#ifndef EXPORTER_HTTP_FRAMING_H
#define EXPORTER_HTTP_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMING_SINGLE 7 /* number of headers that may occur only once */

struct framing { /* set all members to 0, then call framing_add for each header */
	unsigned times[FRAMING_SINGLE];
	bool odd;
};

/* Adds one header of the request. `value` is NULL if the header line has no colon. */
void framing_add(struct framing *f, const char *name, const char *value);

/* Returns true when the request is ambiguous. `target` and `version` are parts of the request line,
 * before decoding. `host` is the Host header; NULL = there is none. */
bool framing_is_ambiguous(const struct framing *f, const char *target, const char *version,
	const char *host);

/* Returns the length in bytes; 0 = `content_length` is NULL or not a number. */
uint64_t framing_length(const char *content_length);

#endif
