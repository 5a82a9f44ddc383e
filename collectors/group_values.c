/* From a group's files to a run's values. */
#include "collectors/group_values.h"

#include <math.h>

#include "collectors/base/mem.h"

/* Where each number of a group goes. */
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
};

struct group_counts group_values_read(struct cgroup_files *files, const struct host *h,
	double value[RUN_N_METRICS])
{
	double v[CGROUP_VALUES];

	cgroup_files_read(files, h, v);
	for (size_t i = 0; i < ARRAY_LEN(group_rows); i++)
		if (!isnan(v[group_rows[i].from]) ||
			run_metrics[group_rows[i].to].fold == FOLD_VALUE)
			value[group_rows[i].to] = v[group_rows[i].from];
	return (struct group_counts){
		v[CGROUP_CPU_SECONDS], v[CGROUP_CPU_SYSTEM_SECONDS], v[CGROUP_OOM_KILLS]};
}
