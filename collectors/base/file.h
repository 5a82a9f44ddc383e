/* Reads files whose names come from options: configurations, rules, certificates, catalogues.
 * file_read never blocks forever. If the file is a pipe, such as <(command) of a shell, it waits at
 * most FILE_PIPE_SECONDS for each piece of data. */
#ifndef COLLECTORS_BASE_FILE_H
#define COLLECTORS_BASE_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

#define FILE_PIPE_SECONDS 5

/* Opens `path` for reading. Returns a descriptor, which the caller closes. For a pipe, first waits
 * until it has data or its last writer has closed it; -ETIMEDOUT: neither happened within
 * FILE_PIPE_SECONDS. A later read(2) of the pipe has no time limit. */
int file_open(const char *path, struct err *e);

/* Appends the whole file to `ret`. Returns -EFBIG if the file does not fit. For a pipe, returns
 * -ENODATA if it was closed without data, and -ETIMEDOUT if data does not arrive in time. */
int file_read(struct buf *ret, const char *path, struct err *e);

#endif
