/* Response bodies. A body is immutable and shared by all connections that send it. It is freed when
 * the last of these connections drops its reference. The cache stores one body per format for the
 * newest snapshot. Concurrent scrapes share this body, which is compressed only once. Any
 * thread. */
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

/* Returns the bytes of all bodies in the program. */
size_t rendered_cache_bytes(void);

/* Returns a copy compressed with gzip level 1. Returns NULL when the body is too small or too
 * large. */
struct response_body *response_body_gzip(const struct response_body *b);

struct rendered_cache;
struct rendered_cache *rendered_cache_new(void);
void rendered_cache_free(struct rendered_cache *s);

/* Renders the snapshot as text. Returns a reference to the body, which is compressed if `gzip` is
 * set and the text is large enough. A body with a filter is not cached. If another thread rendered
 * a newer snapshot meanwhile, returns the body of that snapshot. Returns NULL when the text is
 * larger than RENDERED_BODY_MAX. */
struct response_body *rendered_cache_body(struct rendered_cache *s, const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip);

#endif
