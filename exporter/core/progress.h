/* The progress of a command that takes long: how many units of its work are done. It is shown on a
 * terminal (exporter/cli/progress_line.h). */
#ifndef EXPORTER_CORE_PROGRESS_H
#define EXPORTER_CORE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
	_Atomic(const char *) unit;        /* "samples"; NULL = nothing was noted yet */
	atomic_uint_least64_t done, total; /* `total` 0 = unknown */
};

/* Records that `done` of `total` units are done; `total` 0 = unknown. `unit` is a static text. Any
 * thread, even while another thread reads `*p`. Does nothing if `p` is NULL, as in a server. */
void progress_note(struct progress *p, const char *unit, uint64_t done, uint64_t total);

#endif
