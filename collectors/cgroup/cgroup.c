/* Reports limits and use of the control group that this exporter runs in: its container, slice or
 * job. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup/files.h"
#include "collectors/cgroup/find.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define CGROUP_METRICS(X) \
X(CPU_SECONDS, .name = "rightsize_cgroup_cpu_seconds", .unit = "seconds", \
  .help = "CPU time of the exporter's control group, from cpu.stat or cpuacct.usage", \
  .type = METRIC_COUNTER) \
X(CPU_THROTTLED_SECONDS, .name = "rightsize_cgroup_cpu_throttled_seconds", .unit = "seconds", \
  .help = "Time that the group's threads were held back by its CPU quota", .type = METRIC_COUNTER) \
X(CPU_PERIODS, .name = "rightsize_cgroup_cpu_periods", \
  .help = "Periods of the CPU quota in which the group had work to do", .type = METRIC_COUNTER) \
X(CPU_THROTTLED_PERIODS, .name = "rightsize_cgroup_cpu_throttled_periods", \
  .help = "Periods of the CPU quota in which the group was held back", .type = METRIC_COUNTER) \
X(CPU_LIMIT, .name = "rightsize_cgroup_cpu_limit_cores", .unit = "cores", \
  .help = "Smallest CPU quota of the group and those above it, absent without one") \
X(MEMORY_USAGE, .name = "rightsize_cgroup_memory_usage_bytes", .unit = "bytes", \
  .help = "Memory of the group, its page cache included, from memory.current or memory.usage_in_bytes") \
X(MEMORY_PEAK, .name = "rightsize_cgroup_memory_peak_bytes", .unit = "bytes", \
  .help = "High-water mark of the group's memory, from memory.peak or memory.max_usage_in_bytes") \
X(MEMORY_LIMIT, .name = "rightsize_cgroup_memory_limit_bytes", .unit = "bytes", \
  .help = "Smallest memory limit of the group and those above it, absent without one") \
X(SWAP_USAGE, .name = "rightsize_cgroup_swap_usage_bytes", .unit = "bytes", \
  .help = "Swap space in use by the group") \
X(MEMORY_ANON, .name = "rightsize_cgroup_memory_anon_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that programs made their own") \
X(MEMORY_CACHE, .name = "rightsize_cgroup_memory_cache_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is page cache, shared memory included") \
X(MEMORY_SHMEM, .name = "rightsize_cgroup_memory_shmem_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is shared memory or tmpfs") \
X(MEMORY_HUGE, .name = "rightsize_cgroup_memory_huge_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is in transparent huge pages of programs") \
X(MEMORY_HIGH_EVENTS, .name = "rightsize_cgroup_memory_high_events", \
  .help = "Times that the group was slowed down at memory.high; v2 only", .type = METRIC_COUNTER) \
X(MEMORY_MAX_EVENTS, .name = "rightsize_cgroup_memory_max_events", \
  .help = "Times that the group met its memory limit", .type = METRIC_COUNTER) \
X(MEMORY_OOM_EVENTS, .name = "rightsize_cgroup_memory_oom_events", \
  .help = "Times that an allocation was about to fail at the group's memory limit; v2 only", .type = METRIC_COUNTER) \
X(CPU_PRESSURE, .name = "rightsize_cgroup_cpu_pressure_seconds", .unit = "seconds", \
  .help = "Time in which some task of the group waited for a CPU (PSI); v2 only", .type = METRIC_COUNTER) \
X(MEMORY_PRESSURE, .name = "rightsize_cgroup_memory_pressure_seconds", .unit = "seconds", \
  .help = "Time in which some task of the group waited for memory (PSI); v2 only", .type = METRIC_COUNTER) \
X(IO_PRESSURE, .name = "rightsize_cgroup_io_pressure_seconds", .unit = "seconds", \
  .help = "Time in which some task of the group waited for storage (PSI); v2 only", .type = METRIC_COUNTER) \
X(IO_READ, .name = "rightsize_cgroup_io_read_bytes", .unit = "bytes", \
  .help = "Bytes that the group read from storage, all devices together", .type = METRIC_COUNTER) \
X(IO_WRITTEN, .name = "rightsize_cgroup_io_written_bytes", .unit = "bytes", \
  .help = "Bytes that the group wrote to storage, all devices together", .type = METRIC_COUNTER) \
X(OOM_KILLS, .name = "rightsize_cgroup_oom_kills", \
  .help = "Processes of the group that the kernel killed because memory ran out", .type = METRIC_COUNTER) \
X(TASKS, .name = "rightsize_cgroup_tasks", \
  .help = "Threads in the group, from pids.current") \
X(TASKS_LIMIT, .name = "rightsize_cgroup_tasks_limit", \
  .help = "Smallest limit of threads of the group and those above it, absent without one") \
X(VERSION, .name = "rightsize_cgroup", .labels = {"version"}, \
  .help = "Kind of control groups that the exporter runs in: v1, v2 or hybrid", .type = METRIC_INFO)
/* clang-format on */

enum { CGROUP_METRICS(METRIC_ID) CGROUP_N_METRICS };
static const struct metric cgroup_metrics[] = {CGROUP_METRICS(METRIC_ROW)};

/* The kernel counts each value in multiples of `unit`, for example 1e-6 for microseconds. `unit` 0
 * is for CPU time: ns in v1, us in v2. */
