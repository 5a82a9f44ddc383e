#include "exporter/answers/behaviour.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exporter/core/memory_budget.h"
#include "exporter/answers/job_runs.h"
#include "exporter/answers/server_parameters.h"

#define RUNNING_MAX 20
/* A cached result is used for at most this many seconds. After that it is computed again, because
 * the history may have reduced the samples of the runs meanwhile. */
#define PAST_SECONDS   600.0
#define PAST_KEY_MAX   (JOB_KEY_MAX + 8)
#define PAST_STATE_MAX 40

/* Returns the memory request of the newest run or, if it has none, its memory limit, in bytes. */
static double requested_bytes(const struct runs *runs)
{
	const struct run *newest = &runs->run[0];

	return newest->requested_memory_bytes > 0 ? newest->requested_memory_bytes :
						    newest->memory_limit_bytes;
}

/* ---- phases, and whether to split them into steps ---- */

/* Computes the phases of the newest successful runs, at most PAST_PHASES, that still have
 * samples. */
static int read_phases(struct history *h, const struct runs *runs, struct arena *arena,
	struct phases ret[PAST_PHASES], size_t *ret_n, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < runs->n && n < PAST_PHASES; i++) {
		AUTO(arena_done) struct arena samples = {0};
		struct series s = {0};
		int code;

		if (runs->run[i].outcome != OUTCOME_SUCCEEDED)
			continue;
		if (memory_budget_is_over())
			return err_set(e, -ENOMEM, "phases of runs: no memory is left");
		code = history_series(h, runs->run[i].run_id, phases_columns, &samples, &s, e);
		if (code == -ENOENT || (code == 0 && !s.n))
			break; /* the samples of this run, and of all older runs, were deleted */
		if (code)
			return code;
		/* The arena `samples` is freed after each run, so copy the phases to the caller's
		 * arena. */
		phases_of(&s, &samples, &ret[n]);
		phases_copy(&ret[n++], arena);
	}
	*ret_n = n;
	return 0;
}

/* Finds the cheapest server for a step that needs as much as phase `p`. */
static struct split_step cheapest(const struct catalogue *c, const struct phase *p,
	const struct runs *runs, struct arena *arena)
{
	struct demand d = p->demand;
	struct job_profile profile = forecast_profile(p->seconds);
	struct pick_options options = server_parameters_usual(&(struct server_job){&profile, runs});
	struct picks picks = {0};

	d.duration_seconds = p->seconds;
	options.objective = objective_find("cost");
	options.limit = 1;
	pick_servers(c, &d, &options, arena, &picks);
	if (!picks.n)
		return (struct split_step){.pick.forecast_cost = NAN};
	return (struct split_step){picks.pick[0], picks.currency};
}

/* Returns a single step that does the work of all parts of a split: the sum of their durations,
 * and the largest demand of each resource. */
static struct phase together(const struct phases *p)
{
	struct phase all = p->phase[0];

	for (size_t i = 1; i < p->n; i++) {
		const struct phase *next = &p->phase[i];

		all.seconds += next->seconds;
		all.demand.cpu_cores = fmax(all.demand.cpu_cores, next->demand.cpu_cores);
		all.demand.memory_bytes = fmax(all.demand.memory_bytes, next->demand.memory_bytes);
		all.demand.gpus = fmax(all.demand.gpus, next->demand.gpus);
		all.demand.vram_bytes = fmax(all.demand.vram_bytes, next->demand.vram_bytes);
	}
	return all;
}

/* Proposes the split (sets b->split). Does not propose it if all prices are known, and a single
 * step costs no more than the steps together. */
static void price_split(struct app *app, struct catalogue_use *use, const struct split *split,
	const struct runs *runs, struct arena *arena, struct behaviour *b)
{
	const struct catalogue *c =
		catalogue_use_begin(app, use, NULL) == 0 ? use->catalogue : NULL;
	struct split_step *steps = arena_alloc(arena, (split->parts.n + 1) * sizeof *steps);
	struct phase whole = together(&split->parts);
	double apart = 0;

	for (size_t i = 0; i <= split->parts.n; i++) {
		const struct phase *p = i < split->parts.n ? &split->parts.phase[i] : &whole;

		steps[i] = c ? cheapest(c, p, runs, arena) :
			       (struct split_step){.pick.forecast_cost = NAN};
		if (i < split->parts.n)
			apart += steps[i].pick.forecast_cost;
	}
	if (apart >= steps[split->parts.n].pick.forecast_cost)
		return;
	b->split = split;
	b->steps = steps;
	b->whole = &steps[split->parts.n];
}

static void add_phases(struct app *app, struct catalogue_use *use, const struct runs *runs,
	const struct behaviour_past *past, struct arena *arena, struct behaviour *b)
{
	struct split *split = arena_alloc(arena, sizeof *split);

	if (past->n_phases)
		b->phases = past->phases[0];
	if (phases_split(past->phases, past->n_phases, arena, split))
		price_split(app, use, split, runs, arena, b);
}

struct past_result {
	struct result result;
	struct behaviour_past past;
};

/* Computes the cache key and the state of the cached result (result_cache.h). The state is a hash
 * over all runs and their outcomes. It does not include samples of active runs, because the cached
 * result does not depend on them. */
static void past_key(const struct runs *runs, uint64_t neighbours, char key[PAST_KEY_MAX],
	char state[PAST_STATE_MAX])
{
	struct buf all AUTO(buf_done) = BUF_MAX(runs->n * 256 + 1);

	for (size_t i = 0; i < runs->n; i++) {
		const struct run *r = &runs->run[i];

		buf_addf(&all, "%s %d", r->run_id, (int)r->outcome);
		if (r->outcome != OUTCOME_RUNNING)
			buf_addf(&all, " %a %a %zu", r->ended_at, r->duration_seconds, r->n_stats);
		buf_addc(&all, '\n');
	}
	snprintf(key, PAST_KEY_MAX, "past %s", runs->n ? runs->run[0].job_name : "");
	snprintf(state, PAST_STATE_MAX, "%" PRIx64 " %" PRIx64, hash_bytes(all.data, all.len),
		neighbours);
}

