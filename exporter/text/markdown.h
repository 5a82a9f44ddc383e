/* Converts Markdown to HTML: only the part of Markdown that the manual of this program uses
 * (headings, paragraphs, lists, tables, fenced code, quotes; inline code, emphasis, links and
 * images). Any input is safe: all text is escaped, and HTML tags in the Markdown are dropped. */
#ifndef EXPORTER_TEXT_MARKDOWN_H
#define EXPORTER_TEXT_MARKDOWN_H

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

/* Appends the URL for a link with this target. The caller escapes the URL. If the target is not
 * served, it appends nothing and returns false. The text is then shown without a link. */
typedef bool (*markdown_href)(struct buf *out, struct slice target, const void *context);

/* Appends `text` as HTML. A heading gets the same id as on GitHub, so that links to headings work
 * in both places. An image is replaced by its description. `context` is passed to `href`. */
void markdown_html(struct buf *out, struct slice text, markdown_href href, const void *context);

#endif
