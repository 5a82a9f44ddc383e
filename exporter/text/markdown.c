#include "exporter/text/markdown.h"

#include <ctype.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/text/html.h"

#define LISTS_MAX    8          /* largest depth of lists within lists */
#define INLINE_DEPTH 8          /* largest depth of links and emphasis within each other */
#define TEXT_MAX     (1u << 20) /* largest size of a paragraph or a cell, bytes */

struct list {
	size_t indent; /* number of columns before the marker of an item */
	bool ordered;
};

struct markdown {
	struct buf *out;
	markdown_href href;
	const void *context;
	struct buf paragraph; /* lines that are written when the paragraph ends */
	struct list list[LISTS_MAX];
	size_t lists;
	size_t tables;    /* written so far */
	bool after_blank; /* the line before was blank */
	bool in_item;     /* the paragraph is the first paragraph of a list item */
};

/* ---- text within a line ---- */

static void add_inline(struct markdown *m, struct slice s, int depth);

static struct slice from(struct slice s, size_t i)
{
	return (struct slice){s.data + i, s.len - i};
}

static void add_escaped(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		const char c[2] = {s.data[i], '\0'};

		html_add(out, c);
	}
}

static size_t run_of(struct slice s, char c)
{
	size_t n = 0;

	while (n < s.len && s.data[n] == c)
		n++;
	return n;
}

/* Returns the position of `text` in `s`, or s.len if it is not there. */
static size_t find_text(struct slice s, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= s.len; i++)
		if (memcmp(s.data + i, text, n) == 0)
			return i;
	return s.len;
}

/* If `s` begins with a code span, adds it and returns its length with the backticks. Otherwise
 * returns 0. */
static size_t add_code(struct markdown *m, struct slice s)
{
	size_t n = run_of(s, '`');

	for (size_t i = n; i < s.len;) {
		size_t k = run_of(from(s, i), '`');

		if (k == n) {
			buf_adds(m->out, "<code>");
			add_escaped(m->out, (struct slice){s.data + n, i - n});
			buf_adds(m->out, "</code>");
			return i + n;
		}
		i += k ? k : 1;
	}
	return 0;
}

/* Returns the position of the "]" that closes the "[" at the start of `s`, or s.len if there is
 * none. */
static size_t closing_bracket(struct slice s)
{
	size_t open = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.data[i] == '\\')
			i++;
		else if (s.data[i] == '[')
			open++;
		else if (s.data[i] == ']' && --open == 0)
			return i;
	}
	return s.len;
}

/* If `s` begins with "[text](target)" or "[text](target "title")", fills `text` and `target` and
 * returns the length of the link. Otherwise returns 0. */
static size_t read_link(struct slice s, struct slice *text, struct slice *target)
{
	size_t end = closing_bracket(s);

	if (end + 1 >= s.len || s.data[end + 1] != '(')
		return 0;
	struct slice rest = from(s, end + 2);
	size_t close = find_text(rest, ")");

	if (close == rest.len)
		return 0;
	*text = (struct slice){s.data + 1, end - 1};
	*target = (struct slice){rest.data, close};
	target->len = find_text(*target, " ");
	return end + 2 + close + 1;
}

static void add_link(struct markdown *m, struct slice text, struct slice target, int depth)
{
	struct buf address AUTO(buf_done) = BUF_MAX(4096);
	bool served = m->href(&address, target, m->context);

	if (served) {
		buf_adds(m->out, "<a href=\"");
		html_add(m->out, buf_text(&address));
		buf_adds(m->out, "\">");
	}
	add_inline(m, text, depth + 1);
	if (served)
		buf_adds(m->out, "</a>");
}

/* Handles "<" at the start of `s`: adds a link for "<https://...>", and skips a comment or a tag.
 * Returns the number of handled bytes; 0 = `s` begins with none of these. */
static size_t add_angle(struct markdown *m, struct slice s, int depth)
{
	size_t end = find_text(s, ">");

	if (slice_starts(s, "<!--")) {
		end = find_text(s, "-->");
		return end == s.len ? 0 : end + 3;
	}
	if (end == s.len)
		return 0;
	struct slice inner = {s.data + 1, end - 1};

	if (slice_starts(inner, "https://") || slice_starts(inner, "http://"))
		add_link(m, inner, inner, depth);
	else if (!inner.len || !(isalpha((unsigned char)*inner.data) || *inner.data == '/'))
		return 0;
	return end + 1;
}

/* If `s` begins with an entity such as "&lt;", adds it and returns its length. Otherwise returns
 * 0. */
static size_t add_entity(struct markdown *m, struct slice s)
{
	size_t n = 1;

	while (n < s.len && (isalnum((unsigned char)s.data[n]) || s.data[n] == '#'))
		n++;
	if (n == 1 || n == s.len || s.data[n] != ';')
		return 0;
	buf_add(m->out, s.data, n + 1);
	return n + 1;
}

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || (c & 0x80);
}

/* If `s` begins with strong text or emphasis, adds it and returns its length. Otherwise returns 0.
 * `before` is the character before `s`. */
