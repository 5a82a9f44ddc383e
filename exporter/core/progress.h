/* How far a route has come with making a long answer. The command of the route shows this on a
 * terminal (exporter/cli/progress_line.h). */
#ifndef EXPORTER_CORE_PROGRESS_H
#define EXPORTER_CORE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
	_Atomic(const char *) unit;        /* "samples"; NULL = nothing was noted yet */
	atomic_uint_least64_t done, total; /* 0 = the total is unknown */
};

/* Notes that `done` of `total` units are ready. `unit` is a static text. Does nothing when `p` is
 * NULL, as in a server. Any thread; another thread may read `*p` meanwhile. */
void progress_note(struct progress *p, const char *unit, uint64_t done, uint64_t total);

#endif
