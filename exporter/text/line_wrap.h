/* Wraps text for --help: indented lines of at most WRAP_COLUMNS columns. */
#ifndef EXPORTER_TEXT_LINE_WRAP_H
#define EXPORTER_TEXT_LINE_WRAP_H

#include "collectors/base/buf.h"

#define WRAP_COLUMNS 100

/* Breaks at single spaces; a longer word gets its own line. Ends with a newline. */
void line_wrap_add(struct buf *out, const char *text, size_t indent);

#endif
