/* A text that grows up to `max` bytes. An addition that would exceed this maximum is dropped as a
 * whole, and sets `full`. `full` then stays true, so it is enough to check it after the last
 * addition. `data` is NULL until the first addition, but buf_text never returns NULL. */
#ifndef COLLECTORS_BASE_BUF_H
#define COLLECTORS_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;
	size_t len, room, max;
	bool full;
};

#define BUF_MAX(most) ((struct buf){.max = (most)})

/* Allocates room for `len` more bytes at once, which is faster than many small allocations. Does
 * nothing if `len` is 0 (size unknown) or not below b->max. */
void buf_expect(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_u64(struct buf *b, uint64_t v);

/* Writes the shortest decimal that reads back as the same value. NaN, +Inf and -Inf are spelled as
 * in Prometheus. */
void buf_add_double(struct buf *b, double v);

const char *
buf_text(const struct buf *b); /* ends in NUL, "" if empty; valid until the next addition */
char *buf_take(struct buf *b); /* the caller frees the text; `b` is then empty */
void buf_reset(struct buf *b); /* empties the text, keeps the memory */
void buf_done(struct buf *b);

/* Buffer size that double_text needs, including the NUL. */
#define DOUBLE_TEXT_MAX 32
size_t double_text(char out[DOUBLE_TEXT_MAX], double v);

#endif
