/* /events: the new samples of a run as server-sent events. */
#include "exporter/site/site_state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "exporter/answers/job_runs.h"
#include "exporter/site/event_stream.h"

/* Maximum number that a sample of a run can have: sample numbers have 32 bits. */
#define SAMPLES_MAX 4294967295.0

static const struct parameter parameters[] = {
	{.name = "run",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = RUN_ID_MAX - 1,
		.help = "Id of the run"},
	{.name = "after",
		.kind = PARAMETER_COUNT,
		.fallback = "0",
		.least = 0,
		.most = SAMPLES_MAX,
		.help = "Number of the last sample that is known already: position of /series"},
	{0},
};

const struct route site_events_about = {
	.path = "/events",
	.help = "The new samples of a run as they come, as server-sent events",
	.parameters = parameters,
	.takes_long = true,
	.content_type = "text/event-stream",
	.errors = (const struct route_error[]){RUN_ERRORS, {503, "too_many_streams"}, {0}},
};

/* Returns 1 when the run exists. When it does not, writes an error to `r` and returns 0. Returns a
 * negative errno when the history cannot be read. */
static int run_known(struct app *app, const char *run_id, struct reply *r, struct err *e)
{
	AUTO(history_closep) struct history *h = NULL;
	AUTO(arena_done) struct arena arena = {0};
	struct run_query query = {.run_id = run_id, .limit = 1};
	const struct run *run;

	return run_found(app, &query, &h, &arena, &run, r, e);
}

/* Returns the number of the last sample that the client has already. A browser that reconnects
 * sends this number in Last-Event-ID. */
static int64_t position_of(const struct http_request *r, const struct arguments *a)
{
	const char *last = r->last_event_id ? r->last_event_id : "";
	struct scan s = SCAN(last, strlen(last));
	uint64_t id;

	if (scan_u64(&s, &id) && scan_end(&s) && id <= (uint64_t)SAMPLES_MAX)
		return (int64_t)id;
	return (int64_t)argument_count(a, "after");
}

void site_events(struct site *s, const struct http_request *request, struct request_target *t,
	struct http_answer *ret)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct err e = {0};
	bool is_there = false;
	int code = 0;

	if (site_arguments(&a, parameters, t, &r)) {
		const char *run_id = argument_text(&a, "run");
		int64_t after = position_of(request, &a);

		code = run_known(s->app, run_id, &r, &e);
		/* HEAD opens no stream; it only checks that the run exists. */
		is_there = code > 0;
		if (is_there && strcmp(request->method, "HEAD") != 0)
			code = event_stream_open(s->event_streams, run_id, after, &ret->stream, &e);
		else if (is_there)
			code = 0;
	}
	if (code == -EBUSY)
		reply_error(&r, 503, "too_many_streams", "%s", e.text);
	else if (code)
		reply_error(&r, 500, "internal", "%s", e.text);
	if (is_there && code == 0)
		r.content_type = "text/event-stream";
	site_reply(ret, &r);
}
