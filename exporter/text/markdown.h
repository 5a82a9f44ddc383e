/* Makes HTML of the Markdown that our manual uses: headings, paragraphs, lists, tables, fenced
 * code, quotes; code, emphasis, links and images inline. It is not CommonMark. The text is ours,
 * but no input does harm: all text is escaped, and tags in the Markdown are dropped. */
#ifndef EXPORTER_TEXT_MARKDOWN_H
#define EXPORTER_TEXT_MARKDOWN_H

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

/* A function that appends the URL for the target of a link, not escaped. It returns false, and
 * appends nothing, when the target is not served. Only the text of the link is then shown. */
typedef bool (*markdown_href)(struct buf *out, struct slice target, const void *context);

/* A heading gets the id that GitHub gives it, so that links into a page work in both places. An
 * image is replaced by its description. */
void markdown_html(struct buf *out, struct slice text, markdown_href href, const void *context);

#endif
