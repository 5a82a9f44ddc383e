#include "exporter/core/signals.h"

#include "collectors/base/mem.h"

void signals_end(sigset_t *ret)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGQUIT};

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaddset(ret, ends[i]);
}
