/* Writes runs and their samples. Closes runs whose exporter is gone. */
#include "exporter/history/tables.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/plausible.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Maximum number of orphans (open runs whose exporter is gone) that are closed in one transaction.
 * It is small, because closing a run computes its statistics, perhaps from a whole day of
 * samples. */
#define ORPHANS_AT_ONCE 8
/* An exporter that cannot be checked counts as gone when its run has had no sample for this many
 * sample intervals (owner_is_gone). */
#define STALE_INTERVALS 3

static void set_server(struct circumstances *c, const struct run_server *s)
{
	c->text[CIRCUMSTANCE_vendor] = s->vendor_id;
	c->text[CIRCUMSTANCE_instance_type] = s->instance_type;
	c->text[CIRCUMSTANCE_region] = s->region;
	c->text[CIRCUMSTANCE_zone] = s->zone;
	c->text[CIRCUMSTANCE_allocation] = s->allocation;
}

/* Value of the columns minutes_until and hours_until (schema.c) for a forwarded or imported run.
 * The history has no samples of such a run, so it never needs thinning. */
#define NEVER_SAMPLED (-1)

/* Binds the parameters of BEGIN_COLUMNS. */
static void put_begin(struct sql *q, int64_t job, const struct run_begin *b, int64_t thinned_until)
{
	sql_put_int(q, job);
	sql_put_text(q, b->run_id);
	sql_put_text(q, b->host);
	sql_put_double(q, b->started_at);
	sql_put_double(q, b->interval_seconds);
	sql_put_int(q, b->root.pid);
	sql_put_int(q, (int64_t)b->root.start_ticks);
	sql_put_int(q, b->root.reaper_pid);
	sql_put_int(q, (int64_t)b->root.reaper_start_ticks);
	sql_put_int(q, (int64_t)b->root.pid_namespace);
	sql_put_text(q, b->root.boot_id);
	sql_put_double(q, b->requested_cpu_cores);
	sql_put_double(q, b->requested_memory_bytes);
	sql_put_double(q, b->memory_limit_bytes);
	sql_put_double(q, b->input_bytes);
	sql_put_double(q, b->attempt);
	sql_put_int(q, b->owner_pid);
	sql_put_int(q, (int64_t)b->owner_start_ticks);
	sql_put_text(q, b->system_run);
	sql_put_int(q, thinned_until);
	sql_put_int(q, thinned_until);
}

static int take_over(struct history *h, const struct run_begin *b, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_TAKE_OVER, e);

	sql_put_int(&q, b->owner_pid);
	sql_put_int(&q, (int64_t)b->owner_start_ticks);
	sql_put_text(&q, b->run_id);
	return sql_run(&q, e);
}

/* Counts one more run for the job `name`, and adds the job if it is new. Sets `*ret` to the id of
 * the job. */
static int join_job(struct history *h, const char *name, bool ended, int64_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_JOIN_JOB, e);

	sql_put_text(&q, name);
	sql_put_int(&q, ended);
	int code = sql_row(&q, e);

	if (code > 0)
		*ret = sql_int(&q);
	return code < 0 ? code : 0;
}

int history_set_last_run(struct history *h, int64_t job, double started_at, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_SET_LAST_RUN, e);

	sql_put_int(&q, job);
	sql_put_double(&q, started_at);
	return sql_run(&q, e);
}

static int add_open_run(struct history *h, int64_t job, const struct run_begin *b, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ADD_RUN, e);

	put_begin(&q, job, b, 0);
	return sql_run(&q, e);
}

static int set_circumstances(struct history *h, const struct run_begin *b, struct err *e)
{
	struct circumstances c = {
		{[CIRCUMSTANCE_system] = b->system, [CIRCUMSTANCE_labels] = b->labels}};
	int64_t id = 0;

	set_server(&c, &b->server);
	int code = circumstances_hold(h, &c, &id, e);

	if (code)
		return code;
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_SET_CIRCUMSTANCES, e);

	sql_put_int(&q, id);
	sql_put_text(&q, b->run_id);
	return sql_run(&q, e);
}

