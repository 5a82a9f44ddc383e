#include "exporter/site/rendered_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <zlib.h>

#include "collectors/base/mem.h"

/* The buffer for a new body is larger than the previous body by 1/ROOM_PART, so that it seldom has
 * to grow. */
#define ROOM_PART 16
/* Maximum number of unused bytes in the buffer of a stored body. */
#define ROOM_MOST 65536

struct rendered_cache {
	pthread_mutex_t lock; /* guards `formats`; also locked while a body is rendered */
	struct {
		struct response_body *plain, *gzip;
		struct exposition_heads heads;
	} formats[EXPOSITION_FORMATS];
};

static atomic_size_t bytes_of_all;

size_t rendered_cache_bytes(void)
{
	return atomic_load(&bytes_of_all);
}

static void body_release(struct shared *shared)
{
	struct response_body *b = (struct response_body *)(void *)shared;

	atomic_fetch_sub(&bytes_of_all, b->len);
	free(b->data);
	free(b);
}

static void body_drop(struct response_body *b)
{
	if (b)
		shared_drop(&b->shared);
}

struct response_body *response_body_new(struct buf *take)
{
	struct response_body *b = xcalloc(1, sizeof *b);

	shared_init(&b->shared, body_release);
	b->len = take->len;
	/* Shrink the buffer: it may be twice as large as its text, and the body may live long. */
	if (take->room - take->len > ROOM_MOST)
		take->data = xrealloc(take->data, take->len + 1);
	b->data = buf_take(take);
	atomic_fetch_add(&bytes_of_all, b->len);
	return b;
}

struct response_body *response_body_gzip(const struct response_body *b)
{
	/* For deflateInit2, 31 means the largest window (15) and a gzip header (+ 16). */
	z_stream z = {0};

	if (b->len < COMPRESS_MIN || b->len > RENDERED_BODY_MAX ||
		deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	uLong room = deflateBound(&z, b->len);
	char *out = xmalloc(room);

	z.next_in = (Bytef *)b->data;
	z.avail_in = (uInt)b->len;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)room;
	int done = deflate(&z, Z_FINISH);
	size_t len = z.total_out;

	deflateEnd(&z);
	if (done != Z_STREAM_END) {
		free(out);
		return NULL;
	}
	struct response_body *ret = xcalloc(1, sizeof *ret);

	shared_init(&ret->shared, body_release);
	ret->data = xrealloc(out, len);
	ret->len = len;
	atomic_fetch_add(&bytes_of_all, len);
	ret->gzip = true;
	ret->generation = b->generation;
	return ret;
}

struct rendered_cache *rendered_cache_new(void)
{
	struct rendered_cache *s = xcalloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void rendered_cache_free(struct rendered_cache *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < EXPOSITION_FORMATS; i++) {
		body_drop(s->formats[i].plain);
		body_drop(s->formats[i].gzip);
		exposition_heads_done(&s->formats[i].heads);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct response_body *render(const struct snapshot *snapshot, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads, size_t expected)
{
	struct buf text AUTO(buf_done) = BUF_MAX(RENDERED_BODY_MAX);

	buf_expect(&text, expected);
	exposition_write(&text, snapshot, format, filter, heads);
	if (text.full)
		return NULL;
	struct response_body *b = response_body_new(&text);

	b->generation = snapshot->generation;
	return b;
}

static struct response_body *filtered(const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip)
{
	struct exposition_heads heads AUTO(exposition_heads_done) = {0};
	struct response_body *plain = render(snapshot, format, filter, &heads, 0);
	struct response_body *small = plain && gzip ? response_body_gzip(plain) : NULL;

	if (!small)
		return plain;
	body_drop(plain);
	return small;
}

struct response_body *rendered_cache_body(struct rendered_cache *s, const struct snapshot *snapshot,
	enum exposition_format format, const struct exposition_filter *filter, bool gzip)
{
	if (filter)
		return filtered(snapshot, format, filter, gzip);
	pthread_mutex_lock(&s->lock);
	struct response_body **plain = &s->formats[format].plain,
			     **small = &s->formats[format].gzip;

	if (!*plain || (*plain)->generation < snapshot->generation) {
		size_t expected = *plain ? (*plain)->len + (*plain)->len / ROOM_PART : 0;

		body_drop(*plain);
		body_drop(*small);
		*small = NULL;
		*plain = render(snapshot, format, NULL, &s->formats[format].heads, expected);
	}
	if (gzip && *plain && !*small)
		*small = response_body_gzip(*plain);
	struct response_body *b = gzip && *small ? *small : *plain;

	if (b)
		shared_hold(&b->shared);
	pthread_mutex_unlock(&s->lock);
	return b;
}