static void copy_past(const struct behaviour_past *from, struct arena *arena,
	struct behaviour_past *ret)
{
	*ret = *from;
	for (size_t i = 0; i < from->n_phases; i++)
		phases_copy(&ret->phases[i], arena);
}

bool result_cache_find(struct result_cache *c, const struct runs *runs, uint64_t neighbours,
	struct arena *arena, struct behaviour_past *ret)
{
	char key[PAST_KEY_MAX], state[PAST_STATE_MAX];

	past_key(runs, neighbours, key, state);
	struct result *found = result_find(c, key, state, PAST_SECONDS);

	if (!found)
		return false;
	copy_past(&((struct past_result *)(void *)found)->past, arena, ret);
	shared_drop(&found->shared);
	return true;
}

void result_cache_keep(struct result_cache *c, const struct runs *runs, uint64_t neighbours,
	const struct behaviour_past *past)
{
	char key[PAST_KEY_MAX], state[PAST_STATE_MAX];
	struct past_result *r = (struct past_result *)(void *)result_new(sizeof *r);

	past_key(runs, neighbours, key, state);
	copy_past(past, &r->result.arena, &r->past);
	result_keep(c, &r->result, key, state);
	shared_drop(&r->result.shared);
}

static int look_back(struct app *app, struct history *h, const struct runs *runs,
	const struct job_neighbours *neighbours, struct arena *arena, struct behaviour_past *ret,
	struct err *e)
{
	const struct sizing_options options = {.neighbours = neighbours->jobs};

	if (result_cache_find(app->results, runs, neighbours->fingerprint, arena, ret))
		return 0;
	*ret = (struct behaviour_past){0};
	running_prospect(runs, &options, &ret->prospect);
	int code = read_phases(h, runs, arena, ret->phases, &ret->n_phases, e);

	if (code == 0)
		result_cache_keep(app->results, runs, neighbours->fingerprint, ret);
	return code;
}

/* ---- active runs ---- */

/* Returns the memory peak in bytes that an active run had reached after half of its time so far.
 * Assumes that the peak of a sample is reached at the start of the sample's interval. */
static double recorded_mark_at_half(struct history *h, const char *run_id)
{
	static const char *const columns[] = {"memory_peak_bytes", NULL};
	AUTO(arena_done) struct arena arena = {0};
	struct series s = {0};
	double seconds = 0;

	if (history_series(h, run_id, columns, &arena, &s, NULL) != 0)
		return NAN;
	struct memory_mark *mark = arena_alloc(&arena, (s.n + 1) * sizeof *mark);

	for (size_t i = 0; i < s.n; i++) {
		mark[i] = (struct memory_mark){seconds, s.values[0][i]};
		seconds += s.duration[i];
	}
	return running_mark_at_half(mark, s.n, seconds);
}

static struct running_progress progress_of(struct history *h, const struct run *r)
{
	return (struct running_progress){
		.started_at = r->started_at,
		.seconds = run_duration(r),
		.peak_bytes = run_peak(r, "memory_peak_bytes"),
		.peak_at_half_bytes = recorded_mark_at_half(h, r->run_id),
		.cores = run_mean(r, "cpu_cores"),
		.requested_cpu_cores = r->requested_cpu_cores,
		.requested_memory_bytes = r->requested_memory_bytes,
		.memory_limit_bytes = r->memory_limit_bytes,
	};
}

static int add_running(struct history *h, const struct runs *runs,
	const struct job_neighbours *neighbours, struct arena *arena, struct behaviour *b,
	struct err *e)
{
	struct run_query query = {.job_name = runs->run[0].job_name,
		.open_only = true,
		.open_stats = true,
		.limit = RUNNING_MAX};
	struct runs open = {0};
	int code = history_runs(h, &query, arena, &open, e);
	struct running_run *running = arena_alloc(arena, (open.n + 1) * sizeof *running);

	if (code)
		return code;
	for (size_t i = 0; i < open.n; i++) {
		struct running_progress now = progress_of(h, &open.run[i]);
		struct prospect own;
		bool announced = open.run[i].input_bytes >= 0;
		const struct sizing_options options = {.input_bytes = open.run[i].input_bytes,
			.input_given = true,
			.neighbours = neighbours->jobs};

		if (announced)
			running_prospect(runs, &options, &own);
		running[i].run_id = open.run[i].run_id;
		running_outlook(announced ? &own : &b->prospect, &now, &running[i].outlook);
	}
	b->running = running;
	b->n_running = open.n;
	return 0;
}

int behaviour_of(struct app *app, struct catalogue_use *use, const struct runs *runs,
	const struct job_neighbours *neighbours, struct arena *arena, struct behaviour *ret,
	struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	struct behaviour b = {0};
	struct behaviour_past past;
	struct change *changes;
	int code = answer_open_history(app, &h, e);

	if (code)
		return code;
	b.n_changes = changes_of_runs(runs, requested_bytes(runs), arena, &changes);
	b.changes = changes;
	code = look_back(app, h, runs, neighbours, arena, &past, e);
	b.prospect = past.prospect;
	if (code == 0)
		add_phases(app, use, runs, &past, arena, &b);
	if (code == 0)
		code = add_running(h, runs, neighbours, arena, &b, e);
	if (code)
		return code;
	*ret = b;
	return 0;
}
