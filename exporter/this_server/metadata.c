/* Talks to the services of all vendors at the same time, in one poll loop. */
#include "exporter/this_server/metadata.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/client/link_local_http.h"

#define ANSWER_MAX  (64u * 1024)
#define REQUEST_MAX 2048u
#define TOKEN_MAX   512

enum conversation_progress { ASKING, ANSWERED, GAVE_UP };

struct conversation {
	const struct cloud_vendor *vendor;
	struct sockaddr_in address;
	enum conversation_progress progress;
	bool wants_token; /* the current request is for the token */
	size_t question;
	char token[TOKEN_MAX];
	int fd;
	struct buf request, answer;
	size_t sent;
	struct machine found;
};

static void hang_up(struct conversation *c)
{
	closep(&c->fd);
	c->fd = -1;
}

static void give_up(struct conversation *c)
{
	hang_up(c);
	c->progress = GAVE_UP;
}

static void write_request(struct conversation *c)
{
	const struct cloud_vendor *v = c->vendor;

	buf_reset(&c->request);
	buf_addf(&c->request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n",
		c->wants_token ? "PUT" : "GET",
		c->wants_token ? v->token_path : v->question[c->question].path, v->address);
	if (c->wants_token)
		buf_addf(&c->request, "%s\r\nContent-Length: 0\r\n", v->token_lifetime);
	else if (v->token_path)
		buf_addf(&c->request, "%s: %s\r\n", v->token_header, c->token);
	if (v->header)
		buf_addf(&c->request, "%s\r\n", v->header);
	buf_adds(&c->request, "\r\n");
}

/* Opens a connection and prepares the request. Each request needs a new connection, because the
 * services close the connection after each response. */
static void begin_question(struct conversation *c)
{
	hang_up(c);
	write_request(c);
	buf_reset(&c->answer);
	c->sent = 0;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || c->request.full ||
		(connect(c->fd, (const struct sockaddr *)&c->address, sizeof c->address) < 0 &&
			errno != EINPROGRESS))
		give_up(c);
}

static bool take_token(struct conversation *c, const struct link_local_answer *a)
{
	size_t len = a->len;

	while (len && (a->body[len - 1] == '\n' || a->body[len - 1] == '\r'))
		len--;
	if (len == 0 || len >= sizeof c->token)
		return false;
	for (size_t i = 0; i < len; i++)
		if (a->body[i] <= ' ' || a->body[i] > '~')
			return false;
	slice_copy((struct slice){a->body, len}, c->token, sizeof c->token);
	return true;
}

/* Handles a complete response, then sends the next question. */
static void next_question(struct conversation *c, const struct link_local_answer *a)
{
	const struct cloud_question *q = &c->vendor->question[c->question];

	if (c->wants_token) {
		if (a->status != 200 || !take_token(c, a)) {
			give_up(c);
			return;
		}
		c->wants_token = false;
		begin_question(c);
		return;
	}
	bool accepted = a->status == 200 && q->take(a->body, a->len, &c->found);

	if (!accepted && !q->optional) {
		give_up(c);
		return;
	}
	c->question++;
	if (c->question < CLOUD_QUESTIONS_MAX && c->vendor->question[c->question].path) {
		begin_question(c);
		return;
	}
	hang_up(c);
	c->progress = ANSWERED;
}

static void receive(struct conversation *c)
{
	char chunk[4096];
	struct link_local_answer a;
	ssize_t n = recv(c->fd, chunk, sizeof chunk, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&c->answer, chunk, (size_t)n);
	if (n < 0 || c->answer.full || !c->answer.len) {
		give_up(c);
		return;
	}
	int code = link_local_http_read(c->answer.data, c->answer.len, n == 0, &a);

	if (code < 0)
		give_up(c);
	else if (code > 0)
		next_question(c, &a);
}

static void send_rest(struct conversation *c)
{
	ssize_t n = send(c->fd, c->request.data + c->sent, c->request.len - c->sent, MSG_NOSIGNAL);

	if (n >= 0)
		c->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		give_up(c);
}

static void go_on(struct conversation *c)
{
	if (c->sent < c->request.len)
		send_rest(c);
	else
		receive(c);
}

static void conversation_begin(struct conversation *c, const struct cloud_vendor *v,
	unsigned short port)
{
	*c = (struct conversation){
		.vendor = v,
		.wants_token = v->token_path != NULL,
		.fd = -1,
		.request = BUF_MAX(REQUEST_MAX),
		.answer = BUF_MAX(ANSWER_MAX),
		.address = {.sin_family = AF_INET, .sin_port = htons(port)},
	};
	if (inet_pton(AF_INET, v->address, &c->address.sin_addr) != 1)
		c->progress = GAVE_UP;
	else
		begin_question(c);
}

/* Waits until a service that was asked can be written to or read from, and continues with each such
 * service. Returns how many services had not answered all questions before the wait. -ECANCELED:
 * `stop` is readable. */
static int turn(struct conversation *c, size_t n, int stop, int timeout_ms)
{
	struct pollfd fds[CLOUD_VENDORS_MAX + 1];
	int talking = 0;

	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){
			.fd = c[i].fd, .events = c[i].sent < c[i].request.len ? POLLOUT : POLLIN};
		talking += c[i].progress == ASKING;
	}
	fds[n] = (struct pollfd){.fd = stop, .events = POLLIN};
	if (talking == 0 || poll(fds, n + 1, timeout_ms) <= 0)
		return talking;
	if (fds[n].revents)
		return -ECANCELED;
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents && c[i].progress == ASKING)
			go_on(&c[i]);
	return talking;
}

static const struct conversation *answered(const struct conversation *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].progress == ANSWERED)
			return &c[i];
	return NULL;
}

int metadata_ask(const struct cloud_vendor *const *vendors, size_t n, unsigned short port,
	double seconds, int stop, struct machine *ret)
{
	struct conversation c[CLOUD_VENDORS_MAX] = {0};
	struct mono start = now_read().mono;
	const struct conversation *found = NULL;
	int code = 1;

	n = n < CLOUD_VENDORS_MAX ? n : CLOUD_VENDORS_MAX;
	for (size_t i = 0; i < n; i++)
		conversation_begin(&c[i], vendors[i], port);
	while (code > 0 && !(found = answered(c, n))) {
		double left = seconds - mono_seconds_between(start, now_read().mono);

		code = left > 0 ? turn(c, n, stop, (int)(left * 1e3) + 1) : 0;
	}
	if (found) {
		*ret = found->found;
		text_copy(found->vendor->vendor_id, ret->vendor_id, sizeof ret->vendor_id);
		text_copy(found->vendor->vendor_id, ret->source, sizeof ret->source);
	}
	for (size_t i = 0; i < n; i++) {
		hang_up(&c[i]);
		buf_done(&c[i].request);
		buf_done(&c[i].answer);
	}
	return found ? 0 : code < 0 ? code : -ENOENT;
}
