/* Sizing for all strategies except baseline: chooses the runs, then sizes each resource. */
#include "recommender/sizing/strategy.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "recommender/plausible.h"
#include "recommender/sizing/endings.h"
#include "recommender/sizing/evidence.h"
#include "recommender/sizing/run_warnings.h"

const char *sizing_confidence_name(enum confidence c)
{
	switch (c) {
	case CONFIDENCE_NONE:
		return "none";
	case CONFIDENCE_LOW:
		return "low";
	case CONFIDENCE_MEDIUM:
		return "medium";
	case CONFIDENCE_HIGH:
		return "high";
	}
	return "none";
}

static enum confidence confidence_of(const struct runs *used)
{
	struct run_summary peaks = run_needs_summary(used, run_needs_memory);

	if (peaks.n < RUNS_FOR_SPREAD || peaks.max > 2 * peaks.min)
		return CONFIDENCE_LOW;
	return peaks.n >= 5 && peaks.max <= 1.2 * peaks.min ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

/* Returns how the memory peaks of these runs were measured: their common memory_source. "mixed" =
 * the sources differ, NULL = unknown. */
static const char *memory_source_of(const struct runs *used)
{
	const char *source = NULL;

	for (size_t i = 0; i < used->n; i++) {
		const struct run *r = &used->run[i];
		const char *other = r->not_measured ? NULL : r->memory_source;

		if (source && other && strcmp(source, other) != 0)
			return "mixed";
		source = source ? source : other;
	}
	return source;
}

/* Sets the error "no run can be used", and lists the outcomes of the recorded runs. */
static int nothing_to_go_by(const struct runs *runs, struct err *e)
{
	size_t by_outcome[OUTCOME_COUNT] = {0};
	AUTO(buf_done) struct buf words = BUF_MAX(128);

	if (runs->n == 0)
		return err_set(e, -ENODATA, "no run is recorded");
	for (size_t i = 0; i < runs->n; i++)
		by_outcome[runs->run[i].outcome]++;
	for (unsigned o = 0; o < OUTCOME_COUNT; o++)
		if (by_outcome[o])
			buf_addf(&words, "%s%zu %s", words.len ? ", " : "", by_outcome[o],
				run_outcome_name((enum outcome)o));
	return err_set(e, -ENODATA, "none of the %zu recorded runs succeeded (%s)", runs->n,
		buf_text(&words));
}

static struct sizing sizing_unknown(void)
{
	struct sizing s = {
		.demand = {NAN, NAN, NAN, NAN, NAN, NAN},
		.first = NAN,
		.last = NAN,
		.input_bytes = NAN,
		.cpu_cores_limit = NAN,
		.memory_bytes_limit = NAN,
		.machine_cpus = NAN,
		.gpu_usage = NAN,
		.cpu_cores_for_speed = NAN,
		.duration_low = NAN,
		.duration_high = NAN,
		.duration_bound = NAN,
		.memory_too_small = NAN,
		.memory_expected_waste = NAN,
		.memory_low = NAN,
		.memory_high = NAN,
		.memory_killed_at = NAN,
		.memory_failed_at = NAN,
		.hindsight.waste = NAN,
		.hindsight_baseline.waste = NAN,
	};

