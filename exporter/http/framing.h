/*
 * Detects requests whose end, host or client is ambiguous. A proxy may read the headers differently
 * and take a part of the body for the next request of another client (request smuggling).
 */
#ifndef EXPORTER_HTTP_FRAMING_H
#define EXPORTER_HTTP_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMING_SINGLE 7 /* headers that may occur once at most */

struct framing { /* starts zeroed; then framing_add each header */
	unsigned times[FRAMING_SINGLE];
	bool odd;
};

/* value NULL: a name without a colon. */
void framing_add(struct framing *f, const char *name, const char *value);

/* target, version: undecoded, of the request line. host: the Host header; NULL: absent. */
bool framing_is_ambiguous(const struct framing *f, const char *target, const char *version,
	const char *host);

/* In bytes; 0: NULL or no number. */
uint64_t framing_length(const char *content_length);

#endif
