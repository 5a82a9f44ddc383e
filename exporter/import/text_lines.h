/* Reads an untrusted text file line by line, with limited memory. A line that is too long or not
 * valid text is refused, and the lines after it are still read. */
#ifndef EXPORTER_IMPORT_TEXT_LINES_H
#define EXPORTER_IMPORT_TEXT_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/scan.h"
#include "exporter/import/import.h"

/* Maximum size of a line in bytes, without the line end. It is the maximum size of a message of
 * POST /runs, because a line may be such a message. */
#define TEXT_LINE_MAX ((size_t)256 << 10)

struct text_lines {
	FILE *in;        /* the caller closes it */
	uint64_t number; /* number of the line that was read last, from 1 on; 0 = none */
	struct buf line;
};

#define TEXT_LINES(file) ((struct text_lines){.in = (file), .line = BUF_MAX(TEXT_LINE_MAX + 1)})

/* Reads the next line, without its CR and LF. `*ret` is valid until the next call. Returns:
 * - 1: a line was read.
 * - 0: the file has no more lines.
 * - -EINVAL: the line is too long, is not UTF-8, or has control characters other than a tab. The
 *   next call reads the line after it.
 * - another negative errno: the file could not be read. */
int text_lines_next(struct text_lines *l, struct slice *ret, struct err *e);

void text_lines_done(struct text_lines *l);

/* A function that handles one line. `context` is that of text_lines_read. It returns 0 to go on, or -EINVAL if the line is wrong, with
 * the reason in `e`. Another negative errno ends the import. */
typedef int line_reader(const struct import_input *in, struct slice line, uint64_t number,
	void *context, struct err *e);

/* Calls `read` for each line of the input that is not empty, and reports wrong lines to
 * in->sink. */
int text_lines_read(const struct import_input *in, line_reader *read, void *context, struct err *e);

#endif
