#include "collectors/machine/machine_memory.h"

#include <math.h>
#include <stdint.h>

#include "collectors/base/number.h"
#include "collectors/base/tree.h"

double machine_memory_bytes(const struct host *h)
{
	char text[256];
	ssize_t n = tree_head(h->proc, "meminfo", text, sizeof text);
	uint64_t kib;

	return number_find(SCAN(text, n > 0 ? n : 0), "MemTotal", &kib) ?
		       number_value(number_from_kib(kib)) :
		       (double)NAN;
}
