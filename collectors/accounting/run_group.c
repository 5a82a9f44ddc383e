#include "collectors/accounting/run_group.h"

#include <math.h>

#include "collectors/base/mem.h"

/* A new process may be moved into the group a moment after its creation. Therefore the group's list
 * of processes is read at the first MOVE_LOOKS samples after a process was created. At other times,
 * the list is read at every LIST_LOOKS-th sample. */
#define MOVE_LOOKS 3
#define LIST_LOOKS 10

/* The metric of a run that each number of its control group fills. */
static const struct {
	enum cgroup_value from;
	enum run_metric to;
} group_rows[] = {
	{CGROUP_CPU_PRESSURE_SECONDS, RUN_CPU_PRESSURE_SECONDS},
	{CGROUP_MEMORY_PRESSURE_SECONDS, RUN_MEMORY_PRESSURE_SECONDS},
	{CGROUP_IO_PRESSURE_SECONDS, RUN_IO_PRESSURE_SECONDS},
	{CGROUP_MEMORY_BYTES, RUN_MEMORY_CGROUP_BYTES},
	{CGROUP_MEMORY_PEAK_BYTES, RUN_MEMORY_CGROUP_PEAK_BYTES},
	{CGROUP_MEMORY_CACHE_BYTES, RUN_MEMORY_CGROUP_CACHE_BYTES},
	{CGROUP_MEMORY_SHMEM_BYTES, RUN_MEMORY_CGROUP_SHMEM_BYTES},
	{CGROUP_MEMORY_HUGE_BYTES, RUN_MEMORY_CGROUP_HUGE_BYTES},
	{CGROUP_MEMORY_HIGH_EVENTS, RUN_MEMORY_HIGH_EVENTS},
	{CGROUP_MEMORY_MAX_EVENTS, RUN_MEMORY_MAX_EVENTS},
	{CGROUP_MEMORY_OOM_EVENTS, RUN_MEMORY_OOM_EVENTS},
	{CGROUP_OOM_KILLS, RUN_OOM_KILLS},
	{CGROUP_TASKS_PEAK, RUN_PIDS_PEAK},
};

void run_group_open(struct run_group *ret, const struct cgroup *own, const struct host *h)
{
	uint32_t wanted = CGROUP_WANT(CGROUP_CPU_SECONDS) | CGROUP_WANT(CGROUP_CPU_SYSTEM_SECONDS);

	for (size_t i = 0; i < ARRAY_LEN(group_rows); i++)
		wanted |= CGROUP_WANT(group_rows[i].from);
	*ret = (struct run_group){.kept = h->group_files};
	cgroup_files_open(&ret->files, own, wanted);
	if (descriptors_take(ret->kept, ret->files.n))
		ret->n_kept = ret->files.n;
	else
		cgroup_files_by_path(&ret->files);
}

void run_group_close(struct run_group *g)
{
	cgroup_files_close(&g->files);
	descriptors_give(g->kept, g->n_kept);
	g->n_kept = 0;
}

bool run_group_due(struct run_group *g, uint64_t births)
{
	if (!births || births != g->births)
		g->looks = 0;
	g->births = births;
	return g->looks++ < MOVE_LOOKS || ++g->all_looks % LIST_LOOKS == 0;
}

void run_group_count_from(struct run_group *g, const struct host *h, double cpu_seconds)
{
	double v[CGROUP_VALUES];

	cgroup_files_read(&g->files, h, v, NULL);
	for (size_t i = 0; i < ARRAY_LEN(group_rows); i++) {
		const struct metric *to = &run_metrics[group_rows[i].to];

		if (to->fold == FOLD_PEAK)
			g->before[group_rows[i].from] = NAN;
		else if (to->type == METRIC_COUNTER)
			g->before[group_rows[i].from] = v[group_rows[i].from];
	}
	g->before[CGROUP_CPU_SECONDS] = cpu_seconds;
	g->before[CGROUP_CPU_SYSTEM_SECONDS] =
		v[CGROUP_CPU_SYSTEM_SECONDS] * cpu_seconds / v[CGROUP_CPU_SECONDS];
}

void run_group_read(struct run_group *g, const struct host *h, double value[RUN_N_METRICS],
	double v[CGROUP_VALUES])
{
	cgroup_files_read(&g->files, h, v, NULL);
	/* A value below `before` comes from a new group at the same path. The run's value is then
	 * unknown. */
	for (size_t i = 0; i < CGROUP_VALUES; i++)
		v[i] = v[i] < g->before[i] ? (double)NAN : v[i] - g->before[i];
	for (size_t i = 0; i < ARRAY_LEN(group_rows); i++)
		if (!isnan(v[group_rows[i].from]) ||
			run_metrics[group_rows[i].to].fold == FOLD_VALUE)
			value[group_rows[i].to] = v[group_rows[i].from];
}
