#include "recommender/sizing/evidence.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/strategy.h"

/* Signals and exit codes of runs that were ended from outside. timeout(1) exits with 124. Batch
 * systems announce or enforce a time limit with one of these signals: SIGUSR1 and SIGUSR2 (Grid
 * Engine), SIGALRM, SIGTERM (Slurm, Kubernetes at DeadlineExceeded), SIGXCPU. A shell reports a
 * signal as the exit code 128 + signal: 140 for SIGUSR2.
 *
 * These signs are missing if a job catches SIGTERM, or ignores it and then gets SIGKILL. Then only
 * a reason that a client sent (run_reason_is_time_limit) shows the time limit. */
static const int cut_signals[] = {10, 12, 14, 15, 24}; /* the numbers that Linux gives them */
#define EXIT_CODE_TIMEOUT 124

#define KILLED_FAR_BELOW 0.9 /* a peak below this share of the limit did not reach the limit */

static bool was_cut(const struct run *r)
{
	if (r->outcome != OUTCOME_FAILED)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(cut_signals); i++)
		if (r->exit_signal == cut_signals[i] || r->exit_code == 128 + cut_signals[i])
			return true;
	return r->exit_code == EXIT_CODE_TIMEOUT || run_reason_is_time_limit(r->end_reason);
}

/* Returns the peak of memory in bytes without mapped files, because the kernel can take back their
 * memory. NaN = unknown. */
static double firm_peak(const struct run *r)
{
	double peak = run_needs_memory(r), files = run_peak(r, "memory_file_bytes");

	return files > 0 ? fmax(0, peak - files) : peak;
}

static double anonymous_peak(const struct run *r)
{
	return run_peak(r, "memory_anonymous_bytes") + run_needs_tmpfs(r);
}

static bool met_its_limit(const struct run *r)
{
	double near_limit = AT_LIMIT_SHARE * r->memory_limit_bytes;

	if (!(near_limit > 0))
		return false;
	if (r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_UNKNOWN)
		return firm_peak(r) >= near_limit;
	return run_total(r, "memory_max_events") > 0 && anonymous_peak(r) >= near_limit;
}

/* Returns true if a run failed near its limit on address space. Such a run has probably failed
 * because the kernel refused an allocation. A refusal kills no process, and no counter shows it. */
static bool met_address_limit(const struct run *r)
{
	double near_limit = AT_ADDRESS_LIMIT_SHARE * r->address_limit_bytes;

	return (r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_UNKNOWN) && near_limit > 0 &&
	       fmax(r->address_peak_bytes, run_needs_memory(r)) >= near_limit;
}

/* Returns true if the kernel killed the run or one of its processes because memory ran out. The
 * counter oom_kills exists only for a run with its own control group. If the run shares its group,
 * the memory_source "limit" shows a kill (collectors/accounting/accounts.h). */
static bool was_killed(const struct run *r)
{
	return r->outcome == OUTCOME_OOM_KILLED || run_total(r, "oom_kills") > 0 ||
	       (r->memory_source && !r->not_measured && strcmp(r->memory_source, "limit") == 0);
}

/* Returns a lower bound of the need of a killed run, in bytes:
 * - If its memory reached its limit, the bound is the limit. The collectors set the peak to the
 *   limit when the kernel kills a process in the run's own group.
 * - If its peak is far below its limit, the bound is the peak. Another limit caused the kill, such
 *   as that of the machine or of a child group. */
static double killed_at(const struct run *r)
{
	double peak = fmax(run_needs_memory(r), run_peak(r, "memory_cgroup_peak_bytes"));
	double events = fmax(run_total(r, "memory_max_events"), run_total(r, "memory_oom_events"));

	if (events > 0 || !(peak < KILLED_FAR_BELOW * r->memory_limit_bytes))
		return run_needs_killed_at(r);
	return peak;
}

struct evidence evidence_of(const struct run *r)
{
	struct evidence e = {
		.peak = r->not_measured ? (double)NAN : run_needs_memory(r),
		.at_least = NAN,
		.cut = was_cut(r),
	};

	if (r->outcome == OUTCOME_RUNNING || r->outcome == OUTCOME_INTERRUPTED)
		return e;
	e.killed = was_killed(r);
	if (e.killed)
		e.at_least = killed_at(r);
	else if (met_its_limit(r))
		e.at_least = fmax(run_needs_killed_at(r), e.peak);
	else if (met_address_limit(r))
		e.at_least = fmax(r->address_limit_bytes, e.peak);
	if (e.at_least > 0)
		e.memory = MEMORY_AT_LEAST;
	else if (r->outcome == OUTCOME_SUCCEEDED)
		e.memory = isnan(e.peak) ? MEMORY_UNKNOWN : MEMORY_PEAK;
	else
		e.memory = MEMORY_TRIED;
	return e;
}
