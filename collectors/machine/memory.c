/* Memory of the machine, from /proc/meminfo (proc_meminfo(5)). */
#include <errno.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define MEMORY_METRICS(X) \
X(MEMORY_TOTAL, .name = "rightsize_memory_total_bytes", .unit = "bytes", \
  .help = "Memory that the kernel manages, MemTotal of /proc/meminfo") \
X(MEMORY_AVAILABLE, .name = "rightsize_memory_available_bytes", .unit = "bytes", \
  .help = "Memory that can still be allocated without swapping: the kernel's estimate MemAvailable") \
X(MEMORY_USED, .name = "rightsize_memory_used_bytes", .unit = "bytes", \
  .help = "MemTotal less MemAvailable", \
  .fold = FOLD_VALUE, .column = "system_memory_used_bytes") \
X(MEMORY_FREE, .name = "rightsize_memory_free_bytes", .unit = "bytes", \
  .help = "Memory that is used for nothing at all, MemFree", \
  .fold = FOLD_VALUE, .column = "system_memory_free_bytes") \
X(MEMORY_BUFFERS, .name = "rightsize_memory_buffers_bytes", .unit = "bytes", \
  .help = "Cache of block devices, Buffers", \
  .fold = FOLD_VALUE, .column = "system_memory_buffers_bytes") \
X(MEMORY_CACHED, .name = "rightsize_memory_cached_bytes", .unit = "bytes", \
  .help = "Page cache and reclaimable kernel memory, Cached and SReclaimable together", \
  .fold = FOLD_VALUE, .column = "system_memory_cached_bytes") \
X(MEMORY_ACTIVE, .name = "rightsize_memory_active_bytes", .unit = "bytes", \
  .help = "Memory used recently, Active", \
  .fold = FOLD_VALUE, .column = "system_memory_active_bytes") \
X(MEMORY_INACTIVE, .name = "rightsize_memory_inactive_bytes", .unit = "bytes", \
  .help = "Memory not used recently, the first to be reclaimed, Inactive", \
  .fold = FOLD_VALUE, .column = "system_memory_inactive_bytes") \
X(MEMORY_SHARED, .name = "rightsize_memory_shared_bytes", .unit = "bytes", \
  .help = "Shared memory and tmpfs, part of the cached bytes, Shmem") \
X(MEMORY_DIRTY, .name = "rightsize_memory_dirty_bytes", .unit = "bytes", \
  .help = "Page cache that waits to be written to storage, Dirty") \
X(MEMORY_WRITEBACK, .name = "rightsize_memory_writeback_bytes", .unit = "bytes", \
  .help = "Page cache that is being written to storage, Writeback") \
X(SWAP_TOTAL, .name = "rightsize_swap_total_bytes", .unit = "bytes", \
  .help = "Size of the swap space, SwapTotal") \
X(SWAP_FREE, .name = "rightsize_swap_free_bytes", .unit = "bytes", \
  .help = "Swap space not in use, SwapFree")
/* clang-format on */

enum { MEMORY_METRICS(METRIC_ID) MEMORY_N_METRICS };
static const struct metric memory_metrics[] = {MEMORY_METRICS(METRIC_ROW)};

/* Keys with the same metric are added up. A key that the kernel lacks is left out of the sum. */
/* clang-format off */
static const struct {
	const char *key;
	unsigned id;
} fields[] = {
	{"MemTotal", MEMORY_TOTAL}, {"MemFree", MEMORY_FREE}, {"MemAvailable", MEMORY_AVAILABLE},
	{"Buffers", MEMORY_BUFFERS}, {"Cached", MEMORY_CACHED}, {"Active", MEMORY_ACTIVE},
	{"Inactive", MEMORY_INACTIVE}, {"SwapTotal", SWAP_TOTAL}, {"SwapFree", SWAP_FREE},
	{"Dirty", MEMORY_DIRTY}, {"Writeback", MEMORY_WRITEBACK}, {"Shmem", MEMORY_SHARED},
	{"SReclaimable", MEMORY_CACHED},
};
/* clang-format on */

static void parse_meminfo(struct scan text, double value[MEMORY_N_METRICS])
{
	bool seen[ARRAY_LEN(fields)] = {false};
	struct scan line;
	/* The kernel prints the keys in the order of `fields`. All rows before `first` have been
	 * found, so the search for a key starts at `first`. */
	size_t first = 0;

	for (size_t i = 0; i < MEMORY_N_METRICS; i++)
		value[i] = NAN;
	while (scan_line(&text, &line)) {
		struct slice key;
		uint64_t kib;

		if (!scan_until(&line, ':', &key) || !scan_u64(&line, &kib))
			continue;
		for (size_t i = first; i < ARRAY_LEN(fields); i++) {
			if (seen[i] || !slice_is(key, fields[i].key))
				continue;
			double bytes = number_value(number_from_kib(kib));
			double *sum = &value[fields[i].id];

			seen[i] = true;
			*sum = isnan(*sum) ? bytes : *sum + bytes;
			break;
		}
		while (first < ARRAY_LEN(fields) && seen[first])
			first++;
	}
	if (value[MEMORY_AVAILABLE] <= value[MEMORY_TOTAL])
		value[MEMORY_USED] = value[MEMORY_TOTAL] - value[MEMORY_AVAILABLE];
}

static int memory_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct scan text;
	double value[MEMORY_N_METRICS];
	int code = kernel_file_read(state, host, &text, e);

	if (code < 0)
		return code;
	parse_meminfo(text, value);
	if (isnan(value[MEMORY_TOTAL]))
		return err_set(e, -EBADMSG, "proc/meminfo has no line \"MemTotal\" with a number");
	for (unsigned i = 0; i < MEMORY_N_METRICS; i++)
		POINT(out, i, value[i], NULL);
	return 0;
}

static int memory_start(void **ret, struct host *host, struct err *e)
{
	struct kernel_file *meminfo = xcalloc(1, sizeof *meminfo);

	(void)e;
	kernel_file_open(meminfo, host->proc, "meminfo");
	*ret = meminfo;
	return 0;
}

static void memory_stop(void *state)
{
	kernel_file_close(state);
	free(state);
}

const struct collector collector_memory = {
	.name = "memory",
	.help = "Memory and swap of the machine",
	.metrics = memory_metrics,
	.n_metrics = ARRAY_LEN(memory_metrics),
	.start = memory_start,
	.collect = memory_collect,
	.stop = memory_stop,
};
