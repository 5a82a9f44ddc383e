#include "exporter/http/exchange.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "exporter/http/framing.h"
#include "exporter/site/event_stream.h"

struct visit *exchange_visit(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

struct exchange *exchange_new(struct site *site, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *x = xcalloc(1, sizeof *x);

	x->site = site;
	x->connection = connection;
	x->target = xstrdup(uri);
	x->body = BUF_MAX(CHANGE_BODY_MAX);
	return x;
}

static void leave_slow_queue(struct exchange *x)
{
	if (x->slow_queue)
		slow_queue_leave(x->slow_queue, x->weight);
	x->slow_queue = NULL;
}

/* Bytes of memory that the bodies of all requests take now. */
static atomic_size_t kept;

static void drop_body(struct exchange *x)
{
	atomic_fetch_sub(&kept, x->body.len);
	buf_done(&x->body);
	x->keeps_body = false;
}

static void drop_answer(struct http_answer *a)
{
	event_stream_close(a->stream);
	shared_drop(&a->body->shared);
}

void exchange_free(struct exchange *x)
{
	if (x->answered)
		drop_answer(&x->answer);
	leave_slow_queue(x);
	drop_body(x);
	free(x->target);
	free(x);
}

void exchange_keep(struct exchange *x, const char *data, size_t len)
{
	size_t before = x->body.len;

	if (!x->keeps_body)
		return;
	buf_add(&x->body, data, len);
	size_t more = x->body.len - before;

	if (atomic_fetch_add(&kept, more) + more <= memory_budget()->changes)
		return;
	drop_body(x);
	x->body_dropped = true;
}

static const char *header(const struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result add_to_framing(void *framing, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	(void)kind;
	framing_add(framing, name, value);
	return MHD_YES;
}

bool exchange_is_ambiguous(const struct exchange *x, const char *version)
{
	struct framing f = {0};

	MHD_get_connection_values(x->connection, MHD_HEADER_KIND, add_to_framing, &f);
	return framing_is_ambiguous(&f, x->target, version, header(x, MHD_HTTP_HEADER_HOST));
}

uint64_t exchange_length(const struct exchange *x)
{
	return framing_length(header(x, MHD_HTTP_HEADER_CONTENT_LENGTH));
}

struct http_request exchange_request(const struct exchange *x, const char *method)
{
	const struct visit *v = exchange_visit(x->connection);

	return (struct http_request){
		.method = method,
		.target = x->target,
		.accept = header(x, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header(x, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.scrape_timeout = header(x, "X-Prometheus-Scrape-Timeout-Seconds"),
		.if_none_match = header(x, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.last_event_id = header(x, "Last-Event-ID"),
		.host = header(x, MHD_HTTP_HEADER_HOST),
		.origin = header(x, MHD_HTTP_HEADER_ORIGIN),
		.fetch_site = header(x, "Sec-Fetch-Site"),
		.authorization = header(x, MHD_HTTP_HEADER_AUTHORIZATION),
		.content_type = header(x, MHD_HTTP_HEADER_CONTENT_TYPE),
		.space = x->space[0] ? x->space : NULL,
		.peer = v->peer,
		.loopback = v->loopback,
		.body = {x->body.data, x->body.len},
		.body_too_large = x->body.full,
	};
}

static void refuse(struct exchange *x)
{
	site_refusal(&x->answer, 503, "overloaded",
		"too many large answers are being made or sent; try again in a second");
}

/* An answer that a loose thread makes. The struct has its own copies of the texts of the request,
 * because the connection may end before the thread. */
struct answering {
	struct slow_work work; /* must be the first member */
	struct site *site;
	struct http_request request;
	struct http_answer answer;
	struct arena texts;
};

static void answering_free(struct answering *a)
{
	arena_done(&a->texts);
	free(a);
}

static void answering_make(struct slow_work *work)
{
	struct answering *a = (struct answering *)(void *)work;

	site_answer(a->site, &a->request, &a->answer);
}

static void answering_drop(struct slow_work *work)
{
	struct answering *a = (struct answering *)(void *)work;

	if (a->answer.body)
		drop_answer(&a->answer);
	answering_free(a);
}

static struct answering *answering_new(const struct exchange *x)
{
	struct answering *a = xcalloc(1, sizeof *a);
	struct http_request *r = &a->request;
	const char **const texts[] = {&r->method, &r->accept, &r->accept_encoding,
		&r->scrape_timeout, &r->if_none_match, &r->last_event_id, &r->host, &r->origin,
		&r->fetch_site, &r->content_type, &r->authorization, &r->space};

	a->work.make = answering_make;
	a->work.drop = answering_drop;
	a->site = x->site;
	*r = x->request;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (*texts[i])
			*texts[i] = arena_text(&a->texts, *texts[i], strlen(*texts[i]));
	r->target = arena_text(&a->texts, r->target, strlen(r->target));
	if (r->body.len)
		r->body.data = arena_text(&a->texts, r->body.data, r->body.len);
	return a;
}

/* Makes the answer on a loose thread, because the disk of the history may never respond. */
static void answer_loosely(struct exchange *x)
{
	struct answering *a = answering_new(x);

	if (slow_queue_work(x->slow_queue, &a->work)) {
		x->answer = a->answer;
		answering_free(a);
		return;
	}
	site_no_answer(x->site, &x->answer);
}

/* Makes the answer on the queue's thread. The suspended connection owns the texts of the request,
 * so they stay valid until the answer is made. */
static void answer_now(struct slow_task *task, bool wanted)
{
	struct exchange *x =
		(struct exchange *)((char *)task - offsetof(struct exchange, slow_task));

	if (!wanted || memory_budget_is_short(0))
		refuse(x);
	else if (slow_queue_is_loose(x->slow_queue))
		answer_loosely(x);
	else
		site_answer(x->site, &x->request, &x->answer);
	x->weight = x->answer.body->len;
	memory_budget_tidy();
	slow_queue_weigh(x->slow_queue, x->weight);
	x->answered = true;
	MHD_resume_connection(x->connection);
}

const struct http_answer *exchange_take_answer(struct exchange *x)
{
	x->answered = false;
	/* An event stream may last for hours. Leave the queue at once, so that the stream does not
	 * occupy a place in it. event_stream.h limits the number of streams. */
	if (x->answer.stream)
		leave_slow_queue(x);
	return &x->answer;
}

void exchange_answer_later(struct exchange *x, struct slow_queue *q, const struct http_request *r)
{
	x->request = *r;
	x->slow_task.run = answer_now;
	/* Set the queue before slow_queue_take, because the queue's thread may answer at once. */
	x->slow_queue = q;
	MHD_suspend_connection(x->connection);
	if (slow_queue_take(q, &x->slow_task))
		return;
	x->slow_queue = NULL;
	refuse(x);
	x->answered = true;
	MHD_resume_connection(x->connection);
}
