#include "exporter/import/made_run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/stable_name.h"
#include "exporter/forward/run_message.h"
#include "recommender/plausible.h"

#define IDENTITY_MAX ((size_t)1 << 20) /* more than a line of any input */

void made_run_begin(struct made_run *m, const char *source)
{
	*m = (struct made_run){0};
	m->run = (struct run){
		.memory_source = source,
		.cpu_source = source,
		.outcome = OUTCOME_UNKNOWN,
		.started_at = NAN,
		.ended_at = NAN,
		.duration_seconds = NAN,
		.exit_code = NAN,
		.exit_signal = NAN,
		.interval_seconds = NAN,
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = NAN,
		.memory_limit_bytes = NAN,
		.input_bytes = NAN,
		.attempt = NAN,
		.cpu_missed_seconds = NAN,
		.cpu_foreign_seconds = NAN,
		.machine_cpus = NAN,
		.machine_memory_bytes = NAN,
		.address_limit_bytes = NAN,
		.address_peak_bytes = NAN,
		.stats = m->stats,
	};
}

/* Returns the column of the run. Adds the column if the run does not have it yet, and keeps the
 * columns sorted. */
static struct distribution *column_of(struct made_run *m, const char *column)
{
	struct run *r = &m->run;
	size_t i = 0;

	while (i < r->n_stats && strcmp(m->stats[i].column, column) < 0)
		i++;
	if (i < r->n_stats && strcmp(m->stats[i].column, column) == 0)
		return &m->stats[i].d;
	if (r->n_stats == MADE_COLUMNS_MAX)
		abort();
	memmove(&m->stats[i + 1], &m->stats[i], (r->n_stats - i) * sizeof *m->stats);
	r->n_stats++;
	m->stats[i] = (struct column_stats){column, {.n = 1, NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
	return &m->stats[i].d;
}

void made_run_total(struct made_run *m, const char *column, double sum)
{
	if (sum > 0)
		column_of(m, column)->sum = sum;
}

void made_run_peak(struct made_run *m, const char *column, double most)
{
	if (most > 0)
		column_of(m, column)->max = most;
}

void made_run_mean(struct made_run *m, const char *column, double mean)
{
	if (mean > 0)
		column_of(m, column)->mean = mean;
}

void made_run_cores(struct made_run *m, const double cores[static 4])
{
	double least = 0;

	if (!(cores[3] > 0))
		return;
	struct distribution *d = column_of(m, "cpu_cores");
	double *const at[] = {&d->p50, &d->p95, &d->p99, &d->max};

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		*at[i] = cores[i] >= 0 ? fmax(cores[i], least) : (double)NAN;
		least = fmax(least, *at[i]);
	}
}

bool made_run_times(struct made_run *m, double started_at, double ended_at, double seconds)
{
	struct run *r = &m->run;

	if (isnan(ended_at))
		ended_at = started_at + seconds;
	if (isnan(seconds))
		seconds = ended_at - started_at;
	r->started_at = started_at;
	r->ended_at = ended_at;
	r->duration_seconds = seconds;
	if (isnan(started_at) || !run_times_agree(r))
		r->started_at = ended_at - seconds;
	return !isnan(ended_at) && !isnan(seconds);
}

void made_run_of_system(struct made_run *m, const char *system, struct slice run)
{
	m->run.system = system;
	if (run.len == 0)
		return;
	utf8_clean_plain(run.data, run.len, '_', m->system_run, sizeof m->system_run);
	m->run.system_run = m->system_run;
}

/* Writes one part of the job's key to `ret`. The part is `chosen`, which the user gave. If that is
 * NULL, it is `said`, which comes from the input. */
static void part_of(const char *chosen, struct slice said, char *ret, size_t size)
{
	if (chosen)
		text_copy(chosen, ret, size);
	else if (said.len)
		utf8_clean_plain(said.data, said.len, '_', ret, size);
	else
		*ret = '\0';
}

int made_run_job(struct made_run *m, const struct import_input *in, struct slice name,
	struct slice space, struct slice cluster, struct err *e)
{
	struct job_parts p = {0};

	part_of(in->key.job_name, stable_name(name), p.name, sizeof p.name);
	part_of(in->key.space, space, p.space, sizeof p.space);
	part_of(in->key.cluster, cluster, p.cluster, sizeof p.cluster);
	if (!*p.name)
		return err_set(e, -EINVAL, "nothing names the job: give --job-name");
	job_key_write(p.name, p.space, p.cluster, m->key);
	m->run.job_name = m->key;
	return 0;
}

void made_run_identify(struct made_run *m, const struct slice *texts, size_t n)
{
	struct buf all AUTO(buf_done) = BUF_MAX(IDENTITY_MAX);

	buf_adds(&all, m->run.job_name);
	for (size_t i = 0; i < n; i++) {
		buf_addc(&all, '\n');
		buf_add(&all, texts[i].data, texts[i].len);
	}
	snprintf(m->id, sizeof m->id, "%s-%016" PRIx64, m->run.memory_source,
		hash_bytes(buf_text(&all), all.len));
	m->run.run_id = m->id;
}

int made_run_give(struct made_run *m, const struct import_input *in, uint64_t line, struct err *e)
{
	enum outcome *outcome = &m->run.outcome;

	if (*outcome == OUTCOME_UNKNOWN &&
		(!in->outcome || !run_outcome_parse(in->outcome, outcome))) {
		in->sink.untold(in->sink.context);
		return 0;
	}
	double rate = run_total(&m->run, "cpu_seconds") / m->run.duration_seconds;

	/* Compute the mean number of cores for a source without samples, whose statistics are in
	 * m->stats. A source with samples has computed it already. */
	if (isfinite(rate) && m->run.stats == m->stats)
		made_run_mean(m, "cpu_cores", rate);
	json_t *o = run_message(&m->run);
	AUTO(freep) char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	if (!text)
		return err_set(e, -ENOMEM, "there is no memory for a run");
	return in->sink.run(in->sink.context, line, text, strlen(text), e);
}