/* Finds the jobs with the names b->former_job and b->job_name, and stores their ids in `ids`.
 * Returns 1 when the runs of the former job must be moved, otherwise 0. */
static int find_former(struct history *h, const struct run_begin *b, int64_t ids[static 2],
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_FORMER_JOB, e);

	sql_put_text(&q, b->former_job);
	sql_put_text(&q, b->job_name);
	sql_put_text(&q, b->system);
	int code = sql_row(&q, e);

	for (size_t i = 0; i < 2 && code > 0; i++)
		ids[i] = sql_int(&q);
	return code;
}

/* If the job had another name before (b->former_job), the file has a job with this old name. Moves
 * its runs and counts to the job b->job_name, and removes the old job. */
static int move_former(struct history *h, const struct run_begin *b, struct err *e)
{
	static const enum history_statement steps[] = {
		STATEMENT_MOVE_RUNS, STATEMENT_MOVE_COUNTS, STATEMENT_MOVE_OUTCOMES};
	int64_t ids[2] = {0};
	int code = b->former_job ? find_former(h, b, ids, e) : 0;

	if (code <= 0)
		return code;
	code = 0;
	for (size_t i = 0; i < ARRAY_LEN(steps) && code == 0; i++)
		code = sql_use_run(h, steps[i], ids, 2, e);
	if (code == 0)
		code = sql_use_run(h, STATEMENT_DROP_OUTCOMES, ids, 1, e);
	return code ? code : sql_use_run(h, STATEMENT_DROP_JOB, ids, 1, e);
}

int history_run_begin(struct history *h, const struct run_begin *b, struct err *e)
{
	struct found_run known;
	int64_t job = 0;
	int code = history_find(h, b->run_id, &known, e);

	if (code)
		return code < 0 ? code : take_over(h, b, e);
	code = join_job(h, b->job_name, false, &job, e);
	if (code == 0)
		code = add_open_run(h, job, b, e);
	if (code == 0)
		code = set_circumstances(h, b, e);
	if (code == 0)
		code = move_former(h, b, e);
	return code ? code : history_set_last_run(h, job, b->started_at, e);
}

/* Finds the id for the next sample of a run. */
static int next_sample(struct history *h, const char *run_id, int64_t *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_NEXT_SAMPLE, e);

	sql_put_text(&q, run_id);
	int code = sql_row(&q, e);

	if (code == 0)
		return err_set(e, -ENXIO, "history %s: a sample of run %s, which is not in it",
			h->path, run_id);
	if (code < 0)
		return code;
	*ret = sql_int(&q);
	return 0;
}

static int add_sample(struct history *h, const struct sample *s, struct err *e)
{
	struct sql q = {.file = &h->file, .statement = h->add_sample};
	int64_t id = 0;
	int code = next_sample(h, s->run_id, &id, e);

	if (code)
		return code;
	sql_put_int(&q, id);
	sql_put_double(&q, s->at);
	sql_put_double(&q, s->duration >= 0 ? s->duration : NAN);
	for (size_t i = 0; i < h->columns->n; i++)
		sql_put_double(&q, s->value[i]);
	code = sql_run(&q, e);
	sql_done(&q);
	return code;
}

int history_samples(struct history *h, const struct sample *samples, size_t n, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < n && code == 0; i++)
		code = add_sample(h, &samples[i], e);
	return code;
}

static int drop_samples(struct history *h, int64_t run, struct err *e)
{
	const int64_t all[] = {FIRST_SAMPLE_OF(run), LAST_SAMPLE_OF(run), INT64_MAX};

	return sql_use_run(h, STATEMENT_DROP_SAMPLES, all, ARRAY_LEN(all), e);
}

/* Computes the statistics of a run. If one of them is impossible, writes the reason to `why` and
 * sets f->not_measured to it. If f->not_measured is set, drops all statistics and samples of the
 * run: one impossible number means that the readings were wrong. */
