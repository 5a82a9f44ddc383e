/*
 * A collector turns kernel files into points. To add one: write collectors/machine/NAME.c that ends in
 *
 *	const struct collector collector_NAME = { .name = "NAME", ... };
 *
 * add machine/NAME to the list in collectors/CMakeLists.txt, and put the files it reads into
 * tests/fixtures/node. The flags (--collector.NAME, --no-collector.NAME), /metrics, health metrics,
 * the manual and the tests of all tables follow by themselves.
 */
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

	/*
	 * All three run on the sampler thread. start makes the state and may be NULL. -ENOENT: this machine
	 * has nothing to measure; the collector is left out without a log line. start may set fields of host
	 * for other collectors; stop clears them.
	 */
	int (*start)(void **ret, struct host *host, struct err *e);

	/*
	 * Reads and adds points. Negative errno: all its points of this tick are dropped, its
	 * success metric is 0, the log complains once. -ENOENT without a message means "absent now":
	 * no points, no complaint. Must never block without limit.
	 */
	int (*collect)(void *state, const struct host *host, struct block *out, struct err *e);

	void (*stop)(void *state); /* NULL when there is no state */
};

/* All collectors in the order of collectors/CMakeLists.txt, NULL-terminated; made by CMake. */
extern const struct collector *const all_collectors[];

#endif
