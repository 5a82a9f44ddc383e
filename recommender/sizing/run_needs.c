/* The needs of one run, their summary over runs, and rounding. */
#include "recommender/sizing/strategy.h"

#include <math.h>
#include <string.h>

/* Returns `v` if it is a valid size above 0, else NaN. */
static double size_or_nan(double v)
{
	return v > 0 && v < 0x1p62 ? v : NAN;
}

/* Returns `v` if it is a valid size or 0, else NaN. */
static double amount_or_nan(double v)
{
	return v >= 0 && v < 0x1p62 ? v : NAN;
}

bool run_needs_tmpfs_known(const struct run *r)
{
	return run_column(r, "memory_cgroup_shmem_bytes") != NULL;
}

double run_needs_tmpfs(const struct run *r)
{
	double tmpfs = run_peak(r, "memory_tmpfs_bytes");

	if (!run_needs_tmpfs_known(r))
		return 0;
	/* Old records and old kernels have no memory_tmpfs_bytes. Estimate it: shared memory of the
	 * control group minus the part that processes have mapped. */
	if (isnan(tmpfs))
		tmpfs = run_peak(r, "memory_cgroup_shmem_bytes") -
			fmax(0, run_peak(r, "memory_shmem_bytes"));
	return fmax(0, tmpfs);
}

/* The peak of the processes does not include files in tmpfs that no process has mapped, so the peak
 * of these files is added. The two peaks can occur at different times, and their sum is then too
 * large. The sum is therefore limited to the peak of the control group. */
double run_needs_memory(const struct run *r)
{
	double mark = size_or_nan(run_peak(r, "memory_peak_bytes"));
	double group = run_peak(r, "memory_cgroup_peak_bytes");
	double peak = isnan(mark) ? size_or_nan(run_peak(r, "memory_bytes")) : mark;
	double with_tmpfs = size_or_nan(peak + run_needs_tmpfs(r));

	return isnan(with_tmpfs) ? peak : fmax(peak, fmin(with_tmpfs, group));
}

double run_needs_killed_at(const struct run *r)
{
	double limit = size_or_nan(r->memory_limit_bytes);

	return isnan(limit) ? run_needs_memory(r) : limit;
}

double run_needs_gpu_usage(const struct run *r)
{
	return amount_or_nan(run_peak(r, "gpu_usage"));
}

double run_needs_gpus(const struct run *r)
{
	double used = run_peak(r, "gpus_used");

	if (isnan(used))
		used = ceil(run_needs_gpu_usage(r)); /* at least the number of busy GPUs */
	return used >= 0 && used < 1e6 ? used : (double)NAN;
}

double run_needs_vram(const struct run *r)
{
	double peak = run_peak(r, "vram_peak_bytes");

	if (isnan(peak))
		peak = run_peak(r, "vram_bytes");
	return amount_or_nan(peak);
}

/* Estimates the disk of a run if the growth of its own file systems was not measured. Returns the
 * smaller of two upper bounds: the bytes written, which include overwritten and deleted data, and
 * the growth of all file systems, which includes other processes. */
static double written_or_grown(const struct run *r)
{
	const struct distribution *space = run_column(r, "system_disk_space_used_bytes");
	double written = amount_or_nan(run_total(r, "disk_written_bytes"));
	double grown = space ? space->max - space->min : (double)NAN;

	return isnan(written) ? written : fmin(written, grown);
}

double run_needs_disk(const struct run *r)
{
	double grown = amount_or_nan(run_peak(r, "disk_grown_bytes"));

	return isnan(grown) ? written_or_grown(r) : grown;
}

bool run_needs_disk_shared(const struct runs *used)
{
	for (size_t i = 0; i < used->n; i++) {
		const char *source = used->run[i].disk_source;

		if (run_needs_disk(&used->run[i]) > 0 && source && strcmp(source, "own") != 0)
			return true;
	}
	return false;
}

struct run_summary run_needs_summary(const struct runs *runs, double (*get)(const struct run *))
{
	struct run_summary s = {.min = NAN, .max = NAN, .mean = NAN};
	double sum = 0;

	for (size_t i = 0; i < runs->n; i++) {
		double v = get(&runs->run[i]);

		if (!isfinite(v))
			continue;
		s.n++;
		s.min = fmin(s.min, v);
		s.max = fmax(s.max, v);
		sum += v;
	}
	if (s.n)
		s.mean = sum / (double)s.n;
	return s;
}

uint64_t sizing_round_memory(double bytes)
{
	static const uint64_t steps[] = {128, 256, 512, 1024, 2048};
	double mib = bytes / MIB;

	if (!(bytes >= 0) || mib > 0x1p43)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (mib <= (double)steps[i])
			return steps[i];
	return (uint64_t)ceil(mib / 1024) * 1024;
}

uint64_t sizing_round_up(double bytes)
{
	double mib = ceil(fmax(16, bytes / MIB));

	return bytes >= 0 && mib <= 0x1p43 ? (uint64_t)mib : 0;
}

uint64_t sizing_round_cores(double cores)
{
	if (!(cores >= 0) || cores > 1e6)
		return 0;
	return cores < 1 ? 1 : (uint64_t)rint(cores); /* rounds half to even */
}
