/*
 * The files of the page that people look at (dashboards/web), compressed into the program when it is
 * built. Any thread.
 */
#ifndef EXPORTER_WEB_H
#define EXPORTER_WEB_H

#include <stddef.h>

#include "collectors/base/buf.h"

struct web_asset {
	const char *etag;   /* with its quotes; of the content */
	const char *sha256; /* in base64, as a Content-Security-Policy wants it */
	const unsigned char *gzip;
	size_t gzip_size, size; /* size: uncompressed */
};

extern const struct web_asset web_page; /* index.html, with WEB_MARK where the routes are listed */
extern const struct web_asset web_script, web_style, web_icon;

#define WEB_MARK "<!-- routes -->"

/* What may be loaded and run by the page: our own files, and nothing that stands in its text. */
#define WEB_POLICY                                                                                 \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "          \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct web_file {
	const char *path, *content_type;
	const struct web_asset *asset;
};

/* The file that a path stands for, or NULL. */
const struct web_file *web_find(const char *path);

/* The uncompressed bytes. */
void web_add(struct buf *out, const struct web_asset *a);

#endif
