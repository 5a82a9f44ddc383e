/* Where an answer goes that is put into a file: -o FILE and run's --report. */
#ifndef EXPORTER_OUTPUT_H
#define EXPORTER_OUTPUT_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

/*
 * A file is replaced, whole or not at all, by one with its mode and owner. What else stands there is written to and stays:
 * a device, a FIFO, and what our stdout or stderr is, where it goes on behind what they hold. Links that root or we made
 * are followed, to where there is nothing yet as well; those of others are an error.
 */
int output_write(const char *path, const struct buf *body, struct err *e);

#endif