static int measured(struct history *h, const struct found_run *r, struct run_finish *f,
	struct err *why, struct run *ret, struct arena *arena, struct err *e)
{
	*ret = (struct run){.outcome = f->outcome,
		.duration_seconds = f->duration_seconds,
		.interval_seconds = r->interval_seconds,
		.machine_cpus = f->machine_cpus,
		.machine_memory_bytes = f->machine_memory_bytes};
	int code = history_stats(h, r->id, arena, &ret->stats, &ret->n_stats, e);

	run_mend_cores(ret);
	if (code == 0 && !f->not_measured && run_plausible(ret, f->machine_vram_bytes, why) < 0) {
		f->not_measured = why->text;
		h->not_plausible++;
	}
	if (code || !f->not_measured)
		return code;
	ret->n_stats = 0;
	return drop_samples(h, r->id, e);
}

static int count_outcome(struct history *h, enum history_statement id, int64_t job,
	enum outcome outcome, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, id, e);

	sql_put_int(&q, job);
	sql_put_text(&q, run_outcome_name(outcome));
	return sql_run(&q, e);
}

static struct circumstances circumstances_at_end(const struct run_finish *f)
{
	struct circumstances c = {{
		[CIRCUMSTANCE_architecture] = f->architecture,
		[CIRCUMSTANCE_cpu_level] = f->cpu_level,
		[CIRCUMSTANCE_gpu_manufacturer] = f->gpu_manufacturer,
		[CIRCUMSTANCE_gpu_model] = f->gpu_model,
		[CIRCUMSTANCE_cpu_source] = f->cpu_source,
		[CIRCUMSTANCE_memory_source] = f->memory_source,
		[CIRCUMSTANCE_network_source] = f->network_source,
		[CIRCUMSTANCE_disk_source] = f->disk_source,
	}};

	set_server(&c, &f->server);
	return c;
}

/* Finds or adds the row of the table circumstances for a run that has ended, and sets `*ret` to its
 * id. A text that is known at the end (`newer`) replaces the text that was known at the start. */
static int replace_circumstances(struct history *h, const struct found_run *r,
	const struct circumstances *newer, struct arena *arena, int64_t *ret, struct err *e)
{
	struct circumstances c = {0};
	int code = circumstances_of_run(h, r->id, arena, &c, e);

	circumstances_merge(&c, newer);
	if (code == 0)
		code = circumstances_hold(h, &c, ret, e);
	return code ? code : circumstances_release(h, r->circumstances, e);
}

/* Binds the parameters of END_COLUMNS. */
static void put_end(struct sql *q, const struct run_finish *f, struct sample_count count,
	int64_t circumstances, const struct packed_run *packed)
{
	sql_put_double(q, f->ended_at);
	sql_put_double(q, isnan(f->duration_seconds) ? count.duration : f->duration_seconds);
	sql_put_text(q, run_outcome_name(f->outcome));
	sql_put_double(q, f->exit_code);
	sql_put_double(q, f->exit_signal);
	sql_put_double(q, f->cpu_missed_seconds);
	sql_put_int(q, (int64_t)count.samples);
	sql_put_double(q, f->cpu_foreign_seconds);
	sql_put_double(q, f->machine_cpus);
	sql_put_double(q, f->machine_memory_bytes);
	sql_put_text(q, f->not_measured);
	sql_put_double(q, f->address_limit_bytes);
	sql_put_double(q, f->address_peak_bytes);
	sql_put_text(q, f->end_reason);
	sql_put_packed_run(q, circumstances, packed);
}

static int end_run(struct history *h, int64_t run, const struct run_finish *f,
	struct sample_count count, int64_t circumstances, const struct packed_run *packed,
	struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_END_RUN, e);

	put_end(&q, f, count, circumstances, packed);
	sql_put_int(&q, run);
	return sql_run(&q, e);
}

/* Returns true when the run was marked as interrupted too early, and `outcome` is its real
 * outcome. */
static bool is_correction(const struct found_run *r, enum outcome outcome)
{
	return r->outcome == OUTCOME_INTERRUPTED && outcome != OUTCOME_INTERRUPTED;
}

