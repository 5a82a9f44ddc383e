/* A recommendation as JSON. */
#include "exporter/recommend_json.h"

#include <math.h>
#include <stddef.h>

#include "collectors/base/mem.h"

static json_t *based_on_json(const struct sizing *s)
{
	json_t *o = json_object();

	json_put(o, "runs", json_num((double)s->runs));
	json_put(o, "excluded", json_num((double)s->excluded));
	json_put(o, "first", json_time(s->first));
	json_put(o, "last", json_time(s->last));
	json_put(o, "samples", json_num((double)s->samples));
	json_put(o, "confidence", json_text(confidence_name(s->confidence)));
	return o;
}

/* Zero CPUs or memory cannot be asked for: it means unknown. */
static json_t *resources_json(const struct resources *r)
{
	json_t *o = json_object();

	json_put(o, "cpu", json_num(r->cpu ? (double)r->cpu : NAN));
	json_put(o, "memory", json_num(r->memory ? (double)r->memory : NAN));
	json_put(o, "gpu", json_num((double)r->gpu));
	json_put(o, "vram", json_num((double)r->vram));
	return o;
}

static json_t *explain_json(const struct sizing *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n_explain; i++)
		json_push(a, json_text(s->explain[i]));
	return a;
}

json_t *recommend_json(const struct recommendation *r)
{
	json_t *o = json_object();

	json_put(o, "job_name", json_text(r->job_name));
	json_put(o, "generated_at", json_time(r->generated_at));
	json_put(o, "strategy", json_text(r->strategy));
	json_put(o, "based_on", based_on_json(r->sizing));
	json_put(o, "resources", resources_json(&r->sizing->resources));
	json_put(o, "demand", demand_json(&r->sizing->demand));
	json_put(o, "explain", explain_json(r->sizing));
	server_answer_put(o, r->servers);
	return o;
}