	for (size_t i = 0; i < RISK_COUNT; i++)
		s.memory_at_risk[i] = NAN;
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s.memory_attempts[i] = NAN;
	return s;
}

static void count_run(struct sizing *s, const struct run *r)
{
	if (r->not_measured) {
		s->not_measured++;
		return;
	}
	s->runs++;
	s->uncertain_cpu += run_cpu_uncertain(r);
	s->samples += r->samples;
	s->first = fmin(s->first, r->started_at);
	s->last = fmax(s->last, r->started_at);
}

static void explain_left_out(struct sizing *s, const struct runs *used, struct arena *arena)
{
	AUTO(buf_done) struct buf words = BUF_MAX(CPU_DOUBT_MAX);
	const struct run **list = arena_alloc(arena, used->n * sizeof *list);
	const char *why = NULL;
	char n[WORDING_MAX];

	for (size_t i = 0; i < used->n; i++) {
		list[i] = &used->run[i];
		why = why ? why : list[i]->not_measured;
	}
	if (why)
		sizing_explain(s, arena, TOPIC_RUNS,
			"%s without numbers, of which only the duration counts: %s.",
			wording_runs(n, s->not_measured), why);
	if (run_cpu_doubt(&words, list, used->n))
		sizing_explain(s, arena, TOPIC_CPU, "%s", buf_text(&words));
}

struct runs sizing_runs_used(const struct runs *runs, size_t most, struct arena *arena,
	size_t *excluded)
{
	struct runs used = {.run = arena_alloc(arena, (runs->n + 1) * sizeof *used.run)};
	size_t measured = 0, others = 0, between = 0;

	for (size_t i = 0; i < runs->n && measured < most; i++) {
		const struct run *r = &runs->run[i];

		if (r->outcome == OUTCOME_SUCCEEDED) {
			measured += !r->not_measured;
			between = others;
			used.run[used.n++] = *r;
		} else {
			others += r->outcome != OUTCOME_RUNNING;
		}
	}
	if (excluded)
		*excluded = between;
	return used;
}

int sizing_start(const struct runs *runs, size_t most, struct arena *arena, struct runs *used,
	struct sizing *ret, struct err *e)
{
	struct sizing s = sizing_unknown();
	struct runs chosen = sizing_runs_used(runs, most, arena, &s.excluded);

	for (size_t i = 0; i < chosen.n; i++)
		count_run(&s, &chosen.run[i]);
	if (!chosen.n)
		return nothing_to_go_by(runs, e);
	*used = chosen;
	s.confidence = confidence_of(used);
	s.memory_source = memory_source_of(used);
	s.gpu_usage = run_needs_summary(used, run_needs_gpu_usage).max;
	explain_left_out(&s, used, arena);
	*ret = s;
	return 0;
}

/* Returns true if one of the runs gives a lower bound of the need for memory. */
static bool any_bound(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		struct evidence e = evidence_of(&runs->run[i]);

		if (e.memory == MEMORY_AT_LEAST || (e.cut && e.peak > 0))
			return true;
	}
	return false;
}

int sizing_by_method(const struct sizing_method *m, const struct runs *runs,
	const struct sizing_options *options, struct arena *arena, struct sizing *ret,
	struct err *e)
{
	size_t most =
		options->runs && options->runs < PEAKS_SEEN_MAX ? options->runs : PEAKS_SEEN_MAX;
	struct runs used = {0};
	struct sizing s = sizing_unknown();
	int r = sizing_start(runs, most, arena, &used, &s, e);

	if (r == -ENODATA && !m->rule && any_bound(runs))
		r = 0;
	if (r < 0)
		return r;
	s.input_bytes = sizing_next_input(options);
	s.endings = endings_of(runs);
	if (s.confidence > CONFIDENCE_LOW &&
		(s.endings.killed || s.endings.at_limit || s.endings.cut))
		/* A run that was killed or ended at a limit needed more than its peak shows. */
		s.confidence = CONFIDENCE_LOW;
	sizing_memory(&s, m, runs, &used, options, arena);
	sizing_duration(&s, &used, options, arena);
	if (used.n) {
		sizing_gpus(&s, m, runs, &used, options, arena);
		sizing_disk(&s, m, runs, &used, options, arena);
		sizing_cpu(&s, m, &used, options, arena);
		sizing_explain_waits(&s, &used, arena);
	}
	run_warnings_add(&s, &used, options, arena);
	endings_warn(&s, runs, &used, arena);
	sizing_summary(&s, options, arena);
	*ret = s;
	return 0;
}
