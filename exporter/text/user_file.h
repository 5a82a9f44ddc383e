/* Writes an answer to a file of the user: -o FILE, and --report of run. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/*
 * Replaces a regular file atomically and keeps its mode and owner; where that is impossible, writes
 * in place. Opens and writes anything else as a shell does: a device, a FIFO, the target of a link.
 * A path that leads to our stdout or stderr continues there.
 */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
