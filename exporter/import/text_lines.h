/* Reads a text from outside line by line, in bounded memory. A line that is no text is refused, and
 * the lines after it are read. */
#ifndef EXPORTER_IMPORT_TEXT_LINES_H
#define EXPORTER_IMPORT_TEXT_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/scan.h"
#include "exporter/import/import.h"

/* Largest size of a line without its end, bytes. A line of JSON is at most as long as a message of
 * POST /runs. */
#define TEXT_LINE_MAX ((size_t)256 << 10)

struct text_lines {
	FILE *in;        /* the caller closes it */
	uint64_t number; /* number of the line that was read last, from 1 on; 0 = none */
	struct buf line;
};

#define TEXT_LINES(file) ((struct text_lines){.in = (file), .line = BUF_MAX(TEXT_LINE_MAX + 1)})

/* Reads the next line, without its CR and LF. `*ret` is valid until the next call. Returns 1 = a
 * line, 0 = the end. -EINVAL = the line is too long, is not UTF-8, or has control characters other
 * than a tab; the next call reads the line after it. Any other negative errno: the read failed. */
int text_lines_next(struct text_lines *l, struct slice *ret, struct err *e);

void text_lines_done(struct text_lines *l);

/* A function that reads a line. It returns 0 to go on, -EINVAL if the line is wrong, with the
 * reason in `e`, or another negative errno, which ends the import. */
typedef int line_reader(const struct import_input *in, struct slice line, uint64_t number,
	struct err *e);

/* Reads all lines of the input that are not empty, and tells the sink which are wrong. */
int text_lines_read(const struct import_input *in, line_reader *read, struct err *e);

#endif
