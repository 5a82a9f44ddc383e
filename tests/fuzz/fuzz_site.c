/* The input is a request. Its lines are: method, target, Accept, Accept-Encoding, scrape timeout,
 * Host (which is checked on loopback), Last-Event-ID. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "exporter/site/site.h"
#include "tests/support/fake_sampler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct parameter parameters[] = {{.name = "text",
						      .kind = PARAMETER_TEXT,
						      .required = true,
						      .least = 1,
						      .most = 100,
						      .help = "A text"},
	{0}};

static int echo(struct app *app, const struct arguments *a, struct reply *r, struct err *e)
{
	(void)app;
	(void)e;
	return reply_error(r, 200, "echo", "%s", argument_text(a, "text"));
}

static const struct route route_echo = {"/echo", NULL, "Says it again", parameters, echo};
const struct route *const all_routes[] = {&route_echo, NULL};
const struct route *const all_changes[] = {NULL};

#define NO_HISTORY "/nonexistent/history.db"

static struct options options = {.telemetry_path = "/metrics", .sample_interval = 1};
static struct app app;

static struct site *site(void)
{
	static struct site *s;

	if (!s) {
		app = APP_INIT;
		app.options = &options;
		app.history_path = NO_HISTORY;
		app.sampler = fake_sampler_new();
		fake_sampler_tick(app.sampler);
		s = site_new(&app);
	}
	return s;
}

/* Returns the next line without its end; NULL = no line. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = line ? strchr(line, '\n') : NULL;

	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);
	char *rest = text;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	char *method = next_line(&rest), *target = next_line(&rest);
	char *accept = next_line(&rest), *encoding = next_line(&rest);
	struct http_request r = {method, target, accept, encoding, next_line(&rest)};
	struct http_answer a;

	if (!target)
		return 0;
	r.host = next_line(&rest);
	r.last_event_id = next_line(&rest);
	r.loopback = true;
	site_answer(site(), &r, &a);
	assert(a.body && a.handler && a.content_type[0]);
	assert(a.status != 403 || r.host);
	assert(a.status == 200 || a.status == 400 || a.status == 403 || a.status == 404 ||
		a.status == 405);
	shared_drop(&a.body->shared);
	return 0;
}
