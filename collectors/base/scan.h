/* Parsers for text from outside. Each parser reads at a cursor, and moves the cursor only if it
 * succeeds. Calls can therefore be chained with &&. No parser reads at or past `end`, so a text
 * needs no NUL and may contain NULs. */
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

/* Returns a cursor over the whole slice. NULL becomes "", because C17 forbids arithmetic on NULL,
 * even adding 0. */
static inline struct scan scan_slice(struct slice s)
{
	const char *at = s.data ? s.data : "";

	return (struct scan){at, at + s.len};
}

#define SCAN(text, n) ((struct scan){(text), (text) + (n)})

bool scan_end(const struct scan *s);                    /* true at the end of the text */
bool scan_char(struct scan *s, char c);                 /* reads exactly c */
bool scan_literal(struct scan *s, const char *literal); /* reads exactly this text */
void scan_blanks(struct scan *s);                       /* skips spaces and tabs, if any */
bool scan_u64(struct scan *s, uint64_t *ret);           /* blanks, then digits; false on overflow */
bool scan_i64(struct scan *s, int64_t *ret);            /* blanks, optional minus, digits */
bool scan_double(struct scan *s, double *ret);          /* blanks, then a finite decimal number */
bool scan_word(struct scan *s,
	struct slice *ret); /* skips blanks; reads to a blank or newline; false if empty */
bool scan_until(struct scan *s, char stop,
	struct slice *ret); /* reads to `stop`, which is skipped; may be empty */
bool scan_piece(struct scan *s, char stop,
	struct slice *ret); /* reads to `stop` or to the end; false at the end */
bool scan_line(struct scan *s,
	struct scan *ret); /* reads a line without its newline; false at the end */

/* Returns the first line, without blanks at its ends. */
struct slice scan_first_line(struct scan text);
/* Finds the next line that begins with `start`. `ret` is the rest of that line. */
bool scan_line_of(struct scan *s, const char *start, struct scan *ret);

/* Returns the text from the cursor to the end. */
static inline struct slice scan_rest(const struct scan *s)
{
	return (struct slice){s->at, (size_t)(s->end - s->at)};
}

bool slice_is(struct slice s, const char *text);
bool slice_equal(struct slice a, struct slice b);
bool slice_starts(struct slice s, const char *prefix);
/* Returns the text without spaces, tabs and ends of lines at both its ends. */
struct slice slice_trim(struct slice s);
/* Both functions cut the text to `size` bytes, including the NUL that they add. */
void slice_copy(struct slice s, char *out, size_t size);
void text_copy(const char *text, char *out, size_t size);

#endif
