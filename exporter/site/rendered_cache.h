/*
 * Bodies to send: immutable, shared by all connections that send them, gone when the last one
 * has. And the cache that lets concurrent scrapes of one snapshot share one rendered,
 * once-compressed body per format. Any thread.
 */
#ifndef EXPORTER_SITE_RENDERED_CACHE_H
#define EXPORTER_SITE_RENDERED_CACHE_H

#include "collectors/base/latest.h"
#include "exporter/site/exposition.h"

/*
 * Largest rendered body; a smaller one than COMPRESS_MIN is never compressed: it would cost more
 * than it saves.
 */
#define RENDERED_BODY_MAX (64u << 20)
#define COMPRESS_MIN      4096

struct response_body {
	struct shared shared; /* let go with shared_drop */
	size_t len;
	char *data;
	bool gzip;
	uint64_t generation; /* of the snapshot it was made from; 0 = none */
};

/* A body that owns the text, which is empty afterwards. */
struct response_body *response_body_new(struct buf *take);

/* Of all bodies that there are. */
size_t rendered_cache_bytes(void);

/* The same body compressed (gzip, level 1); NULL when it is too small. */
struct response_body *response_body_gzip(const struct response_body *b);

struct rendered_cache;
struct rendered_cache *rendered_cache_new(void);
void rendered_cache_free(struct rendered_cache *s);

/*
 * The snapshot as text, held for the caller; compressed when gzip and worth it. With a filter it
 * is made for this call alone. When another thread rendered a newer snapshot meanwhile, that one.
 * NULL: larger than RENDERED_BODY_MAX.
 */
struct response_body *rendered_cache_body(struct rendered_cache *s, const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip);

#endif