static size_t add_emphasis(struct markdown *m, struct slice s, char before, int depth)
{
	char c = *s.data, mark[3] = {c, run_of(s, c) >= 2 ? c : '\0', '\0'};
	const char *tag = mark[1] ? "strong" : "em";
	size_t n = strlen(mark);
	struct slice rest = from(s, n);

	if (!rest.len || isspace((unsigned char)*rest.data) ||
		(c == '_' && is_word_character(before)))
		return 0;
	for (size_t i = 1; i + n <= rest.len; i++) {
		char after = i + n < rest.len ? rest.data[i + n] : ' ';

		if (memcmp(rest.data + i, mark, n) != 0 ||
			isspace((unsigned char)rest.data[i - 1]) ||
			(c == '_' && is_word_character(after)))
			continue;
		buf_addf(m->out, "<%s>", tag);
		add_inline(m, (struct slice){rest.data, i}, depth + 1);
		buf_addf(m->out, "</%s>", tag);
		return i + 2 * n;
	}
	return 0;
}

/* If `s` begins with markup, adds it and returns the number of bytes of the markup. Otherwise
 * returns 0. `before` is the character before `s`. */
static size_t add_markup(struct markdown *m, struct slice s, char before, int depth)
{
	struct slice text, target;
	size_t n;

	switch (*s.data) {
	case '\\':
		if (s.len < 2 || !ispunct((unsigned char)s.data[1]))
			return 0;
		add_escaped(m->out, (struct slice){s.data + 1, 1});
		return 2;
	case '`':
		return add_code(m, s);
	case '!':
		n = s.len > 1 && s.data[1] == '[' ? read_link(from(s, 1), &text, &target) : 0;
		if (n)
			add_escaped(m->out, text);
		return n ? n + 1 : 0;
	case '[':
		n = read_link(s, &text, &target);
		if (n)
			add_link(m, text, target, depth);
		return n;
	case '<':
		return add_angle(m, s, depth);
	case '&':
		return add_entity(m, s);
	case '*':
	case '_':
		return add_emphasis(m, s, before, depth);
	default:
		return 0;
	}
}

static void add_inline(struct markdown *m, struct slice s, int depth)
{
	char before = ' ';

	for (size_t i = 0; i < s.len;) {
		size_t n = depth < INLINE_DEPTH ? add_markup(m, from(s, i), before, depth) : 0;

		if (n == 0) {
			n = *(s.data + i) == '`' ? run_of(from(s, i), '`') : 1;
			add_escaped(m->out, (struct slice){s.data + i, n});
		}
		before = s.data[i + n - 1];
		i += n;
	}
}

/* ---- blocks ---- */

static void flush_paragraph(struct markdown *m)
{
	struct slice text = {buf_text(&m->paragraph), m->paragraph.len};

	if (!text.len)
		return;
	buf_adds(m->out, m->in_item ? "" : "<p>");
	add_inline(m, text, 0);
	buf_adds(m->out, m->in_item ? "\n" : "</p>\n");
	m->in_item = false;
	buf_reset(&m->paragraph);
}

static void close_list(struct markdown *m)
{
	flush_paragraph(m);
	m->in_item = false;
	buf_adds(m->out, m->list[--m->lists].ordered ? "</li>\n</ol>\n" : "</li>\n</ul>\n");
}

/* Closes the lists to which a block with this indent does not belong. */
static void leave_lists(struct markdown *m, size_t indent)
{
	flush_paragraph(m);
	while (m->lists && indent <= m->list[m->lists - 1].indent)
		close_list(m);
}

/* Adds the id that GitHub makes from the text of a heading. */
static void add_id(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (is_word_character(c) || c == '-' || c == '_')
			buf_addc(out, (char)tolower((unsigned char)c));
		else if (c == ' ')
			buf_addc(out, '-');
	}
}

static bool add_heading(struct markdown *m, struct slice line)
{
	size_t level = run_of(line, '#');

	if (level < 1 || level > 6 || level == line.len || line.data[level] != ' ')
		return false;
	struct slice text = slice_trim(from(line, level));

	leave_lists(m, 0);
	buf_addf(m->out, "<h%zu id=\"", level);
	add_id(m->out, text);
	buf_adds(m->out, "\">");
	add_inline(m, text, 0);
	buf_addf(m->out, "</h%zu>\n", level);
	return true;
}

static size_t indent_of(struct slice line)
{
	return run_of(line, ' ');
}

/* Adds the lines of a fenced code block, up to the closing fence. The indent of the opening fence
 * is removed from each line. */
static void add_fence(struct markdown *m, size_t indent, struct scan *lines)
{
	struct scan s;

	leave_lists(m, indent);
	/* A wide block scrolls. With tabindex, it can be scrolled by the keyboard, too. */
	buf_adds(m->out, "<pre tabindex=\"0\"><code>");
	while (scan_line(lines, &s)) {
		struct slice line = scan_rest(&s);
		size_t n = indent_of(line);

		if (slice_starts(from(line, n), "```"))
			break;
		add_escaped(m->out, from(line, n < indent ? n : indent));
		buf_addc(m->out, '\n');
	}
	buf_adds(m->out, "</code></pre>\n");
}

