/* Limits and use of the control group that this exporter runs in: its container, slice or job. */
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
  .help = "Smallest CPU quota of the group and those above it, absent without one", .type = METRIC_GAUGE) \
X(MEMORY_USAGE, .name = "rightsize_cgroup_memory_usage_bytes", .unit = "bytes", \
  .help = "Memory of the group, its page cache included, from memory.current or memory.usage_in_bytes", \
  .type = METRIC_GAUGE) \
X(MEMORY_PEAK, .name = "rightsize_cgroup_memory_peak_bytes", .unit = "bytes", \
  .help = "High-water mark of the group's memory, from memory.peak or memory.max_usage_in_bytes", \
  .type = METRIC_GAUGE) \
X(MEMORY_LIMIT, .name = "rightsize_cgroup_memory_limit_bytes", .unit = "bytes", \
  .help = "Smallest memory limit of the group and those above it, absent without one", .type = METRIC_GAUGE) \
X(SWAP_USAGE, .name = "rightsize_cgroup_swap_usage_bytes", .unit = "bytes", \
  .help = "Swap space in use by the group", .type = METRIC_GAUGE) \
X(MEMORY_ANON, .name = "rightsize_cgroup_memory_anon_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that programs made their own", .type = METRIC_GAUGE) \
X(MEMORY_CACHE, .name = "rightsize_cgroup_memory_cache_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is page cache, shared memory included", .type = METRIC_GAUGE) \
X(MEMORY_SHMEM, .name = "rightsize_cgroup_memory_shmem_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is shared memory or tmpfs", .type = METRIC_GAUGE) \
X(MEMORY_HUGE, .name = "rightsize_cgroup_memory_huge_bytes", .unit = "bytes", \
  .help = "Part of the group's memory that is in transparent huge pages of programs", .type = METRIC_GAUGE) \
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
  .help = "Processes of the group that the kernel killed for want of memory", .type = METRIC_COUNTER) \
X(TASKS, .name = "rightsize_cgroup_tasks", \
  .help = "Threads in the group, from pids.current", .type = METRIC_GAUGE) \
X(TASKS_LIMIT, .name = "rightsize_cgroup_tasks_limit", \
  .help = "Smallest limit of threads of the group and those above it, absent without one", \
  .type = METRIC_GAUGE) \
X(VERSION, .name = "rightsize_cgroup", .labels = {"version"}, \
  .help = "Kind of control groups that the exporter runs in: v1, v2 or hybrid", .type = METRIC_INFO)
/* clang-format on */

enum { CGROUP_METRICS(METRIC_ID) CGROUP_N_METRICS };
static const struct metric cgroup_metrics[] = {CGROUP_METRICS(METRIC_ROW)};

/* Where each number is. Rows of the same file follow one another; it is then read once. */
struct row {
	unsigned id;
	enum cgroup_controller controller;
	int version;
	const char *file, *key; /* key NULL: the file is the number */
	double unit;
};

static const struct row rows[] = {
	{CPU_SECONDS, CGROUP_CPU, 2, "cpu.stat", "usage_usec", 1e-6},
	{CPU_PERIODS, CGROUP_CPU, 2, "cpu.stat", "nr_periods", 1},
	{CPU_THROTTLED_PERIODS, CGROUP_CPU, 2, "cpu.stat", "nr_throttled", 1},
	{CPU_THROTTLED_SECONDS, CGROUP_CPU, 2, "cpu.stat", "throttled_usec", 1e-6},
	{CPU_SECONDS, CGROUP_CPUACCT, 1, "cpuacct.usage", NULL, 1e-9},
	{CPU_PERIODS, CGROUP_CPU, 1, "cpu.stat", "nr_periods", 1},
	{CPU_THROTTLED_PERIODS, CGROUP_CPU, 1, "cpu.stat", "nr_throttled", 1},
	{CPU_THROTTLED_SECONDS, CGROUP_CPU, 1, "cpu.stat", "throttled_time", 1e-9},
	{MEMORY_USAGE, CGROUP_MEMORY, 2, "memory.current", NULL, 1},
	{MEMORY_PEAK, CGROUP_MEMORY, 2, "memory.peak", NULL, 1},
	/* In v1 it is in memory.stat: what memory.memsw counts beyond memory is read at another instant than that. */
	{SWAP_USAGE, CGROUP_MEMORY, 2, "memory.swap.current", NULL, 1},
	{OOM_KILLS, CGROUP_MEMORY, 2, "memory.events", "oom_kill", 1},
	{MEMORY_USAGE, CGROUP_MEMORY, 1, "memory.usage_in_bytes", NULL, 1},
	{MEMORY_PEAK, CGROUP_MEMORY, 1, "memory.max_usage_in_bytes", NULL, 1},
	{OOM_KILLS, CGROUP_MEMORY, 1, "memory.oom_control", "oom_kill", 1},
	{TASKS, CGROUP_PIDS, 2, "pids.current", NULL, 1},
	{TASKS, CGROUP_PIDS, 1, "pids.current", NULL, 1},
};

