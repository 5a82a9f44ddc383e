/* Writes an answer to a file that the user names: FILE in `-o FILE` of a query, or in `--report
 * FILE` of `run`. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include <limits.h>
#include <stdio.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* A file that is written piece by piece, for answers that do not fit into memory. A regular file is
 * replaced atomically and keeps its mode and owner. If the file cannot be replaced, its content is
 * overwritten. If `path` is a device, a FIFO or a link, the text is written to the device, the FIFO
 * or the target of the link, as a shell does. If `path` leads to our stdout or stderr, the text is
 * appended there. */
struct user_file {
	const char *path;
	FILE *out;
	char part[PATH_MAX]; /* the file that replaces `path` at the end; "" = none */
};

/* Begins to write the file. After success, the caller writes to `f->out` and then calls
 * user_file_end. `path` must live until then. After an error, do not call user_file_end. */
int user_file_begin(struct user_file *f, const char *path, struct err *e);

/* Closes the file. Puts it in the place of an earlier regular file if `code` is 0, else leaves that
 * file as it was. Returns `code`, or the error of the last write. */
int user_file_end(struct user_file *f, int code, struct err *e);

/* Writes `body` to the file at `path`, in the same way as user_file_begin and user_file_end. */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
