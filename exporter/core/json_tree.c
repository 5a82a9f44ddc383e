#include "exporter/core/json_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "exporter/core/json.h"

#define DEPTH_MAX 100
#define NEAR      24 /* an error shows at most this number of bytes of the text */

struct reader {
	struct scan at;
	struct arena *arena;
	/* members of all arrays and objects whose closing bracket was not read yet */
	struct json_node *open;
	size_t n, room;
	unsigned depth;
	const char *expected; /* what the text should have at `at`; NULL = no error yet */
};

static bool fail(struct reader *r, const char *expected)
{
	if (!r->expected)
		r->expected = expected;
	return false;
}

static void skip_space(struct reader *r)
{
	const char *at = r->at.at;

	while (at < r->at.end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	r->at.at = at;
}

static bool skip_char(struct reader *r, char c)
{
	skip_space(r);
	return scan_char(&r->at, c);
}

/* ---- numbers ---- */

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* Moves behind digits. Returns false when there are none. */
static bool skip_some_digits(struct scan *s)
{
	const char *first = s->at;

	s->at = skip_digits(s->at, s->end);
	return s->at > first;
}

/* Finds the end of a number. strtod cannot do this, because it accepts numbers that JSON forbids,
 * such as "0x1f" and ".5". */
static bool skip_number(struct scan *s, bool *ret_whole)
{
	scan_char(s, '-');
	if (!scan_char(s, '0') && !skip_some_digits(s))
		return false;
	*ret_whole = true;
	if (scan_char(s, '.')) {
		*ret_whole = false;
		if (!skip_some_digits(s))
			return false;
	}
	if (!scan_char(s, 'e') && !scan_char(s, 'E'))
		return true;
	*ret_whole = false;
	if (!scan_char(s, '+'))
		scan_char(s, '-');
	return skip_some_digits(s);
}

#define EXACT_DIGITS 15 /* a double holds all numbers of so many digits */

/* Reads a short number such as -12.5 faster than strtod: as 125 / 10. Both are exact doubles, so
 * the quotient is rounded like the result of strtod. Returns false for a number with many digits or
 * with an exponent. */
static bool read_short(struct scan s, double *ret)
{
	static const double power[] = {
		1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	bool minus = scan_char(&s, '-');
	size_t digits = 0, behind = 0;
	bool point = false;
	int64_t v = 0;

	for (; s.at < s.end; s.at++) {
		if (*s.at == '.') {
			point = true;
			continue;
		}
		if (*s.at < '0' || *s.at > '9' || ++digits > EXACT_DIGITS)
			return false;
		v = v * 10 + (*s.at - '0');
		behind += point;
	}
	*ret = (double)v / power[behind];
	if (minus)
		*ret = -*ret;
	return true;
}

static bool read_number(struct reader *r, struct json_node *ret)
{
	struct scan s = r->at, rest;
	bool whole;

	if (!skip_number(&s, &whole))
		return fail(r, "a value");
	rest = SCAN(r->at.at, (size_t)(s.at - r->at.at));
	r->at.at = s.at;
	ret->kind = NODE_WHOLE;
	if (whole && scan_i64(&rest, &ret->whole))
		return true;
	ret->kind = NODE_NUMBER;
	if (!read_short(rest, &ret->number))
		ret->number =
			strtod(arena_text(r->arena, rest.at, (size_t)(rest.end - rest.at)), NULL);
	return true;
}

/* ---- texts ---- */

static bool read_hex(struct scan *s, unsigned *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++, s->at++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = s->at < s->end && *s->at ? strchr(digits, *s->at | 0x20) : NULL;

		if (!digit || !*digit)
			return false;
		*ret = *ret * 16 + (unsigned)(digit - digits);
	}
	return true;
}

static bool is_high(unsigned c)
{
	return c >= 0xd800 && c < 0xdc00;
}

/* Reads the four digits after \u. If they are the first half of a surrogate pair ("\ud83d\ude00"),
 * also reads the second half. A half without the other becomes invalid UTF-8, which the readers of
 * messages refuse. */
static bool read_code(struct scan *s, unsigned *ret)
{
	struct scan t;
	unsigned low;

	if (!read_hex(s, ret))
		return false;
	t = *s;
	if (is_high(*ret) && scan_literal(&t, "\\u") && read_hex(&t, &low) && low >= 0xdc00 &&
		low < 0xe000) {
		*ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
		*s = t;
	}
	return true;
}

static char *add_code(char *out, unsigned c)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (unsigned i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(first[n] | c);
	return out + n;
}

/* Reads an escape sequence behind its backslash, and appends its character. The UTF-8 of the
 * character is never longer than the escape sequence. */
static bool add_escaped(struct scan *s, char **out)
{
	static const char escape[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	unsigned code;

	if (scan_char(s, 'u')) {
		if (!read_code(s, &code))
			return false;
		*out = add_code(*out, code);
		return true;
	}
	const char *found = s->at < s->end && *s->at ? strchr(escape, *s->at) : NULL;

	if (!found)
		return false;
	s->at++;
	*(*out)++ = meaning[found - escape];
	return true;
}

static bool unescape(struct reader *r, struct slice text, struct slice *ret)
{
	char *first = arena_alloc(r->arena, text.len + 1), *out = first;
	struct scan s = scan_slice(text);

	while (!scan_end(&s)) {
		if (!scan_char(&s, '\\'))
			*out++ = *s.at++;
		else if (!add_escaped(&s, &out))
			return fail(r, "a text with valid escapes");
	}
	*ret = (struct slice){first, (size_t)(out - first)};
	return true;
}

/* Reads a text behind its first quotation mark. */
static bool read_text(struct reader *r, struct slice *ret)
{
	const char *first = r->at.at, *at = first;
	bool escapes = false;

	for (; at < r->at.end && *at != '"' && (unsigned char)*at >= 0x20; at++)
		if (*at == '\\') {
			escapes = true;
			at += at + 1 < r->at.end;
		}
	if (at >= r->at.end || *at != '"')
		return fail(r, "a text without control characters, and its end,");
	*ret = (struct slice){first, (size_t)(at - first)};
	if (escapes && !unescape(r, *ret, ret))
		return false;
	r->at.at = at + 1;
	return true;
}

/* ---- arrays and objects ---- */

/* Shorter names come first, because lengths are compared faster than texts. */
static int compare_names(struct slice a, struct slice b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return memcmp(a.data, b.data, a.len);
}

static int by_name(const void *a, const void *b)
{
	return compare_names(((const struct json_node *)a)->name,
		((const struct json_node *)b)->name);
}

/* Ends a container: moves the members that were read since its bracket, r->open[first] and later
 * ones, into `v`. */
static void close_container(struct reader *r, size_t first, struct json_node *v)
{
	size_t n = r->n - first;
	struct json_node *child = arena_alloc(r->arena, n * sizeof *child);

	if (n)
		memcpy(child, &r->open[first], n * sizeof *child);
	r->n = first;
	v->child = child;
	v->n = n;
	if (v->kind == NODE_OBJECT && n)
		qsort(child, n, sizeof *child, by_name);
	for (size_t i = 0; i < n; i++) {
		if (child[i].twice)
			v->twice = child[i].twice;
		if (v->kind == NODE_OBJECT && i && by_name(&child[i - 1], &child[i]) == 0)
			v->twice = &child[i];
	}
}

static bool read_value(struct reader *r, struct json_node *ret);

static bool read_member(struct reader *r, bool named)
{
	struct json_node v = {0};

	if (named) {
		if (!skip_char(r, '"'))
			return fail(r, "a name in quotation marks");
		if (!read_text(r, &v.name))
			return false;
		if (!skip_char(r, ':'))
			return fail(r, "':'");
	}
	if (!read_value(r, &v))
		return false;
	GROW(r->open, r->n, r->room);
	r->open[r->n++] = v;
	return true;
}

/* Reads the rest of an array or an object. The opening bracket has been read. */
static bool read_container(struct reader *r, enum json_node_kind kind, struct json_node *ret)
{
	bool named = kind == NODE_OBJECT;
	char end = named ? '}' : ']';
	size_t first = r->n;

	if (++r->depth > DEPTH_MAX)
		return fail(r, "a value that is nested less deeply");
	if (!skip_char(r, end)) {
		do {
			if (!read_member(r, named))
				return false;
		} while (skip_char(r, ','));
		if (!skip_char(r, end))
			return fail(r, named ? "',' or '}'" : "',' or ']'");
	}
	r->depth--;
	ret->kind = kind;
	close_container(r, first, ret);
	return true;
}

static bool read_word(struct reader *r, struct json_node *ret)
{
	static const char *const words[] = {"null", "false", "true"};

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (scan_literal(&r->at, words[i])) {
			ret->kind = (enum json_node_kind)i;
			return true;
		}
	return fail(r, "a value");
}

static bool read_value(struct reader *r, struct json_node *ret)
{
	if (skip_char(r, '{'))
		return read_container(r, NODE_OBJECT, ret);
	if (scan_char(&r->at, '['))
		return read_container(r, NODE_ARRAY, ret);
	if (scan_char(&r->at, '"')) {
		ret->kind = NODE_TEXT;
		return read_text(r, &ret->text);
	}
	if (!scan_end(&r->at) && (*r->at.at == '-' || (*r->at.at >= '0' && *r->at.at <= '9')))
		return read_number(r, ret);
	return read_word(r, ret);
}

static bool read_document(struct reader *r, struct json_node *ret)
{
	skip_space(r);
	if (scan_end(&r->at) || (*r->at.at != '{' && *r->at.at != '['))
		return fail(r, "'[' or '{'");
	if (!read_value(r, ret))
		return false;
	skip_space(r);
	return scan_end(&r->at) || fail(r, "the end of the text");
}

int json_tree_read(struct json_node *ret, struct slice text, struct arena *arena, struct err *e)
{
	struct reader r = {.at = scan_slice(text), .arena = arena};
	struct json_node read = {0};
	char near[NEAR];
	bool valid = read_document(&r, &read);

	free(r.open);
	if (valid) {
		*ret = read;
		return 0;
	}
	if (scan_end(&r.at))
		return err_set(e, -EINVAL, "%s expected at the end", r.expected);
	struct slice rest = scan_rest(&r.at);

	utf8_clean_plain(rest.data, rest.len < NEAR / 2 ? rest.len : NEAR / 2, '?', near,
		sizeof near);
	return err_set(e, -EINVAL, "%s expected near '%s', byte %zu", r.expected, near,
		text.len - rest.len + 1);
}

/* ---- a tree ---- */

const struct json_node *json_node_find(const struct json_node *object, const char *name)
{
	const struct json_node wanted = {.name = {name, strlen(name)}};

	if (object->kind != NODE_OBJECT || object->n == 0)
		return NULL;
	return bsearch(&wanted, object->child, object->n, sizeof wanted, by_name);
}

bool json_node_is_number(const struct json_node *v)
{
	return v->kind == NODE_WHOLE || v->kind == NODE_NUMBER;
}

double json_node_number(const struct json_node *v)
{
	if (v->kind == NODE_WHOLE)
		return (double)v->whole;
	return v->kind == NODE_NUMBER ? v->number : (double)NAN;
}

bool json_node_is_in_range(const struct json_node *v, double least, double most)
{
	if (v->kind == NODE_WHOLE)
		return json_whole_is_in_range(v->whole, least, most);
	return v->kind == NODE_NUMBER && v->number >= least && v->number <= most;
}
