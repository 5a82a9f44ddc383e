/* Compresses data in the block format of snappy, which the requests of remote write need. */
#ifndef EXPORTER_REMOTE_SNAPPY_H
#define EXPORTER_REMOTE_SNAPPY_H

#include <stddef.h>

#include "collectors/base/buf.h"

/* Appends the compressed block of `data`, which has at most UINT32_MAX bytes. */
void snappy_write(struct buf *out, const void *data, size_t len);

#endif
