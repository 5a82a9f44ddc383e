/*
 * Disks or interfaces by name, with their counters, over the ticks. Each tick: devices_see for
 * every name, devices_sweep, then the table is complete and may be walked.
 */
#ifndef COLLECTORS_MACHINE_DEVICES_H
#define COLLECTORS_MACHINE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/scan.h"
#include "collectors/kernel_file.h"

#define DEVICE_NAME_MAX     64 /* bytes with the NUL; longer names are cut as base/utf8.h says */
#define DEVICE_COUNTERS_MAX 8
#define DEVICES_MAX         4096 /* of one collector; the rest are ignored */

struct device {
	char name[DEVICE_NAME_MAX]; /* valid UTF-8 */
	bool seen;                  /* by this tick */
	bool counted;               /* its traffic is not also that of another device */
	struct counter counter[DEVICE_COUNTERS_MAX];
};

struct devices {
	size_t n, room, expected; /* expected: where the next name was last time */
	struct device *device;
	bool changed; /* a device came or went since the owner last set this to false */
};

/*
 * The device of that name, made when it is new; seen is true from now on. NULL when this tick has
 * seen the name already or there are too many. The pointer is good until the next call.
 */
struct device *devices_see(struct devices *d, struct slice name);

/* Forgets what this tick has not seen. */
void devices_sweep(struct devices *d);
void devices_done(struct devices *d);

#endif
