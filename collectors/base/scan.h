/*
 * Cursor parsers for text from outside. Each moves the cursor on success only, so calls chain with
 * && and a failure leaves the cursor in place. Nothing is read at or past end: texts need no NUL and
 * may contain NULs.
 */
#ifndef COLLECTORS_BASE_SCAN_H
#define COLLECTORS_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
	const char *at, *end;
};

/* A borrowed piece of text, not NUL-terminated. */
struct slice {
	const char *data;
	size_t len;
};

/* A cursor over the whole slice. NULL becomes "": C17 has no arithmetic on NULL, not even adding 0. */
static inline struct scan scan_slice(struct slice s)
{
	const char *at = s.data ? s.data : "";

	return (struct scan){at, at + s.len};
}

#define SCAN(text, n) ((struct scan){(text), (text) + (n)})

bool scan_end(const struct scan *s);                    /* nothing left */
bool scan_char(struct scan *s, char c);                 /* exactly c */
bool scan_literal(struct scan *s, const char *literal); /* exactly these bytes */
void scan_blanks(struct scan *s);                       /* skips spaces and tabs, maybe none */
bool scan_u64(struct scan *s, uint64_t *ret);           /* blanks, digits; false on overflow */
bool scan_i64(struct scan *s, int64_t *ret);            /* the same with an optional minus */
bool scan_double(struct scan *s, double *ret);          /* blanks, decimal number; finite only */
bool scan_word(struct scan *s,
	struct slice *ret); /* blanks, then up to a blank or newline; not empty */
bool scan_until(struct scan *s, char stop,
	struct slice *ret); /* up to stop, which is consumed; may be empty */
bool scan_piece(struct scan *s, char stop,
	struct slice *ret); /* the same, or up to the end; false at the end */
bool scan_line(struct scan *s,
	struct scan *ret); /* next line without its newline; false at the end */

/* The first line without the blanks around it. */
struct slice scan_first_line(struct scan text);
/* Finds the next line that begins with start; ret: the rest of that line. */
bool scan_line_of(struct scan *s, const char *start, struct scan *ret);

/* The text from the cursor to the end. */
static inline struct slice scan_rest(const struct scan *s)
{
	return (struct slice){s->at, (size_t)(s->end - s->at)};
}

bool slice_is(struct slice s, const char *text);
bool slice_equal(struct slice a, struct slice b);
bool slice_starts(struct slice s, const char *prefix);
/* Both cut the text to size and add a NUL. */
void slice_copy(struct slice s, char *out, size_t size);
void text_copy(const char *text, char *out, size_t size);

#endif