/* Updates the row of the run's job after the run got this outcome: the counts of outcomes, and the
 * facts about the newest run. */
static int recount(struct history *h, const struct found_run *r, enum outcome outcome,
	struct err *e)
{
	int code = 0;

	if (r->outcome != OUTCOME_RUNNING)
		code = count_outcome(h, STATEMENT_UNCOUNT_OUTCOME, r->job, r->outcome, e);
	else
		code = sql_use_run(h, STATEMENT_KEEP_RUN, &r->job, 1, e);
	if (code == 0)
		code = count_outcome(h, STATEMENT_COUNT_OUTCOME, r->job, outcome, e);
	return code ? code : history_set_last_run(h, r->job, r->started_at, e);
}

int history_run_finish(struct history *h, const struct run_finish *f, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run_finish finish = *f;
	struct found_run r = {0};
	struct run run = {0};
	struct sample_count count;
	struct packed_run packed = {0};
	int64_t circumstances = 0;
	struct err why = {0};
	int code = history_find(h, f->run_id, &r, e);

	if (code <= 0 || (r.outcome != OUTCOME_RUNNING && !is_correction(&r, f->outcome)))
		return code < 0 ? code : 0;
	code = history_count(h, r.id, &count, e);
	if (code == 0)
		code = measured(h, &r, &finish, &why, &run, &arena, e);
	if (code == 0)
		code = history_pack_stats(h, run.stats, run.n_stats, true, &arena, &packed, e);
	const struct circumstances at_end = circumstances_at_end(&finish);

	if (code == 0)
		code = replace_circumstances(h, &r, &at_end, &arena, &circumstances, e);
	if (code == 0)
		code = end_run(h, r.id, &finish, count, circumstances, &packed, e);
	return code ? code : recount(h, &r, f->outcome, e);
}

/* ---- runs that other exporters recorded ---- */

static int is_of_job(struct history *h, int64_t job, const char *name, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_IS_OF_JOB, e);

	sql_put_int(&q, job);
	sql_put_text(&q, name);
	return sql_row(&q, e);
}

/* Sets a page cache of 2 MiB, for batches of forwarded runs. Such a batch changes pages all over
 * the file. With a smaller cache, SQLite would write a page to the -wal file and read it again,
 * several times in one transaction. */
#define LARGE_CACHE "PRAGMA cache_size = -2048;"

static int enlarge_cache(struct history *h, struct err *e)
{
	int code = h->large_cache ? 0 : sql_exec(&h->file, LARGE_CACHE, "set up", e);

	h->large_cache = h->large_cache || code == 0;
	return code;
}

static struct run_begin begin_as_told(const struct run *r)
{
	/* Leave the boot id unset: the root process is on another machine. With a boot id, this
	 * machine could mistake one of its own processes for it. */
	return (struct run_begin){
		.run_id = r->run_id,
		.host = r->host,
		.started_at = r->started_at,
		.interval_seconds = r->interval_seconds,
		.requested_cpu_cores = r->requested_cpu_cores,
		.requested_memory_bytes = r->requested_memory_bytes,
		.memory_limit_bytes = r->memory_limit_bytes,
		.input_bytes = r->input_bytes,
		.attempt = r->attempt,
		.system_run = r->system_run,
	};
}

static struct run_finish finish_as_told(const struct run *r)
{
	return (struct run_finish){
		.run_id = r->run_id,
		.ended_at = r->ended_at,
		.duration_seconds = r->duration_seconds,
		.outcome = r->outcome,
		.exit_code = r->exit_code,
		.exit_signal = r->exit_signal,
		.cpu_source = r->cpu_source,
		.memory_source = r->memory_source,
		.network_source = r->network_source,
		.architecture = r->architecture ? architecture_name[r->architecture] : NULL,
		.cpu_level = r->cpu_level,
		.gpu_manufacturer = r->gpu_manufacturer,
		.gpu_model = r->gpu_model,
		.server = {r->vendor_id, r->instance_type, r->region, r->zone, r->allocation},
		.cpu_missed_seconds = r->cpu_missed_seconds,
		.cpu_foreign_seconds = r->cpu_foreign_seconds,
		.machine_cpus = r->machine_cpus,
		.machine_memory_bytes = r->machine_memory_bytes,
		.disk_source = r->disk_source,
		.not_measured = r->not_measured,
		.address_limit_bytes = r->address_limit_bytes,
		.address_peak_bytes = r->address_peak_bytes,
		.end_reason = r->end_reason,
	};
}

