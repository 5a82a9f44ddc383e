#include "exporter/core/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/core/memory_budget.h"

#define EXACT_INTEGERS    9007199254740992.0 /* 2^53: whole numbers up to here are exact */
#define WALL_SECONDS_MOST 9.2e9              /* the year 2261: the range of struct wall */
#define INDENT            2

/* Aborts when `v` is NULL. jansson returns NULL only when malloc fails, and this program aborts
 * after any failed malloc (collectors/base/mem.h). */
static json_t *checked(json_t *v)
{
	if (!v)
		abort();
	return v;
}

json_t *json_num(double v)
{
	if (!isfinite(v))
		return checked(json_null());
	if (fabs(v) <= EXACT_INTEGERS && v == trunc(v))
		return checked(json_integer((json_int_t)v));
	return checked(json_real(v));
}

#define EXACT_POWERS 22 /* 10^22 is the largest power of ten that a double holds exactly */

static double rounded(double v, int digits, int decimals)
{
	int needed = v != 0 && isfinite(v) ? digits - 1 - (int)floor(log10(fabs(v))) : 0;
	double scale = pow(10, needed > decimals ? needed : decimals);
	double scaled = round(v * scale);

	if (needed > EXACT_POWERS || !(fabs(scaled) <= EXACT_INTEGERS))
		return v;
	return scaled / scale;
}

json_t *json_bytes(double v)
{
	return json_num(rounded(v, 0, 0));
}

json_t *json_seconds(double v)
{
	return json_num(rounded(v, 4, 3));
}

json_t *json_cores(double v)
{
	return json_num(rounded(v, 3, 3));
}

json_t *json_money(double v)
{
	return json_num(rounded(v, 6, 0));
}

json_t *json_ratio(double v)
{
	return json_num(rounded(v, 4, 0));
}

json_t *json_by_key(const char *key, double v)
{
	static const struct {
		const char *word;
		json_t *(*number)(double v);
	} units[] = {{"bytes", json_bytes}, {"seconds", json_seconds}, {"cores", json_cores}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strstr(key, units[i].word))
			return units[i].number(v);
	return json_ratio(v);
}

json_t *json_text(const char *s)
{
	if (!s)
		return checked(json_null());
	size_t len = strlen(s);

	if (utf8_valid(s, len))
		return checked(json_stringn(s, len));
	size_t room = 3 * len + 16;
	AUTO(freep) char *clean = xmalloc(room);

	return checked(json_stringn(clean, utf8_clean(s, len, clean, room)));
}

json_t *json_time(double unix_seconds)
{
	char text[WALL_TEXT_MAX];

	if (!(fabs(unix_seconds) < WALL_SECONDS_MOST))
		return checked(json_null());
	/* wall_text drops the digits after the milliseconds. Round before that: otherwise a double
	 * just below .123 would be written as .122. */
	wall_text(text, (struct wall){llround(unix_seconds * 1000) * (NS_PER_S / 1000)});
	return json_text(text);
}

double json_number(const json_t *v)
{
	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

double json_number_of(const json_t *object, const char *key)
{
	return json_number(json_object_get(object, key));
}

bool json_whole_is_in_range(json_int_t v, double least, double most)
{
	double d = (double)v;

	if (!(d >= least && d <= most))
		return false;
	/* 2^63 is the smallest double that is too large for json_int_t. */
	return d >= 0x1p63 || d < most || most >= 0x1p63 || v <= (json_int_t)most;
}

bool json_is_in_range(const json_t *v, double least, double most)
{
	double d = json_number_value(v);

	if (json_is_integer(v))
		return json_whole_is_in_range(json_integer_value(v), least, most);
	return json_is_real(v) && d >= least && d <= most;
}

void json_put(json_t *object, const char *key, json_t *take)
{
	if (json_object_set_new(object, key, take) != 0)
		abort();
}

void json_put_job(json_t *object, const char *key)
{
	if (!key) {
		json_put(object, "job_name", json_null());
		return;
	}
	struct job_parts p = job_key_parts(key);

	json_put(object, "job_name", json_text(p.name));
	if (*p.space)
		json_put(object, "namespace", json_text(p.space));
	if (*p.cluster)
		json_put(object, "cluster", json_text(p.cluster));
}

/* A JSON document in memory is ten times as large as its text, and arrays take most of this memory.
 * json_push therefore checks the memory budget at every PUSHES_BETWEEN-th element. When the budget
 * is exceeded, json_push drops elements. exporter/site/site.c then sends an error instead of the
 * incomplete answer. */
#define PUSHES_BETWEEN 64

void json_push(json_t *array, json_t *take)
{
	static _Thread_local unsigned pushes;

	if (memory_budget_gave_up() ||
		(++pushes % PUSHES_BETWEEN == 0 && memory_budget_is_over())) {
		json_decref(take);
		return;
	}
	if (json_array_append_new(array, take) != 0)
		abort();
}

static void write_text(struct buf *out, const char *s, size_t len)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\') {
			buf_addc(out, '\\');
			buf_addc(out, s[i]);
		} else if (c < 0x20 || c == 0x7f) {
			buf_addf(out, "\\u%04x", c);
		} else {
			buf_addc(out, s[i]);
		}
	}
	buf_addc(out, '"');
}

