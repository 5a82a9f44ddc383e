/* The pages of the manual (deploy/manual). The program serves them, because its network may have no
 * access to other sites. It contains their Markdown in compressed form and converts a page to HTML
 * when it is requested. Any thread. */
#ifndef EXPORTER_SITE_MANUAL_PAGES_H
#define EXPORTER_SITE_MANUAL_PAGES_H

#include "collectors/base/buf.h"
#include "exporter/site/page.h"

/* Maximum bytes of all compressed pages together; tests/unit/test_manual_pages.c checks it. */
#define MANUAL_PAGES_MAX (96u << 10)

struct manual_page {
	const char *name; /* last part of the page's path, such as "routes"; NULL ends the table */
	/* relative path in the links to this page; NULL = no page links to it */
	const char *link;
	const struct page_asset *markdown;
	/* Title of a page that is not below /manual/. NULL = the title is `name`. */
	const char *title;
};

/* manual_pages: the pages below /manual/, sorted by name. manual_first_page: the page at /manual,
 * from README.md in deploy/manual. CMake generates both from the files in deploy/manual and from
 * SECURITY.md. */
extern const struct manual_page manual_pages[];
extern const struct manual_page manual_first_page;

/* Finds the page with the path /manual, /manual/NAME or /runbook. Returns NULL when there is no
 * such page. */
const struct manual_page *manual_page_find(const char *path);

/* Appends the page as HTML. */
void manual_page_html(const struct manual_page *page, struct buf *out);

#endif
