#include "tests/support/fake_history.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/history/historian.h"

struct fake_history fake_history;

int history_open(struct history **ret, const char *path, enum history_mode mode,
	const struct columns *columns, struct err *notice, struct err *e)
{
	(void)columns;
	(void)notice;
	fake_history.opened++;
	if (mode != HISTORY_READ || fake_history.open_code)
		return err_system(e, fake_history.open_code, "open the history %s", path);
	fake_history.open++;
	*ret = (struct history *)(void *)&fake_history;
	return 0;
}

void history_give_up_when(struct history *h, bool (*over)(void))
{
	(void)h;
	(void)over;
}

int history_hold(struct history *h, struct err *e)
{
	(void)h;
	(void)e;
	return 0;
}

void history_close(struct history *h)
{
	(void)h;
	fake_history.open--;
}

void history_closep(struct history **h)
{
	if (*h)
		history_close(*h);
}

static bool is_wanted(const struct run_query *q, const struct run *r)
{
	bool success = r->outcome == OUTCOME_SUCCEEDED;

	return (!q->job_name || strcmp(r->job_name, q->job_name) == 0) &&
	       (!q->run_id || strcmp(r->run_id, q->run_id) == 0) &&
	       (!q->open_only || r->outcome == OUTCOME_RUNNING) &&
	       (!q->successful_only || success) &&
	       (!(q->other_limit_than > 0) ||
		       run_limits_differ(r->memory_limit_bytes, q->other_limit_than));
}

static bool enough(const struct run_query *q, const struct runs *found)
{
	size_t measured = 0;

	for (size_t i = 0; i < found->n; i++)
		measured +=
			found->run[i].outcome == OUTCOME_SUCCEEDED && !found->run[i].not_measured;
	return q->enough_measured && measured >= q->enough_measured;
}

int history_runs(struct history *h, const struct run_query *q, struct arena *arena,
	struct runs *ret, struct err *e)
{
	const struct runs *all = &fake_history.runs;
	struct runs found = {.run = arena_alloc(arena, (all->n + 1) * sizeof *found.run)};

	(void)h;
	fake_history.reads++;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the runs");
	for (size_t i = 0;
		i < all->n && (q->limit == 0 || found.n < q->limit) && !enough(q, &found); i++)
		if (is_wanted(q, &all->run[i]))
			found.run[found.n++] = all->run[i];
	*ret = found;
	return 0;
}

/* The same comparison as in exporter/history/read.c. */
bool history_job_mark_same(const struct job_mark *a, const struct job_mark *b)
{
	return a->runs == b->runs && a->running == b->running && a->succeeded == b->succeeded &&
	       a->interrupted == b->interrupted && a->ids == b->ids && a->seconds == b->seconds;
}

int history_job_mark(struct history *h, const char *job_name, double since, struct job_mark *ret,
	struct err *e)
{
	const struct runs *all = &fake_history.runs;
	struct job_mark mark = {0};

	(void)h;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the mark of a job");
	for (size_t i = 0; i < all->n; i++) {
		const struct run *r = &all->run[i];

		if (strcmp(r->job_name, job_name) != 0 || r->started_at < since)
			continue;
		mark.runs++;
		mark.running += r->outcome == OUTCOME_RUNNING;
		mark.succeeded += r->outcome == OUTCOME_SUCCEEDED;
		mark.interrupted += r->outcome == OUTCOME_INTERRUPTED;
		mark.ids += (double)i;
		mark.seconds += r->outcome == OUTCOME_RUNNING ? 0 : r->duration_seconds;
	}
	*ret = mark;
	return 0;
}

int history_count_jobs(struct history *h, size_t *ret, struct err *e)
{
	(void)h;
	(void)e;
	*ret = fake_history.n_jobs;
	return 0;
}

int history_jobs(struct history *h, size_t limit, struct arena *arena, struct job_row **ret,
	size_t *ret_n, struct err *e)
{
	(void)h;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the jobs");
	*ret = arena_alloc(arena, (fake_history.n_jobs + 1) * sizeof **ret);
	if (fake_history.n_jobs)
		memcpy(*ret, fake_history.jobs, fake_history.n_jobs * sizeof **ret);
	*ret_n = limit && limit < fake_history.n_jobs ? limit : fake_history.n_jobs;
	return 0;
}

/* Finds no job, so the name that the caller gave is used as the key. */
int history_find_key(struct history *h, const char *name, char ret[static JOB_KEY_MAX],
	struct err *e)
{
	(void)h;
	(void)name;
	(void)ret;
	(void)e;
	return 0;
}

int history_names_near(struct history *h, const char *job_name, size_t limit, struct arena *arena,
	const char ***ret, size_t *ret_n, struct err *e)
{
	size_t n = 0;

	(void)h;
	(void)limit;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the names of jobs");
	*ret = arena_alloc(arena, (fake_history.n_jobs + 1) * sizeof **ret);
	for (size_t i = 0; i < fake_history.n_jobs; i++)
		if (strcmp(fake_history.jobs[i].job_name, job_name) != 0)
			(*ret)[n++] = fake_history.jobs[i].job_name;
	*ret_n = n;
	return 0;
}

/* Returns the jobs of fake_history.jobs, and after them those of fake_history.overview. The id of a
 * job is its index in this list, plus 1. */
int history_job_heads(struct history *h, enum head_value value, struct arena *arena,
	struct job_head **ret, size_t *ret_n, struct err *e)
{
	size_t n = 0;

