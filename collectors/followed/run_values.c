#include "collectors/followed/run_values.h"

#include <math.h>

#include "collectors/base/mem.h"

static void take_waits(double *v, const uint64_t *total, const struct delay_reader *delays)
{
	if (!delays)
		return;
	v[RUN_CPU_WAIT_SECONDS] = (double)total[TREE_CPU_WAIT_NS] / 1e9;
	if (!delay_reader_counts_all(delays))
		return;
	v[RUN_IO_WAIT_SECONDS] = (double)total[TREE_IO_WAIT_NS] / 1e9;
	v[RUN_MEMORY_WAIT_SECONDS] = (double)total[TREE_MEMORY_WAIT_NS] / 1e9;
}

/* Sets the I/O values. If I/O has not been readable for any process so far, they are unknown (NaN),
 * not 0. */
static void take_io(double *v, const struct process_tree *tree)
{
	static const struct {
		unsigned metric, counter;
	} rows[] = {
		{RUN_DISK_READ_BYTES, TREE_READ_BYTES},
		{RUN_DISK_WRITTEN_BYTES, TREE_WRITTEN_BYTES},
		{RUN_READ_CHARS, TREE_READ_CHARS},
		{RUN_WRITTEN_CHARS, TREE_WRITTEN_CHARS},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		v[rows[i].metric] =
			tree->io_known ? (double)tree->total[rows[i].counter] : (double)NAN;
}

static void take_memory_kinds(double v[RUN_N_METRICS], const struct tree_now *now)
{
	static const unsigned metrics[MEMORY_KINDS] = {
		[MEMORY_ANONYMOUS] = RUN_MEMORY_ANONYMOUS_BYTES,
		[MEMORY_FILE] = RUN_MEMORY_FILE_BYTES,
		[MEMORY_SHMEM] = RUN_MEMORY_SHMEM_BYTES,
		[MEMORY_HUGETLB] = RUN_MEMORY_HUGETLB_BYTES,
	};
	bool alive = now->processes > 0;
	bool rolled_up = alive && now->pss_known;

	for (size_t i = 0; i < MEMORY_KINDS; i++)
		v[metrics[i]] =
			alive && now->kinds_known ? (double)now->kind_bytes[i] : (double)NAN;
	v[RUN_MEMORY_HUGE_BYTES] = rolled_up ? (double)now->huge_bytes : (double)NAN;
	v[RUN_MEMORY_PSS_AGE_SECONDS] = rolled_up ? now->pss_age_seconds : (double)NAN;
	v[RUN_MEMORY_PSS_DEFERRED] = alive ? (double)now->pss_deferred : (double)NAN;
}

void run_values_read(double v[RUN_N_METRICS], const struct process_tree *tree,
	const struct tree_now *now, const struct delay_reader *delays)
{
	const uint64_t *total = tree->total;
	bool alive = now->processes > 0;

	v[RUN_CPU_SECONDS] = (double)total[TREE_CPU_NS] / 1e9;
	v[RUN_CPU_SYSTEM_SECONDS] = (double)total[TREE_SYSTEM_NS] / 1e9;
	v[RUN_CPU_USER_SECONDS] = (double)(total[TREE_CPU_NS] - total[TREE_SYSTEM_NS]) / 1e9;
	take_io(v, tree);
	v[RUN_VOLUNTARY_SWITCHES] = (double)total[TREE_VOLUNTARY_SWITCHES];
	v[RUN_INVOLUNTARY_SWITCHES] = (double)total[TREE_INVOLUNTARY_SWITCHES];
	v[RUN_MINOR_FAULTS] = (double)total[TREE_MINOR_FAULTS];
	v[RUN_MAJOR_FAULTS] = (double)total[TREE_MAJOR_FAULTS];
	v[RUN_MEMORY_PEAK_BYTES] = tree->peak_bytes ? (double)tree->peak_bytes : NAN;
	v[RUN_MEMORY_PEAK_PROCESS_BYTES] =
		tree->peak_process_bytes ? (double)tree->peak_process_bytes : NAN;
	take_waits(v, total, delays);
	v[RUN_PROCESSES] = (double)now->processes;
	v[RUN_UNREADABLE_PROCESSES] = (double)now->unreadable;
	/* The following values are unknown (NaN), not 0, when no process is live. */
	v[RUN_THREADS] = alive ? (double)now->threads : NAN;
	v[RUN_MEMORY_BYTES] = alive ? (double)now->memory_bytes : NAN;
	v[RUN_MEMORY_RSS_BYTES] = alive ? (double)now->rss_bytes : NAN;
	v[RUN_MEMORY_PSS_BYTES] = alive && now->pss_known ? (double)now->pss_bytes : NAN;
	v[RUN_MEMORY_SWAP_BYTES] = alive ? (double)now->swap_bytes : NAN;
	take_memory_kinds(v, now);
	v[RUN_OPEN_FDS] = alive && now->open_fds_known ? (double)now->open_fds : NAN;
}

void run_values_tmpfs(double v[RUN_N_METRICS], const struct tree_now *now)
{
	double shmem = v[RUN_MEMORY_CGROUP_SHMEM_BYTES];
	bool known = now->processes > 0 && now->kinds_known && !isnan(shmem);

	v[RUN_MEMORY_TMPFS_BYTES] =
		known ? fmax(0, shmem - (double)now->shmem_counted) : (double)NAN;
}

void run_values_without_helpers(double final[RUN_N_METRICS], const struct process_tree *tree)
{
	const uint64_t *waited = tree->helpers_waited;
	double system = (double)waited[TREE_SYSTEM_NS] / 1e9;
	double user = (double)waited[TREE_CPU_NS] / 1e9 - system;
	const struct {
		enum run_metric metric;
		double helpers;
	} rows[] = {
		{RUN_CPU_SECONDS, user + system},
		{RUN_CPU_USER_SECONDS, user},
		{RUN_CPU_SYSTEM_SECONDS, system},
		{RUN_MINOR_FAULTS, (double)waited[TREE_MINOR_FAULTS]},
		{RUN_MAJOR_FAULTS, (double)waited[TREE_MAJOR_FAULTS]},
	};

	if (!tree->any_helper)
		return;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!isnan(final[rows[i].metric]))
			final[rows[i].metric] = fmax(final[rows[i].metric] - rows[i].helpers, 0);
	/* The peak from wait4(2) is the largest peak of all processes that were waited for. It may
	 * be the peak of a helper. */
	if (tree->peak_process_bytes &&
		final[RUN_MEMORY_PEAK_PROCESS_BYTES] <= (double)tree->helper_peak_bytes)
		final[RUN_MEMORY_PEAK_BYTES] = final[RUN_MEMORY_PEAK_PROCESS_BYTES] = NAN;
}

