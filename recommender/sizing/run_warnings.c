#include "recommender/sizing/run_warnings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/units.h"
#include "recommender/plausible.h"
#include "recommender/sizing/rule.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"

/* Warnings use only this many newest measured runs: the limits or machines of older runs may have
 * changed since. */
#define RECENT_RUNS 10
#define BUSY_SHARE  0.5 /* warn if threads waited for this share of (waiting + CPU time) */

/* A GPU counts as hardly used below this share of its computing power: a second job like this would
 * fit on it. */
#define GPU_BUSY_LEAST 0.5

/* Warn of mapped files, and of swapped memory, if they take at least this share of the peak, and at
 * least this many bytes. The share alone is not enough: the program and the libraries of a process,
 * a few tens of MiB, are a large share of a small job. */
#define FILES_SHARE 0.25
#define FILES_BYTES (64 * MIB)

/* The newest measured runs. */
struct recent {
	size_t n;
	const struct run *run[RECENT_RUNS];
	char words[WORDING_MAX]; /* "the newest 10 runs" */
};

static struct recent recent_of(const struct runs *used)
{
	struct recent r = {0};

	for (size_t i = 0; i < used->n && r.n < RECENT_RUNS; i++)
		if (!used->run[i].not_measured)
			r.run[r.n++] = &used->run[i];
	if (r.n == 1)
		snprintf(r.words, sizeof r.words, "the newest run");
	else
		snprintf(r.words, sizeof r.words, "the newest %zu runs", r.n);
	return r;
}

static void warn_of_few(struct sizing *s, struct arena *arena)
{
	if (s->runs == 0)
		warnings_add(&s->warnings, arena, WARNING_FEW_RUNS, 0,
			"No successful run was measured yet. Check the request until there "
			"are %d.",
			RUNS_FOR_SPREAD);
	else if (s->runs < RUNS_FOR_SPREAD)
		warnings_add(&s->warnings, arena, WARNING_FEW_RUNS, s->runs,
			"Only %zu successful run%s measured. Check the request until there "
			"are %d.",
			s->runs, s->runs == 1 ? " was" : "s were", RUNS_FOR_SPREAD);
}

static void warn_of_unmeasured(struct sizing *s, const struct runs *used, struct arena *arena)
{
	size_t n = used->n < RECENT_RUNS ? used->n : RECENT_RUNS, unmeasured = 0;
	const char *why = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *reason = used->run[i].not_measured;

		unmeasured += reason != NULL;
		why = why ? why : reason;
	}
	if (why)
		warnings_add(&s->warnings, arena, WARNING_NOT_MEASURED, unmeasured,
			"%zu of the newest %zu successful run%s no numbers: %s. The request follows "
			"from the other runs.",
			unmeasured, n, n == 1 ? " has" : "s have", why);
}

/* ---- a change ---- */

struct range {
	double low, high;
};

static struct range range_of(const struct observation *o, size_t n)
{
	struct range r = {INFINITY, 0};

	for (size_t i = 0; i < n; i++) {
		r.low = fmin(r.low, o[i].peak);
		r.high = fmax(r.high, o[i].peak);
	}
	return r;
}

#define RANGE_MAX (2 * WORDING_MAX + 8)

/* Writes "99 MiB to 101 MiB", or one value if both look the same. */
static const char *range_words(char out[RANGE_MAX], struct range r)
{
	char low[WORDING_MAX], high[WORDING_MAX];
	bool same = strcmp(wording_bytes(low, r.low), wording_bytes(high, r.high)) == 0;

	snprintf(out, RANGE_MAX, "%s%s%s", low, same ? "" : " to ", same ? "" : high);
	return out;
}

/* Returns true if a newer run has an input outside the range of the inputs of the first `older`
 * runs. Such an input may explain the change of the peaks. `o`: oldest first. */