static const struct cgroup_number {
	unsigned id;
	enum cgroup_value value;
	double unit;
} rows[] = {
	{CPU_SECONDS, CGROUP_CPU_SECONDS, 0},
	{CPU_THROTTLED_SECONDS, CGROUP_CPU_THROTTLED_SECONDS, 0},
	{CPU_PERIODS, CGROUP_CPU_PERIODS, 1},
	{CPU_THROTTLED_PERIODS, CGROUP_CPU_THROTTLED_PERIODS, 1},
	{MEMORY_USAGE, CGROUP_MEMORY_BYTES, 1},
	{MEMORY_PEAK, CGROUP_MEMORY_PEAK_BYTES, 1},
	{SWAP_USAGE, CGROUP_SWAP_BYTES, 1},
	{MEMORY_ANON, CGROUP_MEMORY_ANON_BYTES, 1},
	{MEMORY_CACHE, CGROUP_MEMORY_CACHE_BYTES, 1},
	{MEMORY_SHMEM, CGROUP_MEMORY_SHMEM_BYTES, 1},
	{MEMORY_HUGE, CGROUP_MEMORY_HUGE_BYTES, 1},
	{MEMORY_HIGH_EVENTS, CGROUP_MEMORY_HIGH_EVENTS, 1},
	{MEMORY_MAX_EVENTS, CGROUP_MEMORY_MAX_EVENTS, 1},
	{MEMORY_OOM_EVENTS, CGROUP_MEMORY_OOM_EVENTS, 1},
	{OOM_KILLS, CGROUP_OOM_KILLS, 1},
	{CPU_PRESSURE, CGROUP_CPU_PRESSURE_SECONDS, 1e-6},
	{MEMORY_PRESSURE, CGROUP_MEMORY_PRESSURE_SECONDS, 1e-6},
	{IO_PRESSURE, CGROUP_IO_PRESSURE_SECONDS, 1e-6},
	{IO_READ, CGROUP_IO_READ_BYTES, 1},
	{IO_WRITTEN, CGROUP_IO_WRITTEN_BYTES, 1},
	{TASKS, CGROUP_TASKS, 1},
};

/* Every LIMITS_SECONDS, the limits are read again. Every FIND_SECONDS, the code finds out again
 * which group the exporter is in. */
#define LIMITS_SECONDS 10
#define FIND_SECONDS   60

struct cgroup_state {
	struct ration find_group, read_limits;
	int found; /* result of the last search for the group: 0 or a negative errno */
	struct cgroup group;
	struct cgroup_limits limits;
	struct cgroup_files files;
	struct counter counter[CGROUP_N_METRICS];
};

static void open_files(struct cgroup_state *s)
{
	uint32_t wanted = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		wanted |= CGROUP_WANT(rows[i].value);
	cgroup_files_open(&s->files, &s->group, wanted);
}

static bool same_group(const struct cgroup *a, const struct cgroup *b)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (a->place[i].version != b->place[i].version ||
			strcmp(a->place[i].path, b->place[i].path) != 0)
			return false;
	return true;
}

/* Finds the exporter's control group. If it is another group than before, counters continue from
 * their last value, because a Prometheus counter must not fall. */
static int find_group(struct cgroup_state *s, const struct host *host, struct err *e)
{
	struct cgroup found = {0};
	int code = cgroup_find(&found, host, "self", e);

	if (code < 0 || !same_group(&found, &s->group)) {
		cgroup_files_close(&s->files);
		s->group = found;
		s->read_limits = (struct ration){0};
		if (code == 0)
			open_files(s);
	}
	if (code < 0 && code != -ENOENT)
		s->find_group = (struct ration){0}; /* search again at the next tick */
	return code;
}

static void add_value(struct cgroup_state *s, const struct cgroup_number *r, double value,
	struct block *out)
{
	double cpu_unit = cgroup_cpu_place(&s->group)->version == 1 ? 1e-9 : 1e-6;
	double unit = r->unit > 0 ? r->unit : cpu_unit;
	double number = round(value / unit);

	if (number >= 0 && cgroup_metrics[r->id].type == METRIC_COUNTER)
		number = counter_follow(&s->counter[r->id],
			number < 0x1p64 ? (uint64_t)number : UINT64_MAX);
	POINT(out, r->id, number >= 0 ? number * unit : (double)NAN, NULL);
}

static const char *version_name(const struct cgroup *c)
{
	bool has[3] = {false};

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		has[c->place[i].version] = true;
	return has[1] && has[2] ? "hybrid" : has[1] ? "v1" : "v2";
}

static int cgroup_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct cgroup_state *s = state;
	double v[CGROUP_VALUES];

	if (ration_due(&s->find_group, host->now.mono, FIND_SECONDS))
		s->found = find_group(s, host, e);
	if (s->found < 0)
		return s->found;
	if (ration_due(&s->read_limits, host->now.mono, LIMITS_SECONDS))
		s->limits = cgroup_limits_read(&s->group, host);
	int code = cgroup_files_read(&s->files, host, v, e);

	if (code < 0)
		return code;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		add_value(s, &rows[i], v[rows[i].value], out);
	POINT(out, CPU_LIMIT, s->limits.cpu_cores, NULL);
	POINT(out, MEMORY_LIMIT, s->limits.memory_bytes, NULL);
	POINT(out, TASKS_LIMIT, s->limits.tasks, NULL);
	POINT(out, VERSION, 1, version_name(&s->group));
	return 0;
}

static int cgroup_start(void **ret, struct host *host, struct err *e)
{
	(void)host;
	(void)e;
	*ret = xcalloc(1, sizeof(struct cgroup_state));
	return 0;
}

static void cgroup_stop(void *state)
{
	struct cgroup_state *s = state;

	cgroup_files_close(&s->files);
	free(s);
}

const struct collector collector_cgroup = {
	.name = "cgroup",
	.help = "Limits and use of the exporter's own control group",
	.metrics = cgroup_metrics,
	.n_metrics = ARRAY_LEN(cgroup_metrics),
	.start = cgroup_start,
	.collect = cgroup_collect,
	.stop = cgroup_stop,
};
