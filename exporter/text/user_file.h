/* Where an answer goes that is put into a file: -o FILE and run's --report. */
#ifndef EXPORTER_TEXT_USER_FILE_H
#define EXPORTER_TEXT_USER_FILE_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/*
 * A regular file is replaced as a whole, by one with its mode and owner; where that is not possible it is written in place.
 * Anything else is opened and written, as by a shell: a device, a FIFO, the target of a link. What leads to our stdout or
 * stderr is continued there.
 */
int user_file_write(const char *path, const struct buf *body, struct err *e);

#endif
