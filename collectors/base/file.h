/* Reads files whose names come from options: configurations, rules, certificates, catalogues.
 * file_read never blocks for ever: if the file is a pipe, such as <(command) of a shell, each piece
 * of data must arrive within FILE_PIPE_SECONDS. */
#ifndef COLLECTORS_BASE_FILE_H
#define COLLECTORS_BASE_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

#define FILE_PIPE_SECONDS 5

/* Opens `path` for reading. The caller closes the descriptor. Waits until a pipe has data, or
 * returns -ETIMEDOUT. After that, a read(2) of a pipe blocks until its writer writes or closes. */
int file_open(const char *path, struct err *e);

/* Appends the whole file to `ret`. Returns -EFBIG if it does not fit, and -ENODATA or -ETIMEDOUT
 * for a pipe without data. */
int file_read(struct buf *ret, const char *path, struct err *e);

#endif
