/* The files of the web page (dashboards/web). The program contains them in compressed form. Any
 * thread. */
#ifndef EXPORTER_SITE_PAGE_H
#define EXPORTER_SITE_PAGE_H

#include <stddef.h>

#include "collectors/base/buf.h"

struct page_asset {
	const char *etag;   /* hash of the content, with quotes */
	const char *sha256; /* hash in base64, for a Content-Security-Policy */
	const unsigned char *gzip;
	size_t gzip_size, size; /* `size` = bytes of the uncompressed file */
};

extern const struct page_asset page_html, page_script, page_style, page_icon, page_runbook,
	page_manual_style;
/* The script of a report, which runs without an exporter. */
extern const struct page_asset page_report_script;

/* The place in page_html at which the list of routes is inserted. */
#define PAGE_MARK "<!-- routes -->"

/* Content-Security-Policy: the page may load and run files of this server, but no inline code. */
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "          \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct page_file {
	const char *path, *content_type;
	const struct page_asset *asset;
};

/* Returns NULL when there is no file at this path. */
const struct page_file *page_find(const char *path);

/* Appends the uncompressed file. */
void page_add(struct buf *out, const struct page_asset *a);

#endif
