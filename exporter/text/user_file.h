/* Writes an answer to a file that the user names: FILE in `-o FILE` of a query, or in `--report
 * FILE` of `run`. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include <limits.h>
#include <stdio.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/* A file that is written piece by piece, for answers that do not fit into memory. At the end, the
 * new file replaces a regular file atomically, with the same mode and owner. If this is not
 * possible, the content of the old file is overwritten.
 *
 * A device, a FIFO and the target of a link are opened and written to, as by ">" of a shell. If
 * `path` is the same file as stdout or stderr of this program, the text is appended there. */
struct user_file {
	const char *path;
	FILE *out;
	/* path of the temporary file that replaces `path` at the end; "" = none */
	char part[PATH_MAX];
};

/* Begins to write the file. After success, the caller writes to `f->out` and then calls
 * user_file_end. `path` must live until then. After an error, do not call user_file_end. */
int user_file_begin(struct user_file *f, const char *path, struct err *e);

/* Closes the file. `code` is the result of writing the answer. If `code` is 0, the new file
 * replaces an earlier regular file at this path; otherwise the earlier file stays as it was.
 * Returns `code`, or the error of the last write. */
int user_file_end(struct user_file *f, int code, struct err *e);

/* Writes `body` to the file at `path`, in the same way as user_file_begin and user_file_end. */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