static bool inputs_changed(const struct observation *o, size_t older, size_t n)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < older; i++) {
		least = fmin(least, o[i].input);
		most = fmax(most, o[i].input);
	}
	for (size_t i = older; i < n; i++)
		if (o[i].input < least || o[i].input > most)
			return true;
	return false;
}

/* Finds a possible change of the peaks that is too new for rule_peaks_change. Returns the number of
 * newest runs, at most PEAKS_CHANGE_RUNS - 1, whose peaks are all clearly above, or all clearly
 * below, the peaks of all older runs. 0 = there is no change.
 *
 * The gap must also be wider than half of the range of the older peaks, on a logarithmic scale: if
 * the peaks of a job differ much, the newest one is often the largest by chance. */
static size_t newest_that_differ(const struct observation *o, size_t n, struct range *ret_older,
	struct range *ret_newer)
{
	for (size_t newer = 1; newer < PEAKS_CHANGE_RUNS && newer + RUNS_FOR_SPREAD <= n; newer++) {
		size_t older = n - newer;
		struct range before = range_of(o, older), after = range_of(o + older, newer);
		double gap = fmax(CLEARLY, sqrt(before.high / before.low));

		if (!(after.low > before.high * gap || after.high * gap < before.low) ||
			inputs_changed(o, older, n))
			continue;
		*ret_older = before;
		*ret_newer = after;
		return newer;
	}
	return 0;
}

static void warn_of_change(struct sizing *s, const struct runs *used, struct arena *arena)
{
	struct observation *o = arena_alloc(arena, (used->n + 1) * sizeof *o);
	char before[RANGE_MAX], after[RANGE_MAX], newest[WORDING_MAX] = "The newest run";
	struct range older, newer;
	size_t n = 0;

	/* The peaks of a job that follows its limit (follower.h) change with the limit. Its request
	 * does not depend on the peaks, so no warning is needed. */
	if (warnings_have(&s->warnings, WARNING_MEMORY_FOLLOWS_LIMIT))
		return;
	for (size_t i = used->n; i-- > 0;) {
		const struct run *r = &used->run[i];
		double peak = run_needs_memory(r);

		if (peak > 0)
			o[n++] = rule_observation(peak, r->input_bytes, run_duration(r));
	}
	size_t differ = newest_that_differ(o, n, &older, &newer);

	if (!differ)
		return;
	if (differ > 1)
		snprintf(newest, sizeof newest, "The newest %zu runs", differ);
	warnings_add(&s->warnings, arena, WARNING_CHANGE_NOT_SETTLED, differ,
		"%s peaked at %s, the %zu before at %s. The older runs count until there are "
		"%d such runs. To leave them out now, ask with runs=%zu.",
		newest, range_words(after, newer), n - differ, range_words(before, older),
		PEAKS_CHANGE_RUNS, differ);
}

static double input_of(const struct run *r)
{
	return r->input_bytes >= 0 ? r->input_bytes : (double)NAN;
}

static void warn_of_input(struct sizing *s, const struct runs *used, double input,
	struct arena *arena)
{
	struct run_summary seen = run_needs_summary(used, input_of);
	char words[3][WORDING_MAX];
	bool above = input > seen.max * CLEARLY, below = input * CLEARLY < seen.min;

	if (above || below)
		warnings_add(&s->warnings, arena, WARNING_INPUT_BEYOND_SEEN, seen.n,
			"The announced input of %s is %s all %zu earlier inputs (%s to %s). The numbers "
			"are extrapolated. Check how this run goes.",
			wording_bytes(words[0], input), above ? "above" : "below", seen.n,
			wording_bytes(words[1], seen.min), wording_bytes(words[2], seen.max));
}

/* ---- CPU and tasks ---- */

