#include "exporter/import/table.h"

#include <errno.h>
#include <math.h>

/* Reads a field in double quotes and writes its text to `out`. Two quotes inside the field mean one
 * quote. Returns false when the closing quote is missing. */
static bool read_quoted(struct scan *s, struct buf *out)
{
	for (s->at++; s->at < s->end; s->at++) {
		if (*s->at != '"') {
			buf_addc(out, *s->at);
			continue;
		}
		s->at++;
		if (s->at == s->end || *s->at != '"')
			return true;
		buf_addc(out, '"');
	}
	return false;
}

/* Splits a line into fields and writes their texts to `out`. The maximum size of `out` must be at
 * least the length of the line: growing later would move the texts to which `field` points. Returns
 * the number of fields; TABLE_COLUMNS_MAX + 1 = too many, 0 = a closing quote is missing. */
static size_t split(const struct text_table *t, struct slice line, struct slice *field,
	struct buf *out)
{
	struct scan s = scan_slice(line);
	size_t n = 0;

	buf_reset(out);
	buf_expect(out, line.len + 1);
	do {
		size_t begin = out->len;

		if (n == TABLE_COLUMNS_MAX)
			return n + 1;
		if (t->quoted && s.at < s.end && *s.at == '"' && !read_quoted(&s, out))
			return 0;
		while (s.at < s.end && *s.at != t->separator)
			buf_addc(out, *s.at++);
		field[n++] = slice_trim((struct slice){
			out->data ? out->data + begin : "", out->len - begin});
	} while (s.at++ < s.end);
	return n;
}

int table_begin(struct text_table *t, FILE *in, char separator, bool quoted, struct err *e)
{
	struct slice line;

	*t = (struct text_table){.lines = TEXT_LINES(in),
		.separator = separator,
		.quoted = quoted,
		.names = BUF_MAX(TEXT_LINE_MAX),
		.fields = BUF_MAX(TEXT_LINE_MAX)};
	int code = text_lines_next(&t->lines, &line, e);

	if (code < 0)
		return code;
	t->n = code ? split(t, line, t->name, &t->names) : 0;
	if (t->n == 0)
		return err_set(e, -EINVAL, "the line with the names of the columns is missing");
	if (t->n > TABLE_COLUMNS_MAX)
		return err_set(e, -EINVAL, "accepted are up to %d columns", TABLE_COLUMNS_MAX);
	return 0;
}

int table_next(struct text_table *t, struct err *e)
{
	struct slice line;
	int code;

	do
		code = text_lines_next(&t->lines, &line, e);
	while (code > 0 && line.len == 0);
	if (code <= 0)
		return code;
	size_t n = split(t, line, t->field, &t->fields);

	if (n != t->n)
		return err_set(e, -EINVAL, "accepted are %zu fields, as the first line has", t->n);
	return 1;
}

static size_t column_of(const struct text_table *t, const char *column)
{
	size_t i = 0;

	while (i < t->n && !slice_is(t->name[i], column))
		i++;
	return i;
}

bool table_has(const struct text_table *t, const char *column)
{
	return column_of(t, column) < t->n;
}

struct slice table_field(const struct text_table *t, const char *column)
{
	size_t i = column_of(t, column);

	return i < t->n ? t->field[i] : (struct slice){"", 0};
}

void table_done(struct text_table *t)
{
	text_lines_done(&t->lines);
	buf_done(&t->names);
	buf_done(&t->fields);
}

int table_read_rows(struct text_table *t, const struct import_input *in, table_reader *read,
	void *context, struct err *e)
{
	int code;

	do {
		struct err why = {0};

		code = table_next(t, &why);
		if (code > 0) {
			code = read(context, t, in, &why);
			code = code == 0 ? 1 : code;
		}
		if (code == -EINVAL) {
			in->sink.wrong(in->sink.context, t->lines.number, why.text);
			code = 1;
		} else if (code < 0) {
			err_set(e, code, "%s", why.text);
		}
	} while (code > 0);
	return code;
}

int table_needs(const struct text_table *t, const char *const *columns, struct err *e)
{
	for (; *columns; columns++)
		if (!table_has(t, *columns))
			return err_set(e, -EINVAL, "the first line lacks the column %s", *columns);
	return 0;
}

double table_number(const struct text_table *t, const char *column)
{
	struct scan s = scan_slice(table_field(t, column));
	double v;

	return scan_double(&s, &v) && scan_end(&s) ? v : (double)NAN;
}
