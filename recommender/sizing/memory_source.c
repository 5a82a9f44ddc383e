/* Which peak memory is sized from. Each run has the largest that was known of it, and a word for what told it. */
#include "recommender/sizing/strategy.h"

#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"

#define TMPFS_WORTH_TELLING MIB

static const struct source {
	const char *name, *words; /* of its runs: "the peak is" ... */
} sources[] = {
	{"samples", "the largest sum of its processes at one look"},
	{"vmhwm",
		"the kernel's high-water mark of one process and what the others held around then"},
	{"taskstats", "the mark of a process that ended between two looks, from exit accounting"},
	{"limit", "the limit of its control group, at which the kernel killed in it"},
	{"rusage", "the mark of its largest process, told at its end and above all that was seen"},
};

static size_t runs_from(const struct runs *used, const struct source *source)
{
	size_t n = 0;

	for (size_t i = 0; i < used->n; i++) {
		const char *name = used->run[i].memory_source;

		n += name && strcmp(name, source->name) == 0;
	}
	return n;
}

static double process_peak(const struct run *r)
{
	return run_peak(r, "memory_peak_process_bytes");
}

static double group_peak(const struct run *r)
{
	return run_peak(r, "memory_cgroup_peak_bytes");
}

/* What of memory no process shows. */
static void explain_tmpfs(struct sizing *s, const struct runs *used, struct arena *arena)
{
	size_t known = 0;
	char most[WORDS_MAX], runs[WORDS_MAX];

	for (size_t i = 0; i < used->n; i++)
		known += run_tmpfs_is_known(&used->run[i]);
	double tmpfs = runs_summary(used, run_tmpfs).max;

	if (tmpfs >= TMPFS_WORTH_TELLING)
		sizing_explain(s, arena,
			"memory: files in tmpfs such as /dev/shm, up to %s that no process had "
			"mapped, are counted as well",
			words_bytes(most, tmpfs));
	if (known < used->n)
		sizing_explain(s, arena,
			"memory: files in tmpfs such as /dev/shm need memory too, which is not "
			"counted of %s that had no control group to itself: add what the job "
			"keeps there",
			words_runs(runs, used->n - known));
}

void explain_memory_source(struct sizing *s, const struct runs *used, struct arena *arena)
{
	AUTO(buf_done) struct buf words = BUF_MAX(480);
	struct summary process = runs_summary(used, process_peak);
	struct summary group = runs_summary(used, group_peak);
	char peak[WORDS_MAX];

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		size_t n = runs_from(used, &sources[i]);

		if (n == 0)
			continue;
		buf_addf(&words, "%s%s", words.len ? "; " : "", sources[i].words);
		if (n < used->n)
			buf_addf(&words, " (%zu of %zu)", n, used->n);
	}
	if (words.len && process.n)
		buf_addf(&words, "; the largest process alone had %s",
			words_bytes(peak, process.max));
	if (words.len && group.n)
		buf_addf(&words,
			"; not the control group's peak, up to %s, for that has the page cache in "
			"it",
			words_bytes(peak, group.max));
	if (words.len)
		sizing_explain(s, arena, "memory: the peak of a run is %s", buf_text(&words));
	explain_tmpfs(s, used, arena);
}
