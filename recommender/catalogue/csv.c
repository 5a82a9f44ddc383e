/* Reads servers from CSV text (RFC 4180) with comment lines. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/fields.h"

#define COLUMNS_MAX 256

struct csv {
	struct scan at;
	unsigned long line; /* line number of the next byte, from 1 */
	size_t n_columns;
	const struct field *column[COLUMNS_MAX]; /* NULL = ignore the column */
	size_t unit;                             /* 1 + index of the column "unit"; 0 = none */
	bool price_is_lowest;                    /* see field_row_price_is_lowest */
	struct buf row;                          /* cells of the current row, each with a NUL */
};

static bool row_ends(const struct csv *c)
{
	return scan_end(&c->at) || *c->at.at == '\n' || *c->at.at == '\r';
}

/* Skips the end of a row: \n, \r\n, or the end of the text. */
static int skip_row_end(struct csv *c, struct err *e)
{
	if (scan_char(&c->at, '\r') && !scan_end(&c->at) && *c->at.at != '\n')
		return err_set(e, -EINVAL, "line %lu: a carriage return within a row", c->line);
	if (scan_char(&c->at, '\n'))
		c->line++;
	return 0;
}

static int add_quoted(struct csv *c, struct err *e)
{
	unsigned long line = c->line;

	for (;;) {
		struct slice part;

		if (!scan_until(&c->at, '"', &part))
			return err_set(e, -EINVAL, "line %lu: a quote that does not close", line);
		for (size_t i = 0; i < part.len; i++)
			c->line += part.data[i] == '\n';
		buf_add(&c->row, part.data, part.len);
		if (!scan_char(&c->at, '"'))
			break;
		buf_addc(&c->row, '"');
	}
	scan_blanks(&c->at);
	if (!row_ends(c) && *c->at.at != ',')
		return err_set(e, -EINVAL, "line %lu: text after a closing quote", c->line);
	return 0;
}

/* Appends the next cell to c->row, without blanks around it, and with a NUL. Leaves the cursor at
 * the comma or at the end of the row. */
static int add_cell(struct csv *c, struct err *e)
{
	size_t before = c->row.len;
	int code = 0;

	scan_blanks(&c->at);
	if (scan_char(&c->at, '"')) {
		code = add_quoted(c, e);
	} else {
		const char *first = c->at.at;

		while (!row_ends(c) && *c->at.at != ',')
			c->at.at++;
		struct slice cell = slice_trim((struct slice){first, (size_t)(c->at.at - first)});

		buf_add(&c->row, cell.data, cell.len);
	}
	if (code == 0 && memchr(buf_text(&c->row) + before, '\0', c->row.len - before))
		return err_set(e, -EINVAL, "line %lu: has a NUL byte", c->line);
	buf_addc(&c->row, '\0');
	return code;
}

/* Reads one row into c->row. cell[i] is the offset of cell `i` in c->row. */
static int read_row(struct csv *c, size_t cell[COLUMNS_MAX], size_t *ret_n, struct err *e)
{
	size_t n = 0;
	int code;

	buf_reset(&c->row);
	do {
		if (n == COLUMNS_MAX)
			return err_set(e, -E2BIG, "line %lu: more than %d columns", c->line,
				COLUMNS_MAX);
		cell[n++] = c->row.len;
		code = add_cell(c, e);
		if (code)
			return code;
	} while (scan_char(&c->at, ','));
	if (c->row.full)
		return err_set(e, -E2BIG, "line %lu: longer than %zu bytes", c->line, c->row.max);
	*ret_n = n;
	return skip_row_end(c, e);
}

/* Reads the rate of a line "# rate: EUR 1.08". */
static int read_rate(struct catalogue_builder *b, const char *text, struct err *e)
{
	struct scan s = SCAN(text, strlen(text));
	struct slice word;
	char currency[8];
	double usd;

	if (!scan_word(&s, &word) || !scan_double(&s, &usd))
		return err_set(e, -EINVAL,
			"rate: \"%.40s\" is not a currency and its price in US dollars", text);
	slice_copy(word, currency, sizeof currency);
	return catalogue_set_rate(b, currency, usd, e);
}

