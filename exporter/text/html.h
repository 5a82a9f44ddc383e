/* Text in HTML. */
#ifndef EXPORTER_TEXT_HTML_H
#define EXPORTER_TEXT_HTML_H

#include "collectors/base/buf.h"

/* In an element or in a quoted attribute: what could be markup is escaped. */
void html_add(struct buf *out, const char *s);

#endif