/* What collectors/cgroup/files.c reads; unit: of the whole number that is counted. */
static const struct {
	unsigned id;
	enum cgroup_value value;
	double unit;
} more_rows[] = {
	{MEMORY_ANON, CGROUP_MEMORY_ANON_BYTES, 1},
	{MEMORY_CACHE, CGROUP_MEMORY_CACHE_BYTES, 1},
	{MEMORY_SHMEM, CGROUP_MEMORY_SHMEM_BYTES, 1},
	{MEMORY_HUGE, CGROUP_MEMORY_HUGE_BYTES, 1},
	{SWAP_USAGE, CGROUP_SWAP_BYTES, 1},
	{MEMORY_HIGH_EVENTS, CGROUP_MEMORY_HIGH_EVENTS, 1},
	{MEMORY_MAX_EVENTS, CGROUP_MEMORY_MAX_EVENTS, 1},
	{MEMORY_OOM_EVENTS, CGROUP_MEMORY_OOM_EVENTS, 1},
	{CPU_PRESSURE, CGROUP_CPU_PRESSURE_SECONDS, 1e-6},
	{MEMORY_PRESSURE, CGROUP_MEMORY_PRESSURE_SECONDS, 1e-6},
	{IO_PRESSURE, CGROUP_IO_PRESSURE_SECONDS, 1e-6},
	{IO_READ, CGROUP_IO_READ_BYTES, 1},
	{IO_WRITTEN, CGROUP_IO_WRITTEN_BYTES, 1},
};

/* How often limits are read again, and how often the group itself is looked up. */
#define LIMITS_SECONDS 10
#define FIND_SECONDS   60

struct file {
	char path[CGROUP_FILE_MAX];
	struct source source;
};

struct state {
	struct ration find, read_limits;
	int found; /* 0, or why there is no group */
	struct cgroup group;
	struct cgroup_limits limits;
	struct cgroup_files files;
	struct file file[ARRAY_LEN(rows)]; /* of the first row of each file that is in use */
	struct counter counter[CGROUP_N_METRICS];
};

static bool in_use(const struct state *s, const struct row *r)
{
	return s->group.place[r->controller].version == r->version;
}

static bool same_file(const struct row *a, const struct row *b)
{
	return a->version == b->version && a->controller == b->controller &&
	       strcmp(a->file, b->file) == 0;
}

static void close_files(struct state *s)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		source_close(&s->file[i].source);
	cgroup_files_close(&s->files);
}

static void open_files(struct state *s)
{
	uint32_t wanted = 0;

	for (size_t i = 0; i < ARRAY_LEN(more_rows); i++)
		wanted |= CGROUP_WANT(more_rows[i].value);
	cgroup_files_open(&s->files, &s->group, wanted);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct cgroup_place *place = &s->group.place[rows[i].controller];
		struct file *f = &s->file[i];

		if (!in_use(s, &rows[i]) || (i > 0 && same_file(&rows[i - 1], &rows[i])))
			continue;
		cgroup_file(place, rows[i].file, f->path);
		source_open(&f->source, place->tree, f->path);
	}
}

static bool same_group(const struct cgroup *a, const struct cgroup *b)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (a->place[i].version != b->place[i].version ||
			strcmp(a->place[i].path, b->place[i].path) != 0)
			return false;
	return true;
}

/* Counters go on when the exporter was moved to another group, so that they never fall. */
static int find(struct state *s, const struct host *host, struct err *e)
{
	struct cgroup found = {0};
	int code = cgroup_find(&found, host, "self", e);

	if (code < 0 || !same_group(&found, &s->group)) {
		close_files(s);
		s->group = found;
		s->read_limits = (struct ration){0};
		if (code == 0)
			open_files(s);
	}
	if (code < 0 && code != -ENOENT)
		s->find = (struct ration){0}; /* again at the next tick */
	return code;
}

/* All that is read every tick, unknown where this group has no such file. */
static int read_rows(struct state *s, const struct host *host, uint64_t raw[CGROUP_N_METRICS],
	double unit[CGROUP_N_METRICS], struct err *e)
{
	struct scan text = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		struct err why = {0};

		if (!in_use(s, r))
			continue;
		if (i == 0 || !same_file(&rows[i - 1], r)) {
			int code = source_read(&s->file[i].source, host, &text, &why);

			if (code < 0 && !code_means_absent(code))
				return err_set(e, code, "%s", why.text);
			if (code < 0)
				text = SCAN(host->scratch, 0);
		}
		struct scan number = text;

		unit[r->id] = r->unit;
		if (r->key)
			raw[r->id] = number_find(text, r->key);
		else if (!scan_u64(&number, &raw[r->id]))
			raw[r->id] = NUMBER_UNKNOWN;
	}
	return 0;
}

static void read_more(struct state *s, const struct host *host, uint64_t raw[CGROUP_N_METRICS],
	double unit[CGROUP_N_METRICS])
{
	double v[CGROUP_VALUES];

	cgroup_files_read(&s->files, host, v);
	for (size_t i = 0; i < ARRAY_LEN(more_rows); i++) {
		double number = round(v[more_rows[i].value] / more_rows[i].unit);

		unit[more_rows[i].id] = more_rows[i].unit;
		if (number >= 0 && number < 0x1p63)
			raw[more_rows[i].id] = (uint64_t)number;
	}
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
	struct state *s = state;
	uint64_t raw[CGROUP_N_METRICS];
	double unit[CGROUP_N_METRICS] = {0};

	if (ration_due(&s->find, host->now.mono, FIND_SECONDS))
		s->found = find(s, host, e);
	if (s->found < 0)
		return s->found;
	if (ration_due(&s->read_limits, host->now.mono, LIMITS_SECONDS))
		s->limits = cgroup_limits_read(&s->group, host);
	for (size_t i = 0; i < CGROUP_N_METRICS; i++)
		raw[i] = NUMBER_UNKNOWN;
	int code = read_rows(s, host, raw, unit, e);
	if (code < 0)
		return code;
	read_more(s, host, raw, unit);
	for (unsigned id = 0; id < CGROUP_N_METRICS; id++) {
		double v = cgroup_metrics[id].type == METRIC_COUNTER ?
				   counter_follow(&s->counter[id], raw[id]) :
				   number_value(raw[id]);

		POINT(out, id, v * unit[id], NULL);
	}
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
	*ret = xcalloc(1, sizeof(struct state));
	return 0;
}

static void cgroup_stop(void *state)
{
	close_files(state);
	free(state);
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
