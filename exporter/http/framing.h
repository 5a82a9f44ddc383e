/*
 * Where a request ends, whom it is for and who asks, by its headers: whether everybody reads them alike. A proxy before us that
 * reads them otherwise takes what is a body to us for the next request of somebody else, or the reverse.
 */
#ifndef EXPORTER_HTTP_FRAMING_H
#define EXPORTER_HTTP_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMING_SINGLE 7 /* headers that may be there once */

struct framing { /* zeroed, then one header after the other */
	unsigned times[FRAMING_SINGLE];
	bool odd;
};

/* value may be NULL: a name without a colon. */
void framing_add(struct framing *f, const char *name, const char *value);

/* target, version: the request line's, as they came. host: the header, NULL when there is none. */
bool framing_is_ambiguous(const struct framing *f, const char *target, const char *version,
	const char *host);

/* What Content-Length says; 0 = nothing, or NULL. */
uint64_t framing_length(const char *content_length);

#endif
