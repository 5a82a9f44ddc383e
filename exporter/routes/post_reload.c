/* POST /-/reload: reads the rules of --jobs.rules again, as SIGHUP does. */
#include <errno.h>

#include "exporter/core/json_key.h"
#include "exporter/core/app.h"
#include "exporter/core/json.h"
#include "exporter/api/route.h"
#include "exporter/sampling/rules_reload.h"

static const struct parameter no_parameters[] = {{0}};

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)a;
	int code = rules_reload_now(app, e);

	if (code == -ECANCELED)
		return reply_error(r, 503, "not_reloaded", "%s", e->text);
	if (code)
		return reply_error(r, 500, "bad_file", "%s", e->text);
	json_t *o = json_object();

	json_put(o, "reloaded", json_true());
	return reply_json(r, 200, o);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"reloaded", KEY_FLAG, .required = true, .help = "True"},
	{0},
};
/* clang-format on */

const struct route route_post_reload = {
	.path = "/-/reload",
	.help = "Reads the rules anew, as SIGHUP does; a file with a mistake changes nothing",
	.parameters = no_parameters,
	.answer = answer,
	.gives = answer_keys,
	.errors = (const struct route_error[]){{500, "bad_file"}, {503, "not_reloaded"}, {0}},
};
