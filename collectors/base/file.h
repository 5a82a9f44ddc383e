/*
 * Files that options name: configurations, rules, certificates, catalogues. Whatever stands there holds nobody up for
 * ever: of a pipe, such as <(command) of a shell, the next piece is waited for, but no longer than FILE_PIPE_SECONDS.
 */
#ifndef COLLECTORS_BASE_FILE_H
#define COLLECTORS_BASE_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

#define FILE_PIPE_SECONDS 5

/*
 * For reading; the caller closes it. A pipe has something to read by then, else -ETIMEDOUT. Who reads such a pipe to its
 * end waits for its writer.
 */
int file_open(const char *path, struct err *e);

/* All of it, behind what is in ret. More than fits there: -EFBIG. A pipe that brings nothing: -ENODATA, or -ETIMEDOUT. */
int file_read(struct buf *ret, const char *path, struct err *e);

#endif