	(void)h;
	(void)value;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the list of jobs");
	struct job_head *head = arena_alloc(arena,
		(fake_history.n_jobs + fake_history.n_overview + 1) * sizeof *head);

	for (size_t i = 0; i < fake_history.n_jobs; i++, n++) {
		const struct job_row *j = &fake_history.jobs[i];

		head[n] = (struct job_head){(int64_t)n + 1, j->job_name, j->runs,
			j->outcomes[OUTCOME_RUNNING], j->last_started_at, j->last_outcome, false,
			NAN};
	}
	for (size_t i = 0; i < fake_history.n_overview; i++, n++) {
		const struct job_brief *j = &fake_history.overview[i];

		head[n] = (struct job_head){(int64_t)n + 1, j->job_name, j->runs, 0,
			j->run[0].started_at, j->run[0].outcome, false, NAN};
	}
	*ret = head;
	*ret_n = n;
	return 0;
}

int history_job_outcomes(struct history *h, const struct job_head *job,
	uint64_t outcomes[OUTCOME_COUNT], struct err *e)
{
	size_t i = (size_t)job->id - 1;

	(void)h;
	(void)e;
	if (i < fake_history.n_jobs)
		memcpy(outcomes, fake_history.jobs[i].outcomes,
			sizeof fake_history.jobs[i].outcomes);
	return 0;
}

int history_overview(struct history *h, const struct job_head *job, size_t n, size_t runs,
	struct arena *arena, struct job_brief **ret, struct err *e)
{
	(void)h;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the overview");
	if (fake_history.overview_most < n)
		fake_history.overview_most = n;
	*ret = arena_alloc(arena, (n + 1) * sizeof **ret);
	for (size_t i = 0; i < n; i++) {
		size_t k = (size_t)job[i].id - 1 - fake_history.n_jobs;

		(*ret)[i] = (struct job_brief){.job_name = job[i].job_name};
		if ((size_t)job[i].id <= fake_history.n_jobs)
			continue;
		(*ret)[i] = fake_history.overview[k];
		if ((*ret)[i].n > runs)
			(*ret)[i].n = runs;
	}
	return 0;
}

int history_series_after(struct history *h, const char *run_id, int64_t *position, size_t limit,
	const char *const *columns, struct arena *arena, struct series *ret, struct err *e)
{
	(void)h;
	(void)run_id;
	(void)limit;
	(void)columns;
	(void)arena;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the samples");
	*position = (int64_t)fake_history.series.n;
	*ret = fake_history.series;
	return 0;
}

int history_series(struct history *h, const char *run_id, const char *const *columns,
	struct arena *arena, struct series *ret, struct err *e)
{
	int64_t position = 0;

	return history_series_after(h, run_id, &position, 0, columns, arena, ret, e);
}

int64_t history_ended(struct history *h)
{
	int64_t n = 0;

	(void)h;
	for (size_t i = 0; i < fake_history.runs.n; i++)
		n += fake_history.runs.run[i].outcome != OUTCOME_RUNNING;
	return n;
}

int history_job_origin(struct history *h, const char *job_name, struct arena *arena,
	struct run_origin *ret, struct err *e)
{
	const struct runs *all = &fake_history.runs;

	(void)h;
	(void)arena;
	*ret = (struct run_origin){0};
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the origin of a job");
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->run[i].job_name, job_name) == 0) {
			*ret = (struct run_origin){all->run[i].system, all->run[i].labels};
			break;
		}
	return 0;
}

/* The id of a job is the index of its newest ended run. */
static size_t newest_ended(const char *job_name)
{
	size_t i = 0;

	while (fake_history.runs.run[i].outcome == OUTCOME_RUNNING ||
		strcmp(fake_history.runs.run[i].job_name, job_name) != 0)
		i++;
	return i;
}

int history_recent_jobs(struct history *h, size_t runs, size_t limit, struct arena *arena,
	struct recent_job **ret, size_t *ret_n, struct err *e)
{
	const struct runs *all = &fake_history.runs;
	struct recent_job *job = arena_alloc(arena, (all->n + 1) * sizeof *job);
	size_t n = 0;

	(void)h;
	fake_history.neighbours_read++;
	if (fake_history.read_code)
		return err_system(e, fake_history.read_code, "read the recent jobs");
	for (size_t i = 0; i < all->n && i < runs && n < limit; i++) {
		const struct run *r = &all->run[i];

		if (r->outcome != OUTCOME_RUNNING && newest_ended(r->job_name) == i)
			job[n++] = (struct recent_job){
				(int64_t)i, r->job_name, {r->system, r->labels}};
	}
	*ret = job;
	*ret_n = n;
	return 0;
}

int history_memory_runs(struct history *h, int64_t job, size_t limit, struct arena *arena,
	struct runs *ret, struct err *e)
{
	const struct runs *all = &fake_history.runs;
	struct runs found = {.run = arena_alloc(arena, (all->n + 1) * sizeof *found.run)};

	(void)h;
	(void)e;
	for (size_t i = (size_t)job; i < all->n && found.n < limit; i++)
		if (strcmp(all->run[i].job_name, all->run[job].job_name) == 0)
			found.run[found.n++] = all->run[i];
	*ret = found;
	return 0;
}

bool historian_is_loose(const struct historian *h)
{
	(void)h;
	return false;
}

bool historian_is_opening(struct historian *h)
{
	(void)h;
	return false;
}

/* An answer calls this function when the file is damaged. This test has no historian. */
void historian_suspect(struct historian *h)
{
	(void)h;
}
