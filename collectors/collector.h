/* A collector turns kernel files into points: values of metrics at one time. To add a collector,
 * write collectors/machine/NAME.c, which ends with
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

	/* The sampler thread calls all three functions. `start` makes the state, which is passed to
	 * the other two. `start` may be NULL. If `start` returns -ENOENT, this machine has nothing
	 * to measure. The collector is then not used, and no line is logged. `start` may set
	 * members of `host` for other collectors, and `stop` clears them. */
	int (*start)(void **ret, struct host *host, struct err *e);

	/* Reads the files and adds points to `out`. Returns 0 or a negative errno. After an error,
	 * all points of this tick are dropped, the success metric is 0, and the error is logged
	 * once. -ENOENT without a message is no error: there is nothing to measure at present. The
	 * function must not block without a time limit. */
	int (*collect)(void *state, const struct host *host, struct block *out, struct err *e);

	void (*stop)(void *state); /* may be NULL if there is no state */
};

/* All collectors in the order of collectors/CMakeLists.txt, ending with NULL. CMake generates the
 * array. */
extern const struct collector *const all_collectors[];

#endif
