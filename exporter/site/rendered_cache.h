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
#define SCRAPE_BODY_MAX (64u << 20)
#define COMPRESS_MIN    4096

struct body {
	struct shared shared; /* let go with shared_drop */
	size_t len;
	char *data;
	bool gzip;
	uint64_t generation; /* of the snapshot it was made from; 0 = none */
};

/* A body that owns the text, which is empty afterwards. */
struct body *body_new(struct buf *take);

/* Of all bodies that there are. */
size_t bodies_bytes(void);

/* The same body compressed (gzip, level 1); NULL when it is too small. */
struct body *body_gzip(const struct body *b);

struct scrape;
struct scrape *scrape_new(void);
void scrape_free(struct scrape *s);

/*
 * The snapshot as text, held for the caller; compressed when gzip and worth it. With a filter it
 * is made for this call alone. When another thread rendered a newer snapshot meanwhile, that one.
 * NULL: larger than SCRAPE_BODY_MAX.
 */
struct body *scrape_body(struct scrape *s, const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip);

#endif
