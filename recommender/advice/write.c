/* Writes a sizing in one format. */
#include "recommender/advice/formats.h"

#include <inttypes.h>
#include <math.h>

#include "recommender/sizing/strategy.h"
#include "collectors/base/buf.h"
#include "recommender/advice/advice.h"

/* Disk requests below this size are left out. A request would replace the default disk of several
 * gigabytes. A small disk would have no room for logs, and the history of runs does not count
 * logs. */
#define DISK_LEAST (1024 * MIB)

/* Returns thousandths of a core, rounded up; 1e-6 absorbs floating-point errors. 0 = unknown. */
static uint64_t millicores(double cores)
{
	return cores > 0 && cores < 1e6 ? (uint64_t)fmax(1, ceil(cores * 1000 - 1e-6)) : 0;
}

static uint64_t at_least(uint64_t limit, uint64_t request)
{
	return limit > request ? limit : request;
}

static uint64_t advice_megabytes(uint64_t mib)
{
	return (mib * 1048576 + 999999) / 1000000;
}

static void cpu_numbers(const struct sizing *s, uint64_t n[ADVICE_NUMBERS])
{
	n[CPUS] = s->resources.cpu;
	n[MILLICORES] = n[CORES] = millicores(s->demand.cpu_cores);
	if (s->cpu_cores_limit > 0)
		n[MILLICORES_LIMIT] = at_least(millicores(s->cpu_cores_limit), n[MILLICORES]);
	n[CORES_LIMIT] = n[MILLICORES_LIMIT];
	n[MILLICORES_MOST] = at_least(n[MILLICORES_LIMIT], n[MILLICORES]);
	n[CPU_PERCENT_LIMIT] = (n[MILLICORES_LIMIT] + 9) / 10;
	n[CPU_LIFTED] = n[MILLICORES] && !n[MILLICORES_LIMIT];
}

static void memory_numbers(const struct sizing *s, uint64_t n[ADVICE_NUMBERS])
{
	double economy = s->memory_at_risk[RISK_ECONOMY];
	uint64_t mib = s->resources.memory, low = economy > 0 ? sizing_round_up(economy) : 0;

	n[MEMORY_MIB] = n[MEMORY_MIB_LIMIT] = mib;
	n[MEMORY_MIB_LOW] = low && low < mib ? low : mib;
	if (s->memory_bytes_limit > s->demand.memory_bytes)
		n[MEMORY_MIB_LIMIT] = at_least(sizing_round_up(s->memory_bytes_limit), mib);
	n[MEMORY_MIB_DASK] = (mib * 100 + 94) / 95;
	n[MEMORY_MB] = advice_megabytes(mib);
	n[MEMORY_BYTES] = mib * 1048576;
}

static void numbers_of(const struct sizing *s, uint64_t n[ADVICE_NUMBERS])
{
	double disk = s->demand.disk_bytes, longest = s->duration_high;

	cpu_numbers(s, n);
	memory_numbers(s, n);
	n[GPUS] = s->resources.gpu;
	n[DISK_MIB] = n[DISK_LIFTED] = disk >= DISK_LEAST ? sizing_round_up(disk) : 0;
	n[DISK_MB] = advice_megabytes(n[DISK_MIB]);
	if (longest > 0 && longest < 1e9)
		n[MINUTES] = (uint64_t)fmax(10, ceil(2 * longest * fmax(1, s->cpu_slowdown) / 60));
}

static void add_number(struct buf *out, enum advice_number which, uint64_t n)
{
	if (which == CORES || which == CORES_LIMIT)
		buf_add_double(out, (double)n / 1000);
	else if (which == MINUTES) /* Slurm accepts any number of hours. */
		buf_addf(out, "%02" PRIu64 ":%02" PRIu64 ":00", n / 60, n % 60);
	else if (which != CPU_LIFTED && which != DISK_LIFTED)
		buf_add_u64(out, n);
}

static bool is_written(const struct advice_piece *p, const uint64_t n[ADVICE_NUMBERS])
{
	return n[p->number] || p->always;
}

static bool has_any(const struct advice_section *s, const uint64_t n[ADVICE_NUMBERS])
{
	for (const struct advice_piece *p = s->piece; p->number; p++)
		if (is_written(p, n))
			return true;
	return false;
}

static void add_section(struct buf *out, const struct advice_section *s,
	const uint64_t n[ADVICE_NUMBERS])
{
	const char *between = "";

	if (s->optional && !has_any(s, n))
		return;
	buf_adds(out, s->start);
	for (const struct advice_piece *p = s->piece; p->number; p++) {
		if (!is_written(p, n))
			continue;
		buf_adds(out, between);
		buf_adds(out, p->before);
		add_number(out, p->number, n[p->number]);
		if (p->after)
			buf_adds(out, p->after);
		between = s->between;
	}
	buf_adds(out, s->end);
}

void advice_write(struct buf *out, const struct advice_format *f, const struct sizing *s)
{
	const struct advice_layout *l = f->layout;
	uint64_t n[ADVICE_NUMBERS] = {0};

	numbers_of(s, n);
	if (l->nothing && !has_any(l->section, n)) {
		buf_adds(out, l->nothing);
		return;
	}
	for (const struct advice_section *section = l->section; section->piece; section++)
		add_section(out, section, n);
}
