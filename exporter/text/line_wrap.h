/* Wraps text for --help: indented lines of at most WRAP_COLUMNS columns. */
#ifndef EXPORTER_TEXT_LINE_WRAP_H
#define EXPORTER_TEXT_LINE_WRAP_H

#include "collectors/base/buf.h"

#define WRAP_COLUMNS 100

/* Appends `text`, broken into lines at single spaces. Each line begins with `indent` spaces. A word
 * that is longer than a line gets its own line. The last line ends with a newline. */
void line_wrap_add(struct buf *out, const char *text, size_t indent);

#endif
