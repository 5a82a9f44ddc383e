#include "exporter/answers/sizing_json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "collectors/base/mem.h"
#include "recommender/run.h"

static json_t *range_json(double low, double high, json_t *(*number)(double))
{
	json_t *o = json_object();

	json_put(o, "min", number(low));
	json_put(o, "max", number(high));
	return o;
}

/* Adds a count. Without `details`, a count of 0 is left out. */
static void put_count(json_t *o, const char *key, size_t n, bool details)
{
	if (n || details)
		json_put(o, key, json_num((double)n));
}

/* Makes JSON of what the failed runs used, and how often each exit code and each signal ended a
 * run. */
static json_t *failed_runs_json(const struct endings *e)
{
	json_t *o = json_object(), *codes = json_object(), *signals = json_object();

	for (size_t i = 0; i < e->n_codes; i++) {
		char code[16];

		snprintf(code, sizeof code, "%d", e->code[i].code);
		json_put(e->code[i].signal ? signals : codes, code,
			json_num((double)e->code[i].runs));
	}
	json_put(o, "runs", json_num((double)e->failed));
	json_put(o, "memory_peak_bytes",
		range_json(e->failed_peak_low, e->failed_peak_high, json_bytes));
	json_put(o, "duration_seconds",
		range_json(e->failed_seconds_low, e->failed_seconds_high, json_seconds));
	json_put(o, "exit_codes", codes);
	json_put(o, "signals", signals);
	return o;
}

/* Makes JSON of how the newest runs ended: numbers of runs by outcome, and of runs that met a
 * limit. */
static json_t *ended_json(const struct endings *e, bool details)
{
	json_t *o = json_object();

	json_put(o, "succeeded", json_num((double)e->succeeded));
	put_count(o, "failed", e->failed, details);
	put_count(o, "unknown", e->unknown, details);
	put_count(o, "interrupted", e->interrupted, details);
	put_count(o, "killed_for_memory", e->killed, details);
	put_count(o, "at_memory_limit", e->at_limit, details);
	put_count(o, "cut", e->cut, details);
	return o;
}

static json_t *based_on_json(const struct sizing *s, bool details)
{
	json_t *o = json_object();

	json_put(o, "runs", json_num((double)s->runs));
	json_put(o, "excluded", json_num((double)s->excluded));
	json_put(o, "ended", ended_json(&s->endings, details));
	if (s->endings.failed || details)
		json_put(o, "failed_runs", failed_runs_json(&s->endings));
	put_count(o, "not_measured", s->not_measured, details);
	put_count(o, "uncertain_cpu", s->uncertain_cpu, details);
	json_put(o, "first", json_time(s->first));
	json_put(o, "last", json_time(s->last));
	if (!isnan(s->input_bytes))
		json_put(o, "input_bytes", json_bytes(s->input_bytes));
	if (details)
		json_put(o, "samples", json_num((double)s->samples));
	json_put(o, "confidence", json_text(sizing_confidence_name(s->confidence)));
	if (details)
		json_put(o, "memory_source", json_text(s->memory_source));
	return o;
}

/* For cpu and memory, 0 = unknown, so it becomes null. */
json_t *sizing_json_resources(const struct resources *r)
{
	json_t *o = json_object();

	json_put(o, "cpu", json_num(r->cpu ? (double)r->cpu : NAN));
	json_put(o, "memory", json_num(r->memory ? (double)r->memory : NAN));
	json_put(o, "gpu", json_num((double)r->gpu));
	json_put(o, "vram", json_num((double)r->vram));
	return o;
}

json_t *sizing_json_demand(const struct demand *d)
{
	json_t *o = json_object();

	json_put(o, "cpu_cores", json_cores(d->cpu_cores));
	json_put(o, "memory_bytes", json_bytes(d->memory_bytes));
	json_put(o, "gpus", json_ratio(d->gpus));
	json_put(o, "vram_bytes", json_bytes(d->vram_bytes));
	json_put(o, "disk_bytes", json_bytes(d->disk_bytes));
	json_put(o, "duration_seconds", json_seconds(d->duration_seconds));
	return o;
}

