/* A recommendation as JSON. */
#include "exporter/answers/recommend_json.h"

#include <stddef.h>

#include "exporter/answers/sizing_json.h"

json_t *recommend_json(const struct recommendation *r)
{
	json_t *o = json_object();

	json_put(o, "job_name", json_text(r->job_name));
	json_put(o, "generated_at", json_time(r->generated_at));
	json_put(o, "strategy", json_text(r->strategy));
	put_sizing(o, r->sizing);
	server_answer_put(o, r->servers);
	return o;
}
