/* The input is a request that changes something, with the real routes. Its first seven lines are:
 * the path, Host, Origin, Sec-Fetch-Site, Content-Type, Authorization, and letters. The body
 * follows.
 *
 * The letters set the circumstances: u (the client uses the Unix socket), t (a token is required),
 * m (the token file is missing), c (changes are closed), l (the body is too large). An accepted
 * change has no effect, because nothing is followed or stored here. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/history/historian.h"
#include "exporter/api/route.h"
#include "exporter/forward/run_message.h"
#include "exporter/site/site.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fake_sampler.h"

static char token_file[] = "/tmp/fuzz-changes-XXXXXX";

static void remove_token(void)
{
	unlink(token_file);
}

static const char *names[] = {"batch.example"};
static struct options options = {.telemetry_path = "/metrics",
	.sample_interval = 1,
	.allowed_hosts = {.n = 1, .text = names}};
static struct app app;

static struct site *site(void)
{
	static struct site *s;

	if (!s) {
		int fd = mkstemp(token_file);

		if (fd < 0 || write(fd, "secret\n", 7) != 7)
			abort();
		close(fd);
		atexit(remove_token);
		app = APP_INIT;
		app.options = &options;
		app.sampler = fake_sampler_new();
		s = site_new(&app);
	}
	return s;
}

/* Returns the next line without its end; NULL = no line, or an empty one. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = line ? strchr(line, '\n') : NULL;

	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line && *line ? line : NULL;
}

/* Writes a parsed message as the forwarder does. Parsing and writing that text again must give the
 * same text. */
static void check_message(const char *text, size_t len)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run run, again;
	struct err e = {0};

	if (run_message_read(&run, text, len, &arena, &e)) {
		assert(e.text[0]);
		return;
	}
	json_t *message = run_message(&run);
	char *first = json_dumps(message, JSON_SORT_KEYS);

	json_decref(message);
	assert(first && run_message_read(&again, first, strlen(first), &arena, &e) == 0);
	message = run_message(&again);
	char *second = json_dumps(message, JSON_SORT_KEYS);

	json_decref(message);
	assert(strcmp(first, second) == 0);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *text = xmalloc(size + 1);
	char *rest = text;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	struct http_request r = {.method = "POST", .target = next_line(&rest)};

	r.host = next_line(&rest);
	r.origin = next_line(&rest);
	r.fetch_site = next_line(&rest);
	r.content_type = next_line(&rest);
	r.authorization = next_line(&rest);
	const char *how = next_line(&rest);

	if (!r.target || !rest)
		return 0;
	r.body = (struct slice){rest, (size_t)(text + size - rest)};
	check_message(r.body.data, r.body.len);
	struct site *s = site();

	options.allow_changes = !how || !strchr(how, 'c');
	options.changes_token_file = how && strchr(how, 'm') ? "/nonexistent/token" :
				     how && strchr(how, 't') ? token_file :
							       NULL;
	if (how && strchr(how, 'u'))
		r.peer = (struct peer){.local = true, .uid = geteuid(), .pid = 1};
	r.body_too_large = how && strchr(how, 'l');
	struct http_answer a;

	/* A complete run from a permitted sender would be passed to a historian, and there is none
	 * here. */
	bool maybe_runs = strstr(r.target, "runs") || strchr(r.target, '%');
	bool may_change = options.allow_changes || r.peer.local || options.changes_token_file;

	if (!maybe_runs || strstr(r.target, "finish") || !may_change) {
		bool by_token;

		assert(!site_takes_body(s, &r, &by_token) ||
			by_token == (!r.peer.local && options.changes_token_file));
		site_answer(s, &r, &a);
		assert(a.body && a.handler && a.status >= 200 && a.status <= 503);
		assert(may_change || a.status >= 400);
		shared_drop(&a.body->shared);
	}
	return 0;
}
