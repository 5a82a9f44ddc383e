/* Bodies of HTTP responses, and a cache of the bodies of /metrics. A body is immutable and shared
 * by all connections that send it. It is freed when its last reference is dropped. The cache stores
 * one body for each format, made from the newest snapshot, and its compressed copy. Concurrent
 * scrapes thus render and compress a snapshot only once. Any thread. */
#ifndef EXPORTER_SITE_RENDERED_CACHE_H
#define EXPORTER_SITE_RENDERED_CACHE_H

#include "collectors/base/latest.h"
#include "exporter/site/exposition.h"

#define RENDERED_BODY_MAX (64u << 20) /* bytes of the largest rendered body */
#define COMPRESS_MIN      4096        /* bytes; compression of smaller bodies does not pay */

struct response_body {
	struct shared shared; /* release with shared_drop */
	size_t len;
	char *data;
	bool gzip;
	uint64_t generation; /* generation of the snapshot; 0 = no snapshot */
};

/* Moves the text of `take` into a new body and leaves `take` empty. */
struct response_body *response_body_new(struct buf *take);

/* Returns the size of all bodies that now exist in the program, in bytes. */
size_t rendered_cache_bytes(void);

/* Returns a copy of the body, compressed with gzip level 1. Returns NULL when the body is smaller
 * than COMPRESS_MIN or too large. */
struct response_body *response_body_gzip(const struct response_body *b);

struct rendered_cache;
struct rendered_cache *rendered_cache_new(void);
void rendered_cache_free(struct rendered_cache *s);

/* Returns the snapshot as text in this format, or a newer snapshot that another thread rendered
 * during the call. NULL = the text is larger than RENDERED_BODY_MAX. The caller owns one reference
 * to the body. The body is compressed if `gzip` is set and the text has at least COMPRESS_MIN
 * bytes. `filter` NULL = all families; a body with a filter is not cached. */
struct response_body *rendered_cache_body(struct rendered_cache *s, const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip);

#endif
