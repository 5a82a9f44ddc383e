/* Writes an answer to a file that the user names: FILE in `-o FILE` of a query, or in `--report
 * FILE` of `run`. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* Writes `body` to the file. Replaces a regular file atomically and keeps its mode and owner. If
 * the file cannot be replaced, writes into the existing file. Also writes into a device, a FIFO or
 * the target of a link, as a shell does. If `path` leads to our stdout or stderr, appends the
 * answer there. */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
