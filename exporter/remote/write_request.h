/* The request of Prometheus remote write 1.0, before compression: a protobuf message WriteRequest
 * with time series. */
#ifndef EXPORTER_REMOTE_WRITE_REQUEST_H
#define EXPORTER_REMOTE_WRITE_REQUEST_H

#include <stdint.h>

#include "collectors/base/buf.h"
#include "exporter/remote/run_series.h"

/* Maximum size of the series of one run in bytes. */
#define WRITE_REQUEST_RUN_MAX (256u << 10)

/* Appends the series of a run, each with one sample at the time `at_ms`, in milliseconds since
 * 1970. */
void write_request_add(struct buf *out, const struct run *r, int64_t at_ms);

#endif