static struct circumstances circumstances_as_told(const struct run *r, const struct run_finish *f)
{
	struct circumstances c = circumstances_at_end(f);

	c.text[CIRCUMSTANCE_system] = r->system;
	c.text[CIRCUMSTANCE_labels] = r->labels;
	return c;
}

static int insert_ended(struct history *h, int64_t job, const struct run *r, int64_t circumstances,
	const struct packed_run *packed, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_ADD_ENDED_RUN, e);
	const struct run_begin b = begin_as_told(r);
	const struct run_finish f = finish_as_told(r);

	put_begin(&q, job, &b, NEVER_SAMPLED);
	put_end(&q, &f, (struct sample_count){r->samples, r->duration_seconds}, circumstances,
		packed);
	return sql_run(&q, e);
}

/* Adds a forwarded run that the history does not have. Writes the row of the ended run at once:
 * adding an open run and ending it afterwards would change each index twice. */
static int add_told(struct history *h, const struct run *r, const struct circumstances *c,
	const struct packed_run *packed, struct err *e)
{
	int64_t job = 0, circumstances = 0;
	int code = circumstances_hold(h, c, &circumstances, e);

	if (code == 0)
		code = join_job(h, r->job_name, true, &job, e);
	if (code == 0)
		code = insert_ended(h, job, r, circumstances, packed, e);
	if (code == 0)
		code = count_outcome(h, STATEMENT_COUNT_OUTCOME, job, r->outcome, e);
	return code ? code : history_set_last_run(h, job, r->started_at, e);
}

static int correct_told(struct history *h, const struct found_run *found, const struct run *r,
	const struct circumstances *c, const struct packed_run *packed, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct run_finish f = finish_as_told(r);
	int64_t circumstances = 0;
	int code = replace_circumstances(h, found, c, &arena, &circumstances, e);

	if (code == 0)
		code = end_run(h, found->id, &f,
			(struct sample_count){r->samples, r->duration_seconds}, circumstances,
			packed, e);
	return code ? code : recount(h, found, r->outcome, e);
}

int history_run_add(struct history *h, const struct run *r, struct err *e)
{
	const struct run_finish f = finish_as_told(r);
	const struct circumstances c = circumstances_as_told(r, &f);
	struct found_run found = {0};
	struct packed_run packed = {0};
	int code = enlarge_cache(h, e);

	if (code == 0)
		code = history_find(h, r->run_id, &found, e);
	bool known = code > 0;

	/* Anyone may know a run id. A sender may therefore correct a run only if it also names the
	 * right job. */
	if (known)
		code = is_correction(&found, r->outcome) ? is_of_job(h, found.job, r->job_name, e) :
							   0;
	if (code < 0 || (known && code == 0))
		return code;
	arena_reset(&h->adding);
	code = history_pack_stats(h, r->stats, r->not_measured ? 0 : r->n_stats, false, &h->adding,
		&packed, e);
	if (code == 0)
		code = known ? correct_told(h, &found, r, &c, &packed, e) :
			       add_told(h, r, &c, &packed, e);
	return code ? code : 1;
}

int history_removed_until(struct history *h, const char *job_name, uint64_t runs_per_job,
	double *ret, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_REMOVED_UNTIL, e);

	*ret = 0;
	sql_put_text(&q, job_name);
	sql_put_int(&q, (int64_t)runs_per_job);
	int code = sql_row(&q, e);

	if (code > 0 && sql_int(&q))
		*ret = fmax(h->no_room_until, sql_double(&q));
	return code < 0 ? code : 0;
}

/* ---- orphans ---- */