/* Adds the cells of a table's row. "\|" is a part of the text and does not end a cell. */
static void add_row(struct markdown *m, struct slice line, const char *tag)
{
	struct buf cell AUTO(buf_done) = BUF_MAX(TEXT_MAX);

	buf_adds(m->out, "<tr>");
	for (size_t i = 1; i < line.len; i++) {
		bool escaped = line.data[i] == '\\' && i + 1 < line.len && line.data[i + 1] == '|';

		if (line.data[i] != '|' || escaped) {
			i += escaped;
			buf_addc(&cell, line.data[i]);
			continue;
		}
		buf_addf(m->out, "<%s>", tag);
		add_inline(m, slice_trim((struct slice){buf_text(&cell), cell.len}), 0);
		buf_addf(m->out, "</%s>", tag);
		buf_reset(&cell);
	}
	buf_adds(m->out, "</tr>\n");
}

/* Adds a table. `line` is its head. The line after it is the separator, and is skipped. */
static void add_table(struct markdown *m, struct slice line, struct scan *lines)
{
	struct scan s, next = *lines;

	leave_lists(m, 0);
	buf_addf(m->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table %zu\">"
		"<table>\n<thead>",
		++m->tables);
	add_row(m, line, "th");
	buf_adds(m->out, "</thead>\n<tbody>\n");
	for (size_t row = 0; scan_line(&next, &s) && slice_starts(scan_rest(&s), "|"); row++) {
		if (row)
			add_row(m, slice_trim(scan_rest(&s)), "td");
		*lines = next;
	}
	buf_adds(m->out, "</tbody>\n</table></div>\n");
}

/* If `s` begins with the marker of a list item, such as "- " or "12. ", returns its length.
 * Otherwise returns 0. */
static size_t marker_of(struct slice s, bool *ordered)
{
	size_t digits = 0;

	*ordered = false;
	if (s.len > 2 && strchr("-*+", *s.data) && s.data[1] == ' ')
		return 2;
	while (digits < s.len && digits < 9 && isdigit((unsigned char)s.data[digits]))
		digits++;
	*ordered = true;
	return digits && digits + 1 < s.len && s.data[digits] == '.' && s.data[digits + 1] == ' ' ?
		       digits + 2 :
		       0;
}

static bool add_item(struct markdown *m, struct slice line)
{
	size_t indent = indent_of(line);
	bool ordered;
	size_t n = marker_of(from(line, indent), &ordered);

	if (!n || (m->paragraph.len && !m->lists))
		return false;
	flush_paragraph(m);
	while (m->lists && indent < m->list[m->lists - 1].indent)
		close_list(m);
	if (m->lists && indent == m->list[m->lists - 1].indent) {
		buf_adds(m->out, "</li>\n<li>");
	} else if (m->lists < LISTS_MAX) {
		m->list[m->lists++] = (struct list){indent, ordered};
		buf_adds(m->out, ordered ? "<ol>\n<li>" : "<ul>\n<li>");
	}
	line = slice_trim(from(line, indent + n));
	buf_add(&m->paragraph, line.data, line.len);
	m->in_item = true;
	return true;
}

static void add_quote(struct markdown *m, struct slice line)
{
	leave_lists(m, 0);
	buf_adds(m->out, "<blockquote>");
	add_inline(m, slice_trim(from(line, 1)), 0);
	buf_adds(m->out, "</blockquote>\n");
}

/* If the line begins a comment, skips all lines of the comment and returns true. */
static bool skip_comment(struct slice line, struct scan *lines)
{
	struct scan s;

	if (!slice_starts(line, "<!--"))
		return false;
	while (find_text(line, "-->") == line.len && scan_line(lines, &s))
		line = scan_rest(&s);
	return true;
}

static void add_to_paragraph(struct markdown *m, struct slice line)
{
	if (m->after_blank)
		leave_lists(m, indent_of(line));
	line = slice_trim(line);
	if (m->paragraph.len)
		buf_addc(&m->paragraph, '\n');
	buf_add(&m->paragraph, line.data, line.len);
}

static void add_line(struct markdown *m, struct slice line, struct scan *lines)
{
	size_t indent = indent_of(line);
	struct slice text = slice_trim(line);

	if (text.len == 0)
		flush_paragraph(m);
	else if (slice_starts(text, "```"))
		add_fence(m, indent, lines);
	else if (slice_is(text, "---"))
		leave_lists(m, 0);
	else if (*text.data == '|')
		add_table(m, text, lines);
	else if (*text.data == '>')
		add_quote(m, text);
	else if (!skip_comment(text, lines) && !add_heading(m, text) && !add_item(m, line))
		add_to_paragraph(m, line);
	m->after_blank = text.len == 0;
}

void markdown_html(struct buf *out, struct slice text, markdown_href href, const void *context)
{
	struct markdown m = {
		.out = out, .href = href, .context = context, .paragraph = BUF_MAX(TEXT_MAX)};
	struct scan lines = scan_slice(text), s;

	while (scan_line(&lines, &s))
		add_line(&m, scan_rest(&s), &lines);
	leave_lists(&m, 0);
	buf_done(&m.paragraph);
}