static void write_scalar(struct buf *out, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_STRING:
		write_text(out, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		break;
	case JSON_REAL:
		buf_add_double(out, json_real_value(v));
		break;
	case JSON_TRUE:
		buf_adds(out, "true");
		break;
	case JSON_FALSE:
		buf_adds(out, "false");
		break;
	case JSON_NULL:
	case JSON_OBJECT:
	case JSON_ARRAY:
		buf_adds(out, "null");
		break;
	}
}

static void write_value(struct buf *out, const json_t *v, size_t indent, bool one_line);

static void new_line(struct buf *out, size_t indent)
{
	buf_addc(out, '\n');
	for (size_t i = 0; i < indent; i++)
		buf_addc(out, ' ');
}

/* Writes a member of an object. `key` NULL = an element of an array. */
static void write_member(struct buf *out, const char *key, const json_t *v, size_t indent,
	bool one_line)
{
	if (key) {
		write_text(out, key, strlen(key));
		buf_adds(out, ": ");
	}
	write_value(out, v, indent, one_line);
}

/* The line that is being filled: members are added to it while they fit. */
struct filled_line {
	size_t len;     /* length of the last line, bytes; SIZE_MAX = nothing may follow on it */
	size_t at_most; /* largest length of a line, bytes */
};

/* Writes one member of an object or array that needs several lines. A number or a text is added to
 * the last line if it fits; otherwise it begins a new line. A member that is an object or an array
 * always begins a new line. */
static void write_filled(struct buf *out, struct filled_line *line, const char *key,
	const json_t *v, size_t indent)
{
	struct buf member AUTO(buf_done) = BUF_MAX(JSON_LINE);
	bool scalar = !json_is_object(v) && !json_is_array(v);

	if (scalar)
		write_member(&member, key, v, indent, true);
	bool fits = scalar && !member.full && line->len <= line->at_most &&
		    line->len + strlen(", ,") + member.len <= line->at_most;

	if (fits) {
		buf_addc(out, ' ');
		buf_add(out, member.data, member.len);
		line->len += strlen(", ") + member.len;
		return;
	}
	new_line(out, indent);
	write_member(out, key, v, indent, false);
	line->len = scalar && !member.full ? indent + member.len : SIZE_MAX;
}

/* Writes the members of an object or an array. Stops when the buffer `out` is full. */
static void write_members(struct buf *out, const json_t *v, size_t indent, bool one_line)
{
	void *at = json_is_object(v) ? json_object_iter((json_t *)(uintptr_t)v) : NULL;
	size_t n = json_is_object(v) ? json_object_size(v) : json_array_size(v);
	struct filled_line line = {SIZE_MAX, JSON_LINE};

	for (size_t i = 0; i < n && !out->full; i++) {
		const char *key = at ? json_object_iter_key(at) : NULL;
		const json_t *member = at ? json_object_iter_value(at) : json_array_get(v, i);

		if (i)
			buf_adds(out, one_line ? ", " : ",");
		if (one_line)
			write_member(out, key, member, indent + INDENT, true);
		else
			write_filled(out, &line, key, member, indent + INDENT);
		at = at ? json_object_iter_next((json_t *)(uintptr_t)v, at) : NULL;
	}
}

static void write_container(struct buf *out, const json_t *v, size_t indent, bool one_line)
{
	buf_addc(out, json_is_object(v) ? '{' : '[');
	write_members(out, v, indent, one_line);
	if (!one_line)
		new_line(out, indent);
	buf_addc(out, json_is_object(v) ? '}' : ']');
}

static void write_value(struct buf *out, const json_t *v, size_t indent, bool one_line)
{
	if (!json_is_object(v) && !json_is_array(v)) {
		write_scalar(out, v);
		return;
	}
	if (one_line) {
		write_container(out, v, indent, true);
		return;
	}
	/* The key of `v` is on the same line, but its length is ignored. The line may therefore be
	 * a little longer than JSON_LINE. */
	struct buf line AUTO(buf_done) = BUF_MAX(indent < JSON_LINE ? JSON_LINE - indent : 0);

	write_container(&line, v, indent, true);
	if (line.full)
		write_container(out, v, indent, false);
	else
		buf_add(out, line.data, line.len);
}

void json_write(struct buf *out, const json_t *document)
{
	write_value(out, document, 0, false);
	buf_addc(out, '\n');
}
