/* /server: the cloud server on which this program runs. */
#include "exporter/core/json_key.h"
#include "exporter/core/app.h"
#include "exporter/core/json.h"
#include "exporter/this_server/this_server.h"
#include "exporter/api/route.h"

static const struct parameter parameters[] = {{0}};

static void put_known(json_t *o, const char *key, const char *text)
{
	json_put(o, key, json_text(text && *text ? text : NULL));
}

static int answer(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	struct machine m;
	json_t *o = json_object();

	(void)a;
	(void)e;
	/* On the command line no thread detects the server, so detect it now. */
	if (app->machine)
		this_server_now(app, &m);
	else
		this_server_find(app->options, &m);
	put_known(o, "host", m.host);
	put_known(o, "vendor_id", m.vendor_id);
	put_known(o, "instance_type", m.instance_type);
	put_known(o, "region", m.region);
	put_known(o, "zone", m.zone);
	put_known(o, "allocation", this_server_allocation_name(m.allocation));
	put_known(o, "source", m.source);
	return reply_json(r, 200, o);
}

/* clang-format off */
static const struct json_key answer_keys[] = {
	{"host", KEY_TEXT, .help = "Name of the machine"},
	{"vendor_id", KEY_TEXT, .help = "Vendor"},
	{"instance_type", KEY_TEXT, .help = "Type of the server, in the name of the vendor"},
	{"region", KEY_TEXT, .help = "Region"},
	{"zone", KEY_TEXT, .help = "Zone"},
	{"allocation", KEY_TEXT, .help = "ondemand or spot"},
	{"source", KEY_TEXT, .help = "Who said so"},
	{0},
};
/* clang-format on */

const struct route route_server = {
	.path = "/server",
	.command = "server",
	.help = "Which cloud server this is: vendor, instance type, region, zone, spot or on "
		"demand, and who said so",
	.parameters = parameters,
	.answer = answer,
	.gives = answer_keys,
};
