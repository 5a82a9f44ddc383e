/* A table of disks or network interfaces by name, which keeps their counters from tick to tick. In
 * each tick, call devices_see for every device that exists now, and then devices_sweep. After
 * devices_sweep the table has exactly these devices. */
#ifndef COLLECTORS_MACHINE_DEVICES_H
#define COLLECTORS_MACHINE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/scan.h"
#include "collectors/kernel_file.h"

#define DEVICE_NAME_MAX     64 /* bytes, NUL included; utf8_clean cuts longer names */
#define DEVICE_COUNTERS_MAX 8
#define DEVICES_MAX         4096 /* per collector; further devices are ignored */

struct device {
	char name[DEVICE_NAME_MAX]; /* valid UTF-8 */
	bool seen;                  /* the current tick has seen the device */
	bool counted; /* true = reported; false = another device counts the same traffic */
	struct counter counter[DEVICE_COUNTERS_MAX];
};

struct devices {
	size_t n, room, expected; /* `expected`: index where the next search starts */
	struct device *device;
	bool changed; /* a device came or went; the owner sets it back to false */
};

/* Finds the device called `name`, or adds it, and marks it as seen in this tick. Returns NULL when
 * the name was already seen in this tick, or when the table has DEVICES_MAX devices. The pointer is
 * valid until the next call. */
struct device *devices_see(struct devices *d, struct slice name);

/* Removes the devices that were not seen in this tick, and begins the next tick. */
void devices_sweep(struct devices *d);
void devices_done(struct devices *d);

#endif