static void warn_of_cpu(struct sizing *s, const struct recent *recent, struct arena *arena)
{
	AUTO(buf_done) struct buf doubt = BUF_MAX(CPU_DOUBT_MAX);

	if (run_cpu_doubt(&doubt, recent->run, recent->n))
		warnings_add(&s->warnings, arena, WARNING_UNCERTAIN_CPU, recent->n,
			"In %s, the CPU time is uncertain. %s Check the number of CPUs, or start the job "
			"with \"rightsize-exporter run\", which counts more exactly.",
			recent->words, buf_text(&doubt));
}

static void warn_of_waits(struct sizing *s, const struct recent *recent, struct arena *arena)
{
	struct waits w = waits_of(recent->run, recent->n);
	char waited[WORDING_MAX], held[WORDING_MAX];

	if (w.verdict != WAITED_FOR_CPU)
		return;
	wording_seconds(waited, w.cpu_seconds);
	if (w.throttled_seconds > 0)
		warnings_add(&s->warnings, arena, WARNING_WAITS_FOR_CPU, recent->n,
			"In %s, threads waited %s for a CPU, %.0f %% of the time that they could "
			"have run. A CPU limit held them back for %s. Raise or remove it.",
			recent->words, waited, 100 * w.cpu_share,
			wording_seconds(held, w.throttled_seconds));
	else if (w.cpu_share > BUSY_SHARE)
		warnings_add(&s->warnings, arena, WARNING_BUSY_MACHINE, recent->n,
			"In %s, threads waited %s for a CPU, %.0f %% of the time that they could "
			"have run. The job may use more cores on a less busy machine.",
			recent->words, waited, 100 * w.cpu_share);
	else
		warnings_add(&s->warnings, arena, WARNING_WAITS_FOR_CPU, recent->n,
			"In %s, threads waited %s for a CPU, %.0f %% of the time that they could "
			"have run. Give the job %sa less busy machine.",
			recent->words, waited, 100 * w.cpu_share,
			s->n_at_cores && !sizing_gains_by_cores(s) ? "" : "more cores, or ");
}

static void warn_of_tasks(struct sizing *s, const struct recent *recent, struct arena *arena)
{
	double refused = 0, limit = NAN;
	size_t runs = 0;
	bool own = true;

	for (size_t i = 0; i < recent->n; i++) {
		double of_run = run_total(recent->run[i], "pids_refused");

		if (!(of_run > 0))
			continue;
		runs++;
		refused += of_run;
		limit = fmin(limit, run_peak(recent->run[i], "pids_limit"));
		/* Only a run with a control group of its own has the column pids_peak. */
		own = own && run_peak(recent->run[i], "pids_peak") >= 0;
	}
	if (!runs)
		return;
	char words[64] = "A limit of tasks";

	if (limit >= 0)
		snprintf(words, sizeof words, "The limit of %.15g tasks", limit);
	warnings_add(&s->warnings, arena, WARNING_TASKS_REFUSED, runs,
		"%s refused %.15g fork%s in %zu of the newest runs.%s Raise it (pids.max, TasksMax), "
		"or let the job start fewer processes and threads.",
		words, refused, refused == 1 ? "" : "s", runs,
		own ? "" : " Other jobs in the control group may be the cause.");
}

/* ---- GPUs ---- */

static void warn_of_gpus(struct sizing *s, const struct recent *recent, struct arena *arena)
{
	double busy = 0, seconds = 0, gpus = 0, vram = NAN;
	char words[WORDING_MAX], memory[WORDING_MAX + 40] = "";
	size_t runs = 0;

	for (size_t i = 0; i < recent->n; i++) {
		const struct run *r = recent->run[i];
		double usage = run_mean(r, "gpu_usage"), had = run_needs_gpus(r),
		       took = run_duration(r);

		if (!(usage >= 0 && had > 0 && took > 0))
			continue;
		runs++;
		busy += usage * took;
		seconds += took;
		gpus = fmax(gpus, had);
		vram = fmax(vram, run_needs_vram(r));
	}
	busy /= seconds;
	if (!(busy < GPU_BUSY_LEAST * gpus))
		return;
	if (vram > 0)
		snprintf(memory, sizeof memory, ", and up to %s of GPU memory",
			wording_bytes(words, vram));
	warnings_add(&s->warnings, arena, WARNING_GPU_HARDLY_USED, runs,
		"%zu run%s used %.2f of %.0f GPU%s on average (%.0f %%)%s. Request %s, or share %s "
		"with other jobs.",
		runs, runs == 1 ? "" : "s", busy, gpus, gpus == 1 ? "" : "s", 100 * busy / gpus,
		memory, gpus == 1 ? "a smaller GPU" : "fewer GPUs", gpus == 1 ? "it" : "them");
}

