#include "recommender/kept_statistics.h"

#include <math.h>

#include "collectors/base/mem.h"

/* clang-format off */
const struct kept_column kept_columns[] = {
	{"context_switches_involuntary", STATISTICS_TOTAL},
	{"context_switches_voluntary", STATISTICS_TOTAL},
	{"cpu_cores", STATISTICS_LEVEL_AND_MIN},
	{"cpu_pressure_seconds", STATISTICS_TOTAL},
	{"cpu_seconds", STATISTICS_TOTAL},
	{"cpu_system_seconds", STATISTICS_TOTAL},
	{"cpu_throttled_seconds", STATISTICS_TOTAL},
	{"cpu_user_seconds", STATISTICS_TOTAL},
	{"cpu_wait_seconds", STATISTICS_TOTAL},
	{"disk_grown_bytes", STATISTICS_PEAK},
	{"disk_read_bytes", STATISTICS_TOTAL},
	{"disk_read_bytes_per_second", STATISTICS_LEVEL},
	{"disk_written_bytes", STATISTICS_TOTAL},
	{"disk_written_bytes_per_second", STATISTICS_LEVEL},
	{"gpu_usage", STATISTICS_PEAK_AND_MEAN},
	{"gpus_used", STATISTICS_PEAK},
	{"io_pressure_seconds", STATISTICS_TOTAL},
	{"io_wait_seconds", STATISTICS_TOTAL},
	{"memory_anonymous_bytes", STATISTICS_LEVEL},
	{"memory_bytes", STATISTICS_LEVEL},
	{"memory_cgroup_peak_bytes", STATISTICS_PEAK},
	{"memory_cgroup_shmem_bytes", STATISTICS_PEAK},
	{"memory_file_bytes", STATISTICS_LEVEL},
	{"memory_huge_bytes", STATISTICS_LEVEL},
	{"memory_hugetlb_bytes", STATISTICS_LEVEL},
	{"memory_max_events", STATISTICS_TOTAL},
	{"memory_oom_events", STATISTICS_TOTAL},
	{"memory_peak_bytes", STATISTICS_PEAK},
	{"memory_peak_process_bytes", STATISTICS_PEAK},
	{"memory_pressure_seconds", STATISTICS_TOTAL},
	{"memory_pss_age_seconds", STATISTICS_LEVEL},
	{"memory_pss_bytes", STATISTICS_LEVEL},
	{"memory_pss_deferred_processes", STATISTICS_PEAK},
	{"memory_rss_bytes", STATISTICS_LEVEL},
	{"memory_shmem_bytes", STATISTICS_LEVEL},
	{"memory_swap_bytes", STATISTICS_LEVEL},
	{"memory_tmpfs_bytes", STATISTICS_LEVEL},
	{"memory_wait_seconds", STATISTICS_TOTAL},
	{"network_received_bytes", STATISTICS_TOTAL},
	{"network_sent_bytes", STATISTICS_TOTAL},
	{"oom_kills", STATISTICS_TOTAL},
	{"open_fds", STATISTICS_LEVEL},
	{"page_faults_major", STATISTICS_TOTAL},
	{"page_faults_minor", STATISTICS_TOTAL},
	{"pids_limit", STATISTICS_PEAK},
	{"pids_peak", STATISTICS_PEAK},
	{"pids_refused", STATISTICS_TOTAL},
	{"processes", STATISTICS_LEVEL},
	{"read_chars", STATISTICS_TOTAL},
	{"system_disk_space_used_bytes", STATISTICS_RANGE},
	{"system_network_received_bytes", STATISTICS_TOTAL},
	{"system_network_sent_bytes", STATISTICS_TOTAL},
	{"threads", STATISTICS_LEVEL},
	{"vram_bytes", STATISTICS_PEAK_AND_MEAN},
	{"vram_peak_bytes", STATISTICS_PEAK},
	{"written_chars", STATISTICS_TOTAL},
};
/* clang-format on */
const size_t kept_columns_n = ARRAY_LEN(kept_columns);

const char *const statistic_name[] = {
	[STATISTIC_N] = "n",
	[STATISTIC_SUM] = "sum",
	[STATISTIC_MAX] = "max",
	[STATISTIC_P99] = "p99",
	[STATISTIC_P95] = "p95",
	[STATISTIC_P50] = "p50",
	[STATISTIC_MIN] = "min",
	[STATISTIC_MEAN] = "mean",
};

static const size_t offset_of[] = {
	[STATISTIC_SUM] = offsetof(struct distribution, sum),
	[STATISTIC_MAX] = offsetof(struct distribution, max),
	[STATISTIC_P99] = offsetof(struct distribution, p99),
	[STATISTIC_P95] = offsetof(struct distribution, p95),
	[STATISTIC_P50] = offsetof(struct distribution, p50),
	[STATISTIC_MIN] = offsetof(struct distribution, min),
	[STATISTIC_MEAN] = offsetof(struct distribution, mean),
};

double statistic_get(const struct distribution *d, enum statistic s)
{
	if (s == STATISTIC_N)
		return (double)d->n;
	return *(const double *)(const void *)((const char *)d + offset_of[s]);
}

void statistic_set(struct distribution *d, enum statistic s, double v)
{
	if (s == STATISTIC_N)
		d->n = v >= 0 && v <= 0x1p53 ? (uint64_t)v : 0;
	else
		*(double *)(void *)((char *)d + offset_of[s]) = v;
}
