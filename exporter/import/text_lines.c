#include "exporter/import/text_lines.h"

#include <errno.h>
#include <stdbool.h>

#include "collectors/base/utf8.h"

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* Skips the rest of a line that is too long. */
static void skip_line(FILE *in)
{
	int c;

	do
		c = getc_unlocked(in);
	while (c != EOF && c != '\n');
}

static bool has_control(struct slice line)
{
	for (size_t i = 0; i < line.len; i++) {
		unsigned char c = (unsigned char)line.data[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

static int check(struct slice line, struct err *e)
{
	if (!utf8_valid(line.data, line.len))
		return err_set(e, -EINVAL, "accepted is UTF-8");
	if (has_control(line))
		return err_set(e, -EINVAL, "accepted is a text without control characters");
	return 1;
}

int text_lines_next(struct text_lines *l, struct slice *ret, struct err *e)
{
	int c;

	buf_reset(&l->line);
	while ((c = getc_unlocked(l->in)) != EOF && c != '\n' && l->line.len <= TEXT_LINE_MAX)
		buf_addc(&l->line, (char)c);
	if (c == EOF && ferror(l->in))
		return err_system(e, -errno, "read");
	if (c == EOF && l->line.len == 0)
		return 0;
	l->number++;
	if (l->line.len > TEXT_LINE_MAX) {
		if (c != '\n')
			skip_line(l->in);
		return err_set(e, -EINVAL, "accepted is a line of at most %zu bytes",
			TEXT_LINE_MAX);
	}
	*ret = (struct slice){buf_text(&l->line), l->line.len};
	if (l->number == 1 && slice_starts(*ret, byte_order_mark)) {
		ret->data += sizeof byte_order_mark - 1;
		ret->len -= sizeof byte_order_mark - 1;
	}
	if (ret->len && ret->data[ret->len - 1] == '\r')
		ret->len--;
	return check(*ret, e);
}

void text_lines_done(struct text_lines *l)
{
	buf_done(&l->line);
}

int text_lines_read(const struct import_input *in, line_reader *read, void *context, struct err *e)
{
	struct text_lines lines = TEXT_LINES(in->in);
	struct slice line = {"", 0};
	int code;

	do {
		struct err why = {0};

		code = text_lines_next(&lines, &line, &why);
		if (code > 0 && line.len) {
			code = read(in, line, lines.number, context, &why);
			code = code == 0 ? 1 : code;
		}
		if (code == -EINVAL) {
			in->sink.wrong(in->sink.context, lines.number, why.text);
			code = 1;
		} else if (code < 0) {
			err_set(e, code, "%s", why.text);
		}
	} while (code > 0);
	text_lines_done(&lines);
	return code;
}
