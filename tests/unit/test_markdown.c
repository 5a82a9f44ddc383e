/* exporter/text/markdown.c: the Markdown of the manual as HTML. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/text/markdown.h"

/* Returns a target that ends in ".md" without this ending. No other target is served. */
static bool href(struct buf *out, struct slice target, const void *context)
{
	(void)context;
	if (target.len < 3 || memcmp(target.data + target.len - 3, ".md", 3) != 0)
		return false;
	buf_add(out, target.data, target.len - 3);
	return true;
}

static void is_html(const char *markdown, const char *html)
{
	struct buf out AUTO(buf_done) = BUF_MAX(1 << 16);

	markdown_html(&out, (struct slice){markdown, strlen(markdown)}, href, NULL);
	assert_string_equal(buf_text(&out), html);
}

static void headings_have_the_ids_of_github(void **state)
{
	(void)state;
	is_html("# The `x` of Y, Z\n", "<h1 id=\"the-x-of-y-z\">The <code>x</code> of Y, Z</h1>\n");
	is_html("###### six\n####### seven\n", "<h6 id=\"six\">six</h6>\n<p>####### seven</p>\n");
	is_html("#none\n", "<p>#none</p>\n");
}

static void lines_join_to_paragraphs(void **state)
{
	(void)state;
	is_html("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n");
	is_html("one\n# two\n", "<p>one</p>\n<h1 id=\"two\">two</h1>\n");
}

static void text_is_escaped_and_tags_are_dropped(void **state)
{
	(void)state;
	is_html("a < b & \"c\" 'd'", "<p>a &#60; b &#38; &#34;c&#34; &#39;d&#39;</p>\n");
	is_html("<script>x</script> <img src=y>", "<p>x </p>\n");
	is_html("`<b>` &lt; \\*a\\*", "<p><code>&#60;b&#62;</code> &lt; *a*</p>\n");
	is_html("<!-- a\nb -->\nc <!-- d --> e", "<p>c  e</p>\n");
	is_html("<!-- never closed\nx", "");
	is_html("a <!-- b", "<p>a &#60;!-- b</p>\n");
}

static void emphasis_and_code_need_their_end(void **state)
{
	(void)state;
	is_html("**a *b* c** _d_ snake_case_name", "<p><strong>a <em>b</em> c</strong> <em>d</em> "
						   "snake_case_name</p>\n");
	is_html("2 * 3 ** `x", "<p>2 * 3 ** `x</p>\n");
	is_html("``a ` b``", "<p><code>a ` b</code></p>\n");
	is_html("`--a_b_c=*`", "<p><code>--a_b_c=*</code></p>\n");
}

static void links_lead_to_what_is_served(void **state)
{
	(void)state;
	is_html("[a `b`](c.md)", "<p><a href=\"c\">a <code>b</code></a></p>\n");
	is_html("[a](c.md \"title\") [d](e.png)", "<p><a href=\"c\">a</a> d</p>\n");
	is_html("[a\nb](\"c.md)", "<p><a href=\"&#34;c\">a\nb</a></p>\n");
	is_html("![picture](x.png) [no link] [x](", "<p>picture [no link] [x](</p>\n");
	is_html("<https://a.md>", "<p><a href=\"https://a\">https://a.md</a></p>\n");
}

static void lists_lie_within_lists(void **state)
{
	(void)state;
	is_html("- a\n  b\n- c\n  - d\n\ne",
		"<ul>\n<li>a\nb\n</li>\n<li>c\n<ul>\n<li>d\n</li>\n</ul>\n</li>\n</ul>\n<p>e</p>\n");
	is_html("1. a\n\n   b\n2. c\n", "<ol>\n<li>a\n<p>b</p>\n</li>\n<li>c\n</li>\n</ol>\n");
	is_html("a\n- b", "<p>a\n- b</p>\n");
	is_html("1.2 a\n", "<p>1.2 a</p>\n");
}

/* The beginning of the table of this number. Tables may scroll, so each is a region with its own name. */
#define TABLE(number)                                                                              \
	"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table " number "\">"    \
	"<table>\n"

static void tables_have_a_head(void **state)
{
	(void)state;
	is_html("| a | b |\n|---|---|\n| `c` | d \\| e |\n| | f |\n\ng",
		TABLE("1") "<thead><tr><th>a</th><th>b</th></tr>\n</thead>\n"
			   "<tbody>\n<tr><td><code>c</code></td><td>d | e</td></tr>\n"
			   "<tr><td></td><td>f</td></tr>\n</tbody>\n</table></div>\n<p>g</p>\n");
	is_html("| a |\n|---|\n\n| b |\n|---|\n",
		TABLE("1") "<thead><tr><th>a</th></tr>\n</thead>\n<tbody>\n</tbody>\n</table></div>\n" TABLE(
			"2") "<thead><tr><th>b</th></tr>\n</thead>\n<tbody>\n</tbody>\n</table></div>\n");
}

static void fenced_code_is_as_written(void **state)
{
	(void)state;
	is_html("```sh\na <b>\n\n# c\n```\nd",
		"<pre tabindex=\"0\"><code>a &#60;b&#62;\n\n# c\n</code></pre>\n<p>d</p>\n");
	is_html("- a\n\n  ```\n  b\n    c\n  ```\n",
		"<ul>\n<li>a\n<pre tabindex=\"0\"><code>b\n  c\n</code></pre>\n</li>\n</ul>\n");
	is_html("```\nnever closed", "<pre tabindex=\"0\"><code>never closed\n</code></pre>\n");
}

static void quotes_and_lines(void **state)
{
	(void)state;
	is_html("> a `b`\n\n---\nc", "<blockquote>a <code>b</code></blockquote>\n<p>c</p>\n");
}

static void no_depth_is_too_much(void **state)
{
	struct buf text AUTO(buf_done) = BUF_MAX(1 << 16);
	struct buf out AUTO(buf_done) = BUF_MAX(1 << 20);

	(void)state;
	for (size_t i = 0; i < 100; i++)
		buf_adds(&text, "**a _b ");
	for (size_t i = 0; i < 100; i++)
		buf_adds(&text, "c_ d** ");
	buf_adds(&text, "\n\n");
	for (size_t i = 0; i < 40; i++)
		buf_addf(&text, "%*s- x\n", (int)i * 2, "");
	markdown_html(&out, (struct slice){buf_text(&text), text.len}, href, NULL);
	assert_false(out.full);
	assert_non_null(strstr(buf_text(&out), "</li>\n</ul>\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headings_have_the_ids_of_github),
		cmocka_unit_test(lines_join_to_paragraphs),
		cmocka_unit_test(text_is_escaped_and_tags_are_dropped),
		cmocka_unit_test(emphasis_and_code_need_their_end),
		cmocka_unit_test(links_lead_to_what_is_served),
		cmocka_unit_test(lists_lie_within_lists),
		cmocka_unit_test(tables_have_a_head),
		cmocka_unit_test(fenced_code_is_as_written),
		cmocka_unit_test(quotes_and_lines),
		cmocka_unit_test(no_depth_is_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
