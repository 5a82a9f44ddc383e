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

void exchange_free(struct exchange *x)
{
	if (x->answered) {
		event_stream_close(x->answer.stream);
		shared_drop(&x->answer.body->shared);
	}
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

/* Answers on the queue's thread. The suspended connection owns the texts of the request. */
static void answer_now(struct slow_task *task, bool wanted)
{
	struct exchange *x =
		(struct exchange *)((char *)task - offsetof(struct exchange, slow_task));

	if (wanted && !memory_budget_is_short(0))
		site_answer(x->site, &x->request, &x->answer);
	else
		refuse(x);
	x->weight = x->answer.body->len;
	memory_budget_tidy();
	slow_queue_weigh(x->slow_queue, x->weight);
	x->answered = true;
	MHD_resume_connection(x->connection);
}

const struct http_answer *exchange_take_answer(struct exchange *x)
{
	x->answered = false;
	/* Remove the stream from the queue at once. A stream may last for hours, and would use a
	 * place in the queue all that time. event_stream.h limits the number of streams. */
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
