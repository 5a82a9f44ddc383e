/*
 * Files that options name: configurations, rules, certificates, catalogues. Reading never blocks for
 * ever: a pipe, such as <(command) of a shell, has FILE_PIPE_SECONDS for each next piece.
 */
#ifndef COLLECTORS_BASE_FILE_H
#define COLLECTORS_BASE_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

#define FILE_PIPE_SECONDS 5

/*
 * Opens path for reading; the caller closes the descriptor. A pipe has data by then, else -ETIMEDOUT.
 * Later reads of a pipe block until its writer writes or closes.
 */
int file_open(const char *path, struct err *e);

/* Appends the whole file to ret. -EFBIG: it does not fit. A pipe without data: -ENODATA or -ETIMEDOUT. */
int file_read(struct buf *ret, const char *path, struct err *e);

#endif
