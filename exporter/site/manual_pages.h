/* The pages of the manual (deploy/manual), for networks without access to other sites. The program
 * contains their Markdown in compressed form, and makes HTML of it on request. Any thread. */
#ifndef EXPORTER_SITE_MANUAL_PAGES_H
#define EXPORTER_SITE_MANUAL_PAGES_H

#include "collectors/base/buf.h"
#include "exporter/site/page.h"

/* Maximum bytes of all compressed pages together; tests/unit/test_manual_pages.c checks it. */
#define MANUAL_PAGES_MAX (96u << 10)

struct manual_page {
	const char *name; /* the last part of its path, such as "routes"; NULL ends the table */
	const char *link; /* relative path by which other pages link to it; NULL = no links */
	const struct page_asset *markdown;
	/* Title of a page that is not below /manual/. NULL = the title is `name`. */
	const char *title;
};

/* The pages below /manual/, sorted by name, and the page at /manual. CMake makes them from the
 * files in deploy/manual, where README.md is the page at /manual, and from SECURITY.md. */
extern const struct manual_page manual_pages[];
extern const struct manual_page manual_first_page;

/* `path` is /manual, /manual/NAME or /runbook. Returns NULL when there is no such page. */
const struct manual_page *manual_page_find(const char *path);

/* Appends the page as HTML. */
void manual_page_html(const struct manual_page *page, struct buf *out);

#endif
