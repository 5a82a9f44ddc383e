/* Serves /manual, the pages below it, and /runbook. Turns their Markdown into HTML. */
#include "exporter/site/manual_pages.h"

#include <string.h>

#include "exporter/site/site_state.h"
#include "exporter/text/html.h"
#include "exporter/text/markdown.h"

#define MANUAL   "/manual"
#define PAGE_MAX (1u << 20) /* bytes of a page as HTML */

const struct route site_manual_about = {
	.path = MANUAL,
	.help = "The manual of this version",
	.content_type = "text/html",
	.errors = (const struct route_error[]){{404, "not_found"}, {0}},
};

#define RUNBOOK "/runbook"

const struct route site_runbook_about = {
	.path = RUNBOOK,
	.help = "What to do about each alert of dashboards/prometheus/rules.yml",
	.content_type = "text/html",
};

static const struct manual_page runbook = {"runbook", NULL, &page_runbook, "Runbook"};

static const struct manual_page *page_named(struct slice name)
{
	for (const struct manual_page *p = manual_pages; p->name; p++)
		if (slice_is(name, p->name))
			return p;
	return NULL;
}

static const struct manual_page *page_linked(struct slice link)
{
	if (slice_is(link, manual_first_page.link))
		return &manual_first_page;
	for (const struct manual_page *p = manual_pages; p->name; p++)
		if (slice_is(link, p->link))
			return p;
	return NULL;
}

const struct manual_page *manual_page_find(const char *path)
{
	size_t n = strlen(MANUAL);

	if (strcmp(path, RUNBOOK) == 0)
		return &runbook;
	if (strncmp(path, MANUAL, n) != 0)
		return NULL;
	if (path[n] == '\0')
		return &manual_first_page;
	/* The first page is at "/manual" only and not at "/manual/", because its relative links
	 * would not work there. */
	return path[n] == '/' ? page_named((struct slice){path + n + 1, strlen(path) - n - 1}) :
				NULL;
}

/* Appends the path of page `to`, relative to page `from`. Links are relative, because a proxy may
 * serve the manual below any path. */
static void add_path(struct buf *out, const struct manual_page *to, const struct manual_page *from)
{
	if (to == &manual_first_page)
		buf_adds(out, from->title ? "manual" : "../manual");
	else
		buf_addf(out, "%s%s", from->title ? "manual/" : "", to->name);
}

/* A markdown_href: appends the URL of a link to a page of the manual, to a heading of this page, or
 * to another site. Returns false for any other target, such as a file of the project that is not
 * served. */
static bool add_href(struct buf *out, struct slice target, const void *context)
{
	struct slice file = target, fragment = {target.data + target.len, 0};
	const char *hash = memchr(target.data, '#', target.len);

	if (slice_starts(target, "https://") || slice_starts(target, "http://") ||
		slice_starts(target, "#")) {
		buf_add(out, target.data, target.len);
		return true;
	}
	if (hash) {
		file.len = (size_t)(hash - target.data);
		fragment = (struct slice){hash, target.len - file.len};
	}

	const struct manual_page *to = page_linked(file);

	if (!to)
		return false;
	add_path(out, to, context);
	buf_add(out, fragment.data, fragment.len);
	return true;
}

void manual_page_html(const struct manual_page *page, struct buf *out)
{
	struct buf text AUTO(buf_done) = BUF_MAX(PAGE_MAX);
	const char *up = page->title ? "" : "../";

	page_add(&text, page->markdown);
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_add(out, page->title ? page->title : page->name);
	buf_addf(out,
		" - rightsize-exporter</title>\n<link rel=\"icon\" href=\"%sweb/icon.svg\">\n"
		"<link rel=\"stylesheet\" href=\"%sweb/manual.css\">\n</head>\n<body>\n"
		"<header><a href=\"%s\">rightsize-exporter</a> <a href=\"",
		up, up, *up ? up : "./");
	add_path(out, &manual_first_page, page);
	buf_adds(out, "\">Manual</a></header>\n<main>\n");
	markdown_html(out, (struct slice){buf_text(&text), text.len}, add_href, page);
	buf_adds(out, "</main>\n</body>\n</html>\n");
}

void site_manual(struct site *s, const struct http_request *request, struct request_target *t,
	struct http_answer *ret)
{
	struct reply r = {.content_type = "text/html; charset=utf-8", .body = BUF_MAX(PAGE_MAX)};

	manual_page_html(manual_page_find(t->path), &r.body);
	ret->policy = PAGE_POLICY;
	site_reply(ret, &r);
	site_compress(s, request, ret);
}