struct orphan {
	const char *run_id;
	double ended_at;
};

struct run_recorder { /* an open run: the exporter that records it, and its root process */
	int64_t run;
	const char *run_id, *boot_id;
	double started_at, interval;
	uint64_t pid_namespace;
	pid_t pid, reaper_pid, owner_pid;
	uint64_t start_ticks, owner_start_ticks;
};

/* Reads the columns in the order of STATEMENT_OPEN_RUNS. */
static struct run_recorder read_recorder(struct sql *q)
{
	struct run_recorder r = {.run = sql_int(q)};

	r.run_id = sql_name(q);
	sql_skip(q); /* job name */
	r.started_at = sql_double(q);
	r.interval = sql_double(q);
	r.pid = (pid_t)sql_int(q);
	r.start_ticks = (uint64_t)sql_int(q);
	r.reaper_pid = (pid_t)sql_int(q);
	sql_skip(q); /* reaper_start_ticks */
	r.pid_namespace = (uint64_t)sql_int(q);
	r.boot_id = sql_text(q);
	r.owner_pid = (pid_t)sql_int(q);
	r.owner_start_ticks = (uint64_t)sql_int(q);
	if (!r.boot_id)
		r.boot_id = "";
	return r;
}

/* Returns true when another exporter can continue the run: its root process still lives, and no
 * wrapper recorded it. */
static bool may_be_continued(const struct run_recorder *r, const struct orphan_rule *rule)
{
	return !r->reaper_pid && rule->alive(rule->context, r->pid, r->start_ticks);
}

static bool owner_is_gone(const struct run_recorder *r, double last, const struct orphan_rule *rule)
{
	double patience = rule->stale_seconds;

	if (*r->boot_id && *rule->here->boot_id && strcmp(r->boot_id, rule->here->boot_id) != 0)
		return true;
	if (rule->alive && *r->boot_id && *rule->here->boot_id && r->pid_namespace &&
		r->pid_namespace == rule->here->pid_namespace)
		return (rule->leaving_pid && rule->leaving_pid == r->owner_pid &&
			       rule->leaving_start_ticks == r->owner_start_ticks) ||
		       (!rule->alive(rule->context, r->owner_pid, r->owner_start_ticks) &&
			       !may_be_continued(r, rule));
	if (r->interval * STALE_INTERVALS > patience)
		patience = r->interval * STALE_INTERVALS;
	return last < rule->now - patience;
}

static int find_orphans(struct history *h, const struct orphan_rule *rule, struct arena *arena,
	struct orphan *ret, size_t *ret_n, struct err *e)
{
	AUTO(sql_done) struct sql q = sql_use(h, STATEMENT_OPEN_RUNS, e);
	int code;

	while (*ret_n < ORPHANS_AT_ONCE && (code = sql_row(&q, e)) > 0) {
		struct run_recorder r = read_recorder(&q);
		double last = r.started_at;
		int64_t id;

		code = history_last_sample(h, r.run, &id, &last, e);
		if (code < 0)
			return code;
		if (owner_is_gone(&r, last, rule))
			ret[(*ret_n)++] = (struct orphan){
				arena_text(arena, r.run_id, strlen(r.run_id)), last};
	}
	return code < 0 ? code : 0;
}

int history_close_orphans(struct history *h, const struct orphan_rule *rule, struct err *e)
{
	AUTO(arena_done) struct arena arena = {0};
	struct orphan orphan[ORPHANS_AT_ONCE];
	size_t n = 0;
	int code = find_orphans(h, rule, &arena, orphan, &n, e);

	for (size_t i = 0; i < n && code == 0; i++) {
		const struct run_finish f = {
			.run_id = orphan[i].run_id,
			.ended_at = orphan[i].ended_at,
			.duration_seconds = NAN,
			.outcome = OUTCOME_INTERRUPTED,
			.exit_code = NAN,
			.exit_signal = NAN,
			RUN_FINISH_UNKNOWN,
		};

		code = history_run_finish(h, &f, e);
	}
	return code ? code : n == ORPHANS_AT_ONCE;
}
