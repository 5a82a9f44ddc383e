#include "recommender/servers/job_profile.h"
#include "collectors/base/job_key.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/sizing/strategy.h"

/* A job that uses fewer cores than this counts as one busy thread. Its use can be above 1 because
 * of side threads and coarse readings. */
#define TWO_CORES 1.2

static double cores_on_average(const struct run *r)
{
	return run_total(r, "cpu_seconds") / run_duration(r);
}

static double sent_bytes(const struct run *r)
{
	return run_total(r, "network_sent_bytes");
}

static double network_rate(const struct run *r)
{
	return (run_total(r, "network_sent_bytes") + run_total(r, "network_received_bytes")) /
	       run_duration(r);
}

static double gpus_on_average(const struct run *r)
{
	return run_mean(r, "gpu_usage");
}

static double cores_at_once(const struct run *r)
{
	const struct distribution *d = run_column(r, "cpu_cores");

	return d ? d->p95 : (double)NAN;
}

/* Returns true if the run counts for the profile. It does not count if it used another server type
 * than the newest run with a known type. A run of an unknown type counts. */
static bool run_counts(const struct runs *runs, const struct run *r)
{
	const struct run *newest = runs->run;

	while (newest < runs->run + runs->n && !newest->instance_type)
		newest++;
	return !r->instance_type || newest == runs->run + runs->n ||
	       (strcmp(r->instance_type, newest->instance_type) == 0 &&
		       strcmp(r->vendor_id ? r->vendor_id : "",
			       newest->vendor_id ? newest->vendor_id : "") == 0);
}

/* Collects the newest successful runs for which run_counts is true, newest first. */
static struct runs counted_runs(const struct runs *runs, struct run ret[PROFILE_RUNS])
{
	struct runs used = {0, ret};

	for (size_t i = 0; i < runs->n && used.n < PROFILE_RUNS; i++)
		if (runs->run[i].outcome == OUTCOME_SUCCEEDED && run_counts(runs, &runs->run[i]))
			ret[used.n++] = runs->run[i];
	return used;
}

/* The values of one property in those runs where it is known, in ascending order. */
struct values {
	size_t n;
	double value[PROFILE_RUNS];
};

static struct values values_of(const struct runs *used, double (*get)(const struct run *))
{
	struct values v = {0};

	for (size_t i = 0; i < used->n; i++) {
		double value = get(&used->run[i]);

		if (!isnan(value))
			v.value[v.n++] = value;
	}
	qsort(v.value, v.n, sizeof *v.value, stats_ascending);
	return v;
}

/* Returns the percentile by nearest rank. NaN = no values. */
static double percentile(const struct values *v, double share)
{
	size_t rank = (size_t)ceil(share * (double)v->n);

	return v->n ? v->value[rank ? rank - 1 : 0] : (double)NAN;
}

static double median_of_runs(const struct runs *used, double (*get)(const struct run *))
{
	struct values v = values_of(used, get);

	return percentile(&v, 0.5);
}

static double cores_of_job(const struct runs *used)
{
	double cores = median_of_runs(used, cores_at_once);

	return cores < TWO_CORES ? 1 : cores;
}

static struct job_profile profile_of(const struct runs *used, double seconds)
{
	return (struct job_profile){
		.duration_seconds = seconds,
		.duration_low = NAN,
		.duration_high = NAN,
		.cpu_seconds = median_of_runs(used, cores_on_average) * seconds,
		.gpu_seconds = median_of_runs(used, gpus_on_average) * seconds,
		.cores = cores_of_job(used),
		.gpus = median_of_runs(used, run_needs_gpus),
		.sent_bytes = median_of_runs(used, sent_bytes),
	};
}

struct job_profile job_profile_of(const struct runs *runs, const struct sizing *s)
{
	struct run run[PROFILE_RUNS];
	struct runs used = counted_runs(runs, run);
	struct job_profile p = profile_of(&used, s ? s->demand.duration_seconds : (double)NAN);

	if (s) {
		p.duration_low = s->duration_low;
		p.duration_high = s->duration_high;
	}
	return p;
}

/* Splits a name into words. Changes the words to lower case, because program names are usually in
 * lower case. One-letter words such as "R" keep their case. */
static struct text_list words_of_name(const char *job, struct arena *arena)
{
	struct job_parts p = job_key_parts(job);
	const char *name = p.name;
	size_t len = strlen(name);
	const char **text = arena_alloc(arena, (len / 2 + 1) * sizeof *text);
	struct text_list ret = {0, text};

	for (size_t at = 0, n; at < len; at += n + 1) {
		n = strcspn(name + at, "/-_.: ");
		if (!n)
			continue;
		char *word = arena_text(arena, name + at, n);

		for (char *c = word; n > 1 && *c; c++)
			*c = (char)tolower((unsigned char)*c);
		text[ret.n++] = word;
	}
	return ret;
}

struct job_habits job_profile_habits(const struct runs *runs, struct arena *arena)
{
	struct run run[PROFILE_RUNS];
	struct runs used = counted_runs(runs, run);
	/* The duration 1 is arbitrary: all results are shares. */
	struct job_profile p = profile_of(&used, 1);

	return (struct job_habits){
		.cpu_share = forecast_cpu_share(&p),
		.cores = p.cores,
		.gpu_share = p.gpu_seconds / (p.duration_seconds * fmax(p.gpus, 1)),
		.memory_bytes = median_of_runs(&used, run_needs_memory),
		.network_bytes_per_second = median_of_runs(&used, network_rate),
		.programs = runs->n ? words_of_name(runs->run[0].job_name, arena) :
				      (struct text_list){0},
	};
}