static int read_comment(struct catalogue_builder *b, struct csv *c, struct err *e)
{
	struct scan line;
	char text[512];
	struct slice key;
	int code = 0;

	scan_line(&c->at, &line);
	scan_char(&line, '#');
	scan_blanks(&line);
	if (scan_until(&line, ':', &key)) {
		scan_blanks(&line);
		while (line.end > line.at && (unsigned char)line.end[-1] <= ' ')
			line.end--;
		utf8_clean(line.at, (size_t)(line.end - line.at), text, sizeof text);
		if (slice_is(key, "as_of"))
			catalogue_set_as_of(b, text);
		else if (slice_is(key, "source"))
			catalogue_set_note(b, text);
		else if (slice_is(key, "rate"))
			code = read_rate(b, text, e);
	}
	if (code) {
		err_wrap(e, "line %lu", c->line);
		return code;
	}
	c->line++;
	return 0;
}

static bool has_column(const struct csv *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (c->column[i] && strcmp(c->column[i]->name, name) == 0)
			return true;
	return false;
}

static int set_columns(struct csv *c, const size_t *cell, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = c->row.data + cell[i];

		c->column[i] = field_find(name, strlen(name));
		if (strcmp(name, "unit") == 0)
			c->unit = i + 1;
		for (size_t k = 0; k < i && c->column[i]; k++)
			if (c->column[k] == c->column[i])
				return err_set(e, -EINVAL, "column %s is there twice", name);
	}
	for (const struct field *f = fields; f->name; f++) {
		bool found = !f->required;

		for (size_t i = 0; i < n && !found; i++)
			found = c->column[i] == f;
		if (!found)
			return err_set(e, -EINVAL,
				"no column %s; the first line must name vendor_id, "
				"server_id, vcpus and memory_amount, separated by commas",
				f->name);
	}
	c->n_columns = n;
	c->price_is_lowest =
		(has_column(c, n, "min_price_ondemand") || has_column(c, n, "min_price_spot")) &&
		!has_column(c, n, "allocation");
	return 0;
}

static int add_row(struct catalogue_builder *b, struct csv *c, const size_t *cell, size_t n,
	struct err *e)
{
	struct field_row r;
	int code;

	if (n != c->n_columns)
		return err_set(e, -EINVAL, "%zu cells, where the first line has %zu", n,
			c->n_columns);
	/* sc-data's server_price also has monthly prices, which must not be read as hourly
	 * prices. */
	const char *unit = c->unit ? c->row.data + cell[c->unit - 1] : "";

	if (*unit && strcasecmp(unit, "hour") != 0)
		return 0;
	field_row_clear(&r);
	for (size_t i = 0; i < n; i++) {
		if (!c->column[i])
			continue;
		const struct field *f = c->column[i];

		code = field_set_text(f, field_row_part(&r, f->part), c->row.data + cell[i], e);
		if (code) {
			err_wrap(e, "column %s", c->column[i]->name);
			return code;
		}
	}
	if (c->price_is_lowest)
		field_row_price_is_lowest(&r);
	return catalogue_add_row(b, &r, e);
}

static int read_table(struct catalogue_builder *b, struct csv *c, struct err *e)
{
	size_t cell[COLUMNS_MAX], n = 0;
	int code;

	while (!scan_end(&c->at)) {
		unsigned long line = c->line;

		if (*c->at.at == '#') {
			code = read_comment(b, c, e);
			if (code)
				return code;
			continue;
		}
		if (row_ends(c)) {
			code = skip_row_end(c, e);
			if (code)
				return code;
			continue;
		}
		code = read_row(c, cell, &n, e);
		if (code)
			return code;
		code = c->n_columns ? add_row(b, c, cell, n, e) : set_columns(c, cell, n, e);
		if (code) {
			err_wrap(e, "line %lu", line);
			return code;
		}
	}
	return 0;
}

int catalogue_read_csv(struct catalogue_builder *b, const char *text, size_t len, struct err *e)
{
	struct csv c = {.at = SCAN(text, len), .line = 1, .row = BUF_MAX(64 * 1024)};

	scan_literal(&c.at, "\xef\xbb\xbf"); /* byte order mark, which spreadsheets write */
	int code = read_table(b, &c, e);

	if (code == 0 && !c.n_columns)
		code = err_set(e, -EINVAL, "no table: the first line must name the columns");
	buf_done(&c.row);
	return code;
}

int catalogue_from_csv(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e)
{
	struct catalogue_builder *b = catalogue_builder_new();
	int code = catalogue_read_csv(b, text, len, e);

	if (code)
		err_wrap(e, "%s", source);
	else
		catalogue_finish(b, source, ret);
	catalogue_builder_free(b);
	return code;
}
