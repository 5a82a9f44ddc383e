/* A recommendation as JSON; servers in the field names of the Spare Cores Keeper. */
#include "exporter/recommend_json.h"

#include <stddef.h>

#include "exporter/sizing_json.h"

/* An empty text of a server is unknown. */
static json_t *known_text(const char *s)
{
	return json_text(s && *s ? s : NULL);
}

static json_t *server_json(const struct pick *p, const char *currency)
{
	const struct server *s = p->server;
	json_t *o = json_object();

	json_put(o, "vendor_id", known_text(s->vendor_id));
	json_put(o, "server_id", known_text(s->server_id));
	json_put(o, "api_reference", known_text(s->api_reference));
	json_put(o, "display_name", known_text(s->display_name));
	json_put(o, "family", known_text(s->family));
	json_put(o, "region_id", known_text(p->region_id));
	json_put(o, "vcpus", json_num(s->vcpus));
	json_put(o, "memory_amount", json_num(s->memory_amount));
	json_put(o, "cpu_architecture", known_text(architecture_name[s->cpu_architecture]));
	json_put(o, "cpu_allocation", known_text(cpu_allocation_name[s->cpu_allocation]));
	json_put(o, "gpu_count", json_num(s->gpu_count));
	json_put(o, "gpu_manufacturer", known_text(s->gpu_manufacturer));
	json_put(o, "gpu_model", known_text(s->gpu_model));
	json_put(o, "gpu_memory_total", json_num(s->gpu_memory_total));
	json_put(o, "storage_size", json_num(s->storage_size));
	json_put(o, "score", json_num(s->score));
	json_put(o, "min_price_ondemand", json_num(s->min_price_ondemand));
	json_put(o, "min_price_spot", json_num(s->min_price_spot));
	json_put(o, "price", json_num(p->price));
	json_put(o, "currency", json_text(currency));
	json_put(o, "forecast_duration_seconds", json_num(p->forecast_duration_seconds));
	json_put(o, "forecast_cost", json_num(p->forecast_cost));
	return o;
}

static json_t *servers_json(const struct picks *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_push(a, server_json(&p->pick[i], p->currency));
	return a;
}

static json_t *catalogue_json(const struct catalogue *c)
{
	json_t *o = json_object();

	json_put(o, "source", known_text(c->source));
	json_put(o, "as_of", known_text(c->as_of));
	json_put(o, "servers", json_num((double)c->n));
	return o;
}

/* Why the other servers were left out: an empty answer explains itself. */
static json_t *filtered_json(const struct picks *p)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < EXCLUSION_COUNT; i++)
		if (p->excluded[i])
			json_put(o, exclusion_name[i], json_num((double)p->excluded[i]));
	return o;
}

json_t *recommend_json(const struct recommendation *r)
{
	json_t *o = json_object();

	json_put(o, "job_name", json_text(r->job_name));
	json_put(o, "generated_at", json_time(r->generated_at));
	json_put(o, "strategy", json_text(r->strategy));
	put_sizing(o, r->sizing);
	json_put(o, "servers", servers_json(r->picks));
	json_put(o, "servers_fitting", json_num((double)r->picks->fitting));
	json_put(o, "catalogue", catalogue_json(r->catalogue));
	json_put(o, "filtered", filtered_json(r->picks));
	return o;
}
