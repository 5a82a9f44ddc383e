/* exporter/site/manual_html.c: the manual in the program, and that its links lead somewhere. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/site/manual_pages.h"

#define PAGE_MOST (1u << 20)

static void pages_are_found_by_their_paths(void **state)
{
	static const char *const unknown[] = {"/manua", "/manual/", "/manual/README",
		"/manual/none", "/manual/routes/", "/manual/routes.md", "/manualroutes",
		"/manual/runbook", "/runbook/", "/"};

	(void)state;
	assert_ptr_equal(manual_page_find("/manual"), &manual_first_page);
	assert_non_null(manual_pages[0].name);
	for (const struct manual_page *p = manual_pages; p->name; p++) {
		char path[256];

		snprintf(path, sizeof path, "/manual/%s", p->name);
		assert_ptr_equal(manual_page_find(path), p);
	}
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		assert_null(manual_page_find(unknown[i]));
}

static void the_manual_is_small(void **state)
{
	size_t bytes = manual_first_page.markdown->gzip_size + page_manual_style.gzip_size;

	(void)state;
	for (const struct manual_page *p = manual_pages; p->name; p++)
		bytes += p->markdown->gzip_size;
	print_message("%zu bytes\n", bytes);
	assert_in_range(bytes, 1000, MANUAL_PAGES_MAX);
}

/* Makes the path of a relative link on the page at `path`. */
static void resolve(const char *path, struct slice link, char out[512])
{
	const char *slash = strrchr(path, '/');
	struct slice folder = {path, (size_t)(slash - path)};

	while (slice_starts(link, "../")) {
		link = (struct slice){link.data + 3, link.len - 3};
		while (folder.len && folder.data[--folder.len] != '/')
			;
	}
	snprintf(out, 512, "%.*s/%.*s", (int)folder.len, folder.data, (int)link.len, link.data);
}

/* A link may end in the id of a heading: "routes#events". */
static void check_place(const char *path, const struct manual_page *to, struct slice id)
{
	struct buf html AUTO(buf_done) = BUF_MAX(PAGE_MOST);
	char text[256];

	manual_page_html(to, &html);
	snprintf(text, sizeof text, " id=\"%.*s\"", (int)id.len, id.data);
	if (!strstr(buf_text(&html), text))
		fail_msg("%s: a link leads to the heading #%.*s, which is not there", path,
			(int)id.len, id.data);
}

static void check_link(const char *path, struct slice link)
{
	const char *hash = memchr(link.data, '#', link.len);
	struct slice page = {link.data, hash ? (size_t)(hash - link.data) : link.len};
	char full[512];

	if (page.len)
		resolve(path, page, full);
	else
		snprintf(full, sizeof full, "%s", path);
	if (strcmp(full, "/./") == 0 || strcmp(full, "/") == 0)
		return;
	const struct manual_page *to = manual_page_find(full);

	if (!to && !page_find(full))
		fail_msg("%s: the link %.*s leads to %s, where nothing is", path, (int)link.len,
			link.data, full);
	if (hash)
		check_place(path, to,
			(struct slice){hash + 1, (size_t)(link.data + link.len - hash - 1)});
}

static void check_links(const struct manual_page *page, const char *path)
{
	struct buf html AUTO(buf_done) = BUF_MAX(PAGE_MOST);
	size_t n = 0;

	manual_page_html(page, &html);
	assert_false(html.full);
	for (const char *at = buf_text(&html); (at = strstr(at, "href=\"")); n++) {
		struct slice link = {at + 6, strcspn(at + 6, "\"")};

		at += 6 + link.len;
		if (!slice_starts(link, "http"))
			check_link(path, link);
	}
	/* At least the links to the icon, the style, the first page and the manual. */
	assert_true(n >= 4);
}

static void every_link_leads_somewhere(void **state)
{
	(void)state;
	check_links(&manual_first_page, "/manual");
	check_links(manual_page_find("/runbook"), "/runbook");
	for (const struct manual_page *p = manual_pages; p->name; p++) {
		char path[256];

		snprintf(path, sizeof path, "/manual/%s", p->name);
		check_links(p, path);
	}
}

static void the_first_page_lists_all_pages(void **state)
{
	struct buf html AUTO(buf_done) = BUF_MAX(PAGE_MOST);

	(void)state;
	manual_page_html(&manual_first_page, &html);
	for (const struct manual_page *p = manual_pages; p->name; p++) {
		char link[256];

		snprintf(link, sizeof link, "href=\"manual/%s\"", p->name);
		if (!strstr(buf_text(&html), link))
			fail_msg("deploy/manual/README.md has no link to %s.md", p->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_found_by_their_paths),
		cmocka_unit_test(the_manual_is_small),
		cmocka_unit_test(every_link_leads_somewhere),
		cmocka_unit_test(the_first_page_lists_all_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
