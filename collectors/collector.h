/* A collector turns kernel files into points. To add a collector, write collectors/machine/NAME.c,
 * which ends with
 *
 * 	const struct collector collector_NAME = { .name = "NAME", ... };
 *
 * Add machine/NAME to the list in collectors/CMakeLists.txt, and put the kernel files that the
 * collector reads into tests/fixtures/node. Nothing else needs a change: flags (--collector.NAME,
 * --no-collector.NAME), /metrics, health metrics, the manual and the tests of all tables are made
 * from the struct. */
#ifndef COLLECTORS_COLLECTOR_H
#define COLLECTORS_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/err.h"
#include "collectors/host.h"
#include "collectors/metric.h"
#include "collectors/snapshot.h"

struct collector {
	const char *name, *help;
	const struct metric *metrics;
	size_t n_metrics;
	bool off_by_default;

	/* All three functions run on the sampler thread. `start` makes the state, and may be NULL.
	 * It returns -ENOENT when this machine has nothing to measure: the collector is then left
	 * out without a log line. `start` may set members of `host` for other collectors, and
	 * `stop` clears them. */
	int (*start)(void **ret, struct host *host, struct err *e);

	/* Reads and adds points. A negative errno drops all points of this tick, sets the success
	 * metric to 0, and is logged once. -ENOENT without a message means that there is nothing to
	 * measure now: no points, no log line. The function must not block without a time limit. */
	int (*collect)(void *state, const struct host *host, struct block *out, struct err *e);

	void (*stop)(void *state); /* may be NULL if there is no state */
};

/* All collectors in the order of collectors/CMakeLists.txt, ending with NULL. CMake generates the
 * array. */
extern const struct collector *const all_collectors[];

#endif