/* Makes JSON of the recommended limits, for systems that have a limit beside the request. */
static json_t *limits_json(const struct sizing *s)
{
	json_t *o = json_object();

	json_put(o, "cpu_cores", json_cores(s->cpu_cores_limit));
	json_put(o, "memory_bytes", json_bytes(s->memory_bytes_limit));
	return o;
}

static json_t *cpu_json(const struct sizing *s, bool details)
{
	json_t *o = json_object(), *at;

	json_put(o, "cores", json_cores(s->demand.cpu_cores));
	json_put(o, "cores_for_speed", json_cores(s->cpu_cores_for_speed));
	json_put(o, "slowdown", json_ratio(s->cpu_slowdown > 0 ? s->cpu_slowdown : (double)NAN));
	if (!details)
		return o;
	at = json_array();
	for (size_t i = 0; i < s->n_at_cores; i++) {
		json_t *one = json_object();

		json_put(one, "cores", json_cores(s->at_cores[i].cores));
		json_put(one, "duration_seconds", json_seconds(s->at_cores[i].seconds));
		json_push(at, one);
	}
	json_put(o, "at_cores", at);
	return o;
}

static json_t *memory_json(const struct sizing *s, bool details)
{
	json_t *o = json_object(), *risks;
	char words[CHANCE_WORDS_MAX];

	json_put(o, "too_small_probability", json_ratio(s->memory_too_small));
	json_put(o, "expected_waste_ratio", json_ratio(s->memory_expected_waste));
	json_put(o, "expected_low_bytes", json_bytes(s->memory_low));
	json_put(o, "expected_high_bytes", json_bytes(s->memory_high));
	if (!details)
		return o;
	risks = json_object();
	for (unsigned i = 0; i < RISK_COUNT; i++)
		json_put(risks, sizing_risk_name((enum risk)i), json_bytes(s->memory_at_risk[i]));
	json_put(o, "at_risk_bytes", risks);
	json_put(o, "too_small_chance", json_text(sizing_chance_words(words, s->memory_too_small)));
	return o;
}

static json_t *duration_json(const struct sizing *s)
{
	json_t *o = json_object();

	json_put(o, "expected_seconds", json_seconds(s->demand.duration_seconds));
	json_put(o, "expected_low_seconds", json_seconds(s->duration_low));
	json_put(o, "expected_high_seconds", json_seconds(s->duration_high));
	return o;
}

static json_t *hindsight_json(const struct hindsight *h)
{
	json_t *o = json_object();

	json_put(o, "runs", json_num((double)h->runs));
	json_put(o, "too_small", json_num((double)h->failures));
	json_put(o, "waste_ratio", json_ratio(h->waste));
	return o;
}

/* Makes JSON of how well two strategies would have sized the job's earlier runs: the chosen
 * strategy, and "baseline". */
static json_t *both_hindsights_json(const struct sizing *s)
{
	json_t *o = json_object();

	json_put(o, "this", hindsight_json(&s->hindsight));
	json_put(o, "baseline", hindsight_json(&s->hindsight_baseline));
	return o;
}

static json_t *explain_json(const struct sizing *s, bool details)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n_explain; i++)
		if (details || !sizing_topic_is_more(s->explain_topic[i]))
			json_push(a, json_text(s->explain[i]));
	return a;
}

static json_t *warning_json(enum warning_code code)
{
	const struct warning_row *row = &warning_rows[code];
	json_t *o = json_object();

	json_put(o, "code", json_text(row->code));
	json_put(o, "severity", json_text(severity_name(row->severity)));
	return o;
}

static json_t *warnings_json(const struct warnings *w)
{
	json_t *all = json_array();

	for (size_t i = 0; i < w->n; i++) {
		json_t *o = warning_json(w->at[i].code);

		json_put(o, "text", json_text(w->at[i].text));
		json_put(o, "runs", json_num((double)w->at[i].runs));
		json_push(all, o);
	}
	return all;
}

/* Makes JSON that says whether a program may act on the answer without a person, and which warnings
 * forbid it, by their codes. */
