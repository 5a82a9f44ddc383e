/* Writes an answer to a file that the user names: -o FILE of a query, or --report of run. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* Replaces a regular file atomically and keeps its mode and owner. Writes in place when that is
 * impossible. Opens and writes any other kind of file as a shell does: a device, a FIFO, or the
 * target of a link. If `path` leads to our stdout or stderr, the answer is appended there. */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
