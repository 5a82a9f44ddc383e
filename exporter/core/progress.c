#include "exporter/core/progress.h"

#include <stddef.h>

void progress_note(struct progress *p, const char *unit, uint64_t done, uint64_t total)
{
	if (!p)
		return;
	atomic_store(&p->done, done);
	atomic_store(&p->total, total);
	atomic_store(&p->unit, unit);
}
