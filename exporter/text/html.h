/* Escapes text for HTML. */
#ifndef EXPORTER_TEXT_HTML_H
#define EXPORTER_TEXT_HTML_H

#include "collectors/base/buf.h"

/* Appends `s`, escaped for the text of an element or for a quoted attribute. */
void html_add(struct buf *out, const char *s);

#endif