/* ---- memory of files ---- */

/* Returns how many bytes of the peak of a run were mapped files; NaN = unknown. It is the peak
 * minus the peaks of all other memory. The result is a lower bound, because these peaks can have
 * occurred at other times. */
static double files_in_peak(const struct run *r)
{
	double others = run_peak(r, "memory_anonymous_bytes") +
			fmax(0, run_peak(r, "memory_shmem_bytes")) + run_needs_tmpfs(r);
	double files = run_needs_memory(r) - others, most = run_peak(r, "memory_file_bytes");

	return isnan(files) || isnan(most) ? (double)NAN : fmin(files, most);
}

static void warn_of_files(struct sizing *s, const struct runs *used, struct arena *arena)
{
	char words[2][WORDING_MAX];
	double most = 0, most_files = NAN;
	size_t runs = 0;

	for (size_t i = 0; i < used->n; i++) {
		double peak = run_needs_memory(&used->run[i]);
		double files = files_in_peak(&used->run[i]);
		bool many = files >= FILES_BYTES && files >= FILES_SHARE * peak;

		runs += many;
		if (peak > most) {
			most = peak;
			most_files = many ? files : (double)NAN;
		}
	}
	if (isnan(most_files))
		return;
	warnings_add(&s->warnings, arena, WARNING_RECLAIMABLE_MEMORY, runs,
		"At least %s of the largest peak, %s, are mapped files. The kernel can reclaim this "
		"memory. With less memory, the job reads these files again.",
		wording_bytes(words[0], most_files), wording_bytes(words[1], most));
}

/* The peaks of the memory and of the swapped memory may have occurred at different times, so their
 * sum may be more than the job needs. The request does not contain it for this reason. */
static void warn_of_swap(struct sizing *s, const struct recent *recent, struct arena *arena)
{
	char words[2][WORDING_MAX];
	double most = 0, need = 0;
	size_t runs = 0;

	for (size_t i = 0; i < recent->n; i++) {
		double swapped = run_peak(recent->run[i], "memory_swap_bytes");
		double peak = run_needs_memory(recent->run[i]);

		if (!(swapped >= FILES_BYTES && swapped >= FILES_SHARE * peak))
			continue;
		runs++;
		most = fmax(most, swapped);
		need = fmax(need, peak + swapped);
	}
	if (runs)
		warnings_add(&s->warnings, arena, WARNING_MEMORY_SWAPPED, runs,
			"Up to %s of the job's memory was swapped out, and the peak does not count it. "
			"Without swap, the job may need up to %s.",
			wording_bytes(words[0], most), wording_bytes(words[1], need));
}

void run_warnings_add(struct sizing *s, const struct runs *used,
	const struct sizing_options *options, struct arena *arena)
{
	struct recent recent = recent_of(used);

	warn_of_few(s, arena);
	warn_of_unmeasured(s, used, arena);
	mixed_jobs_warn(s, used, !isnan(sizing_next_input(options)), arena);
	warn_of_change(s, used, arena);
	warn_of_input(s, used, sizing_next_input(options), arena);
	warn_of_cpu(s, &recent, arena);
	warn_of_waits(s, &recent, arena);
	warn_of_tasks(s, &recent, arena);
	warn_of_gpus(s, &recent, arena);
	warn_of_files(s, used, arena);
	warn_of_swap(s, &recent, arena);
}
