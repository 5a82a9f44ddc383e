/* The memory of the whole machine. */
#ifndef COLLECTORS_MACHINE_MACHINE_MEMORY_H
#define COLLECTORS_MACHINE_MACHINE_MEMORY_H

#include "collectors/host.h"

/* Returns MemTotal of /proc/meminfo in bytes; NaN = unknown. Any thread may call it. */
double machine_memory_bytes(const struct host *h);

#endif
