/*
 * The files of the page that people look at (dashboards/web), compressed into the program when it is
 * built. Any thread.
 */
#ifndef EXPORTER_SITE_PAGE_H
#define EXPORTER_SITE_PAGE_H

#include <stddef.h>

#include "collectors/base/buf.h"

struct page_asset {
	const char *etag;   /* with its quotes; of the content */
	const char *sha256; /* in base64, as a Content-Security-Policy wants it */
	const unsigned char *gzip;
	size_t gzip_size, size; /* size: uncompressed */
};

extern const struct page_asset
	page_html; /* index.html, with PAGE_MARK where the routes are listed */
extern const struct page_asset page_script, page_style, page_icon;

#define PAGE_MARK "<!-- routes -->"

/* What may be loaded and run by the page: our own files, and nothing that stands in its text. */
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "          \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct page_file {
	const char *path, *content_type;
	const struct page_asset *asset;
};

/* The file that a path stands for, or NULL. */
const struct page_file *page_find(const char *path);

/* The uncompressed bytes. */
void page_add(struct buf *out, const struct page_asset *a);

#endif
