/* Escaping for HTML. */
#ifndef EXPORTER_TEXT_HTML_H
#define EXPORTER_TEXT_HTML_H

#include "collectors/base/buf.h"

/* Appends s, escaped for an element or a quoted attribute. */
void html_add(struct buf *out, const char *s);

#endif