static json_t *apply_json(const struct warnings *w)
{
	json_t *o = json_object(), *because = json_array();

	for (size_t i = 0; i < w->n; i++)
		if (warning_rows[w->at[i].code].unsafe)
			json_push(because, json_text(warning_rows[w->at[i].code].code));
	json_put(o, "safe", json_boolean(warnings_allow_apply(w)));
	json_put(o, "because", because);
	return o;
}

void sizing_json_put_warnings(json_t *o, const struct warnings *w)
{
	json_put(o, "apply", apply_json(w));
	json_put(o, "warnings", warnings_json(w));
}

void sizing_json_put_codes(json_t *o, uint32_t codes)
{
	struct warnings w = warnings_from_codes(codes);
	json_t *all = json_array();

	for (size_t i = 0; i < w.n; i++)
		json_push(all, warning_json(w.at[i].code));
	json_put(o, "apply", apply_json(&w));
	json_put(o, "warnings", all);
}

void sizing_json_put(json_t *o, const struct sizing *s, bool details)
{
	json_put(o, "summary", json_text(s->summary));
	sizing_json_put_warnings(o, &s->warnings);
	json_put(o, "based_on", based_on_json(s, details));
	json_put(o, "resources", sizing_json_resources(&s->resources));
	json_put(o, "demand", sizing_json_demand(&s->demand));
	json_put(o, "limits", limits_json(s));
	json_put(o, "memory", memory_json(s, details));
	json_put(o, "cpu", cpu_json(s, details));
	json_put(o, "duration", duration_json(s));
	if (details)
		json_put(o, "hindsight", both_hindsights_json(s));
	if (details || warnings_have(&s->warnings, WARNING_MIXED_JOBS))
		json_put(o, "split_job",
			json_boolean(warnings_have(&s->warnings, WARNING_MIXED_JOBS)));
	json_put(o, "explain", explain_json(s, details));
}

/* Makes JSON of the most that any successful run used of each resource. */
static json_t *used_json(const struct runs *runs)
{
	static const struct {
		const char *key, *column;
		bool of_gpu; /* most jobs use no GPU: leave out the key if the value is unknown */
	} rows[] = {{"cpu_cores", "cpu_cores", false}, {"memory_bytes", "memory_peak_bytes", false},
		{"gpus", "gpus_used", true}, {"vram_bytes", "vram_bytes", true}};
	json_t *o = json_object();

	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		double most = NAN;

		for (size_t i = 0; i < runs->n; i++)
			if (runs->run[i].outcome == OUTCOME_SUCCEEDED)
				most = fmax(most, run_peak(&runs->run[i], rows[k].column));
		if (!isnan(most) || !rows[k].of_gpu)
			json_put(o, rows[k].key, json_by_key(rows[k].key, most));
	}
	return o;
}

/* Makes JSON of the newest known request of CPU and of memory. */
static json_t *requested_json(const struct runs *runs)
{
	double cores, memory;
	json_t *o = json_object();

	runs_requested(runs, &cores, &memory);
	json_put(o, "cpu_cores", json_cores(cores));
	json_put(o, "memory_bytes", json_bytes(memory));
	return o;
}

static json_t *paste_json(const struct recommendation *r)
{
	json_t *o = json_object();

	json_put(o, "format", json_text(r->paste_format));
	json_put(o, "text", json_text(r->paste));
	if (r->paste_note)
		json_put(o, "note", json_text(r->paste_note));
	return o;
}

json_t *recommend_json(const struct recommendation *r)
{
	double month = runs_a_month(r->runs);
	json_t *o = json_object();

	json_put_job(o, r->job_name);
	json_put(o, "generated_at", json_time(r->generated_at));
	json_put(o, "strategy", json_text(r->strategy));
	sizing_json_put(o, r->sizing, r->details);
	json_put(o, "used", used_json(r->runs));
	json_put(o, "requested", requested_json(r->runs));
	if (r->details || !isnan(month))
		json_put(o, "runs_a_month", json_ratio(month));
	json_put(o, "paste", paste_json(r));
	server_answer_put(o, r->servers, r->details);
	return o;
}
