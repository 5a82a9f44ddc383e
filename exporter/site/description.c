#include "exporter/site/description.h"

#include "exporter/api/openapi.h"
#include "exporter/core/json_key.h"
#include "exporter/core/memory_budget.h"
#include "exporter/site/manual_pages.h"
#include "exporter/site/site_state.h"

static const char *page_name(size_t i)
{
	return manual_pages[i].name;
}

static const struct parameter manual_parameters[] = {
	{.name = "page",
		.kind = PARAMETER_CHOICE,
		.required = true,
		.choice = page_name,
		.help = "Name of the page"},
	{0},
};

json_t *description_of(const struct site_page *pages, const char *metrics_path)
{
	json_t *o = openapi_new();
	struct route manual_page = site_manual_about;

	manual_page.help = "A page of the manual";
	manual_page.parameters = manual_parameters;
	openapi_add(o, "get", metrics_path, &site_metrics_about);
	for (const struct route *const *r = all_routes; *r; r++)
		openapi_add(o, "get", (*r)->path, *r);
	for (const struct route *const *r = all_changes; *r; r++)
		openapi_add(o, "post", (*r)->path, *r);
	for (const struct site_page *p = pages; p->about; p++)
		openapi_add(o, "get", p->about->path, p->about);
	if (manual_pages[0].name)
		openapi_add(o, "get", "/manual/{page}", &manual_page);
	return o;
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"openapi", KEY_TEXT, .required = true, .help = "Version of the specification"},
	{"info", KEY_OBJECT, .required = true, .help = "Name and version of this program"},
	{"paths", KEY_OBJECT, .required = true, .help = "The routes"},
	{"components", KEY_OBJECT, .required = true, .help = "Schemas that several routes share"},
	{0},
};
/* clang-format on */

const struct route site_openapi_about = {
	.path = "/openapi.json",
	.help = "All routes with their parameters, bodies, answers and errors, as OpenAPI 3.1",
	.gives = answer_keys,
};

void site_openapi(struct site *s, const struct http_request *request, struct request_target *t,
	struct http_answer *ret)
{
	struct reply r = {.body = BUF_MAX(memory_budget()->answer)};

	(void)t;
	reply_json(&r, 200, description_of(s->pages, s->app->options->telemetry_path));
	site_reply(ret, &r);
	site_compress(s, request, ret);
}
