/*
 * Growing text with a cap. When the cap would be passed, the whole piece is dropped and full stays
 * true: check it once, at the end. data is NULL until something was added; buf_text never is.
 */
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

/* Allocates room for about len more bytes at once; 0 = unknown. */
void buf_expect(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_u64(struct buf *b, uint64_t v);

/* The shortest decimal that reads back equal; NaN, +Inf and -Inf as Prometheus spells them. */
void buf_add_double(struct buf *b, double v);

const char *
buf_text(const struct buf *b); /* NUL-terminated, "" when empty; valid until the next add */
char *buf_take(struct buf *b); /* the text, now the caller's to free; b is empty again */
void buf_reset(struct buf *b); /* empty, room kept */
void buf_done(struct buf *b);

/* Room that double_text needs, with its NUL. */
#define DOUBLE_TEXT_MAX 32
size_t double_text(char out[DOUBLE_TEXT_MAX], double v);

#endif
