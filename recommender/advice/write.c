/* A sizing in whole units, and pieces of text that the writers share. */
#include "recommender/advice/formats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "recommender/sizing/strategy.h"

/*
 * Less disk than this is not asked for: whoever asks for little gets little, where the default would have been
 * gigabytes, and logs and the like need room that no run shows.
 */
#define DISK_LEAST (1024 * MIB)

/* Up to whole thousandths; what floating point added to a whole one is not a reason for one more.
 */
static uint64_t millicores(double cores)
{
	return cores > 0 && cores < 1e6 ? (uint64_t)fmax(1, ceil(cores * 1000 - 1e-6)) : 0;
}

static uint64_t at_least(uint64_t limit, uint64_t request)
{
	return limit > request ? limit : request;
}

struct ask ask_of(const struct sizing *s)
{
	const struct demand *d = &s->demand;
	struct ask a = {
		.millicores = millicores(d->cpu_cores),
		.cpus = s->resources.cpu,
		.mib = s->resources.memory,
		.gpus = s->resources.gpu,
		.disk_mib = d->disk_bytes >= DISK_LEAST ? round_up_memory(d->disk_bytes) : 0,
	};

	if (s->cpu_cores_limit > 0)
		a.millicores_limit = at_least(millicores(s->cpu_cores_limit), a.millicores);
	a.mib_limit = a.mib;
	if (s->memory_bytes_limit > d->memory_bytes)
		a.mib_limit = at_least(round_up_memory(s->memory_bytes_limit), a.mib);
	if (s->duration_high > 0 && s->duration_high < 1e9)
		a.minutes = (uint64_t)fmax(10,
			ceil(2 * s->duration_high * fmax(1, s->cpu_slowdown) / 60));
	return a;
}

uint64_t megabytes(uint64_t mib)
{
	return (mib * 1048576 + 999999) / 1000000;
}

void add_cores(struct buf *out, uint64_t milli)
{
	buf_add_double(out, (double)milli / 1000);
}

void list_add(struct list *l, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (l->started)
		buf_adds(l->out, l->separator);
	l->started = true;
	buf_adds(l->out, text);
}
