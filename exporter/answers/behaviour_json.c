#include "exporter/answers/behaviour_json.h"

#include "exporter/answers/server_answer.h"

static json_t *changes_json(const struct behaviour *b)
{
	json_t *a = json_array();

	for (size_t i = 0; i < b->n_changes; i++) {
		const struct change *c = &b->changes[i];
		json_t *o = json_object();

		json_put(o, "kind", json_text(change_kind_name[c->kind]));
		json_put(o, "measure", json_text(c->measure));
		json_put(o, "run_id", json_text(c->run_id));
		json_put(o, "before", json_by_key(c->measure, c->before));
		json_put(o, "after", json_by_key(c->measure, c->after));
		json_put(o, "chance", json_ratio(c->chance));
		json_put(o, "words", json_text(c->words));
		json_push(a, o);
	}
	return a;
}

/* Makes JSON of the expected value and two bounds: 10 % of the runs are expected to be below "low",
 * and 10 % above "high". */
static json_t *interval_json(double expected, double low, double high, json_t *(*number)(double))
{
	json_t *o = json_object();

	json_put(o, "expected", number(expected));
	json_put(o, "low", number(low));
	json_put(o, "high", number(high));
	return o;
}

static json_t *forecast_json(const struct prospect *p, const struct sizing *next)
{
	const double *peak = p->peak;
	json_t *o = json_object();

	json_put(o, "memory_peak_bytes",
		interval_json(peak[PROSPECT_POINTS / 2], peak[PROSPECT_POINTS / 10],
			peak[PROSPECT_POINTS - PROSPECT_POINTS / 10], json_bytes));
	json_put(o, "duration_seconds",
		interval_json(next->demand.duration_seconds, next->duration_low,
			next->duration_high, json_seconds));
	return o;
}

static json_t *phase_json(const struct phase *p)
{
	json_t *o = json_object();

	json_put(o, "start_seconds", json_seconds(p->start));
	json_put(o, "seconds", json_seconds(p->seconds));
	json_put(o, "cpu_cores", json_cores(p->demand.cpu_cores));
	json_put(o, "cpu_cores_mean", json_cores(p->cores_mean));
	json_put(o, "memory_bytes", json_bytes(p->demand.memory_bytes));
	json_put(o, "gpus", json_ratio(p->demand.gpus));
	json_put(o, "gpu_usage_mean", json_ratio(p->gpu_mean));
	json_put(o, "vram_bytes", json_bytes(p->demand.vram_bytes));
	return o;
}

static json_t *phases_json(const struct phases *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_push(a, phase_json(&p->phase[i]));
	return a;
}

static json_t *server_json(const struct split_step *s)
{
	json_t *o;

	if (!s->pick.server)
		return json_null();
	o = json_object();
	json_put(o, "vendor_id", json_text(s->pick.server->vendor_id));
	json_put(o, "server_id", json_text(s->pick.server->server_id));
	json_put(o, "vcpus", json_num(s->pick.server->vcpus));
	json_put(o, "memory_amount", json_num(s->pick.server->memory_amount));
	server_answer_put_region(o, s->pick.region);
	json_put(o, "price", json_money(s->pick.price));
	json_put(o, "forecast_cost", json_money(s->pick.forecast_cost));
	json_put(o, "currency", json_text(s->currency));
	return o;
}

static json_t *split_json(const struct behaviour *b)
{
	const struct split *s = b->split;
	json_t *o, *parts;
	double apart = 0;

	if (!s)
		return json_null();
	o = json_object();
	parts = json_array();
	for (size_t i = 0; i < s->parts.n; i++) {
		json_t *part = phase_json(&s->parts.phase[i]);

		json_put(part, "server", server_json(&b->steps[i]));
		json_push(parts, part);
		apart += b->steps[i].pick.forecast_cost;
	}
	json_put(o, "words", json_text(s->words));
	json_put(o, "reserved_saving_ratio", json_ratio(s->saving));
	json_put(o, "cost_saving_ratio", json_ratio(1 - apart / b->whole->pick.forecast_cost));
	json_put(o, "in_one_step", server_json(b->whole));
	json_put(o, "parts", parts);
	return o;
}

static json_t *running_json(const struct running_run *run)
{
	const struct running *r = &run->outlook;
	json_t *o = json_object(), *left = json_object();

	json_put(left, "memory", json_ratio(r->overprovisioned_memory));
	json_put(left, "cpu", json_ratio(r->overprovisioned_cpu));
	json_put(o, "run_id", json_text(run->run_id));
	json_put(o, "oom_risk_ratio", json_ratio(r->oom_risk));
	json_put(o, "expected_peak_bytes", json_bytes(r->expected_peak_bytes));
	json_put(o, "expected_duration_seconds", json_seconds(r->expected_duration_seconds));
	json_put(o, "expected_end", json_time(r->expected_end));
	json_put(o, "overprovisioned_ratio", left);
	return o;
}

void behaviour_json_put(json_t *o, const struct behaviour *b, const struct sizing *next)
{
	json_t *running = json_array();

	for (size_t i = 0; i < b->n_running; i++)
		json_push(running, running_json(&b->running[i]));
	json_put(o, "forecast", forecast_json(&b->prospect, next));
	json_put(o, "changes", changes_json(b));
	json_put(o, "phases", phases_json(&b->phases));
	json_put(o, "split", split_json(b));
	json_put(o, "running", running);
}