/* Raises the CPU times to the final figures. No time may fall, and user and system time must add up
 * to the total. If user and system time were unknown until now, those of the final figures are
 * used. */
static void take_final_cpu(double *v, const double *final)
{
	double total = fmax(final[RUN_CPU_SECONDS], v[RUN_CPU_SECONDS]);
	double system = final[RUN_CPU_SYSTEM_SECONDS];

	if (isnan(final[RUN_CPU_SECONDS]) || isnan(system) ||
		(total == v[RUN_CPU_SECONDS] && !isnan(v[RUN_CPU_SYSTEM_SECONDS])))
		return;
	double most = total - fmax(v[RUN_CPU_USER_SECONDS], 0);

	system = fmin(fmax(system, v[RUN_CPU_SYSTEM_SECONDS]), most);
	v[RUN_CPU_SECONDS] = total;
	v[RUN_CPU_SYSTEM_SECONDS] = system;
	/* Use fmax, because rounding may make `total - system` smaller than the user time in the
	 * last bit. */
	v[RUN_CPU_USER_SECONDS] = fmax(v[RUN_CPU_USER_SECONDS], total - system);
}

void run_values_final(double v[RUN_N_METRICS], const double final[RUN_N_METRICS],
	enum final_kind kind)
{
	take_final_cpu(v, final);
	for (size_t i = 0; i < RUN_N_METRICS; i++) {
		bool exact = kind == FINAL_EXACT && run_metrics[i].type != METRIC_COUNTER;

		if (isnan(final[i]) || i == RUN_CPU_SECONDS || i == RUN_CPU_USER_SECONDS ||
			i == RUN_CPU_SYSTEM_SECONDS)
			continue;
		if (exact || !(v[i] >= final[i]))
			v[i] = final[i];
	}
}
