/* Only this file, entry.c, exchange.c and send.c use libmicrohttpd. */
#include "exporter/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/core/memory_budget.h"
#include "exporter/http/connections.h"
#include "exporter/http/entry.h"
#include "exporter/http/send.h"
#include "exporter/http/listen.h"
#include "exporter/core/log.h"
#include "exporter/http/peer.h"
#include "exporter/options/shapes.h"
#include "exporter/sampling/sampler.h"
#include "exporter/site/site.h"
#include "exporter/http/web_access.h"

#define THREADS      2u
#define THREAD_STACK ((size_t)256 * 1024)

/* Bytes of memory for the request line and the headers of a connection. If a request needs more,
 * libmicrohttpd itself answers with 414 or 431 in HTML. */
#define CONNECTION_MEMORY ((size_t)16 * 1024)
/* When unsent answers fill 3/4 of the memory for answers (memory_budget.answers), a connection is
 * closed to free memory. The last quarter is a reserve, because it may take some time until the
 * connection is closed. */
#define ANSWERS_FULL    3
#define ANSWERS_FULL_OF 4

/* A connection is closed when no byte was received or sent for this many seconds. FIRST_TIMEOUT
 * applies until the headers of the first request have arrived, and IDLE_TIMEOUT after that. */
#define FIRST_TIMEOUT 10u
#define IDLE_TIMEOUT  120u /* seconds; long, because scrapers keep connections open */

/* libmicrohttpd may have this many connections above --web.max-connections. They are connections
 * that this program has shut down, but that libmicrohttpd has not closed yet, because they are
 * suspended. */
#define LEAVING_MAX 160u

/* A socket buffer has room for at least this many TCP segments. */
#define SEGMENTS 8

/* When a client has sent this many bytes of a body, the connection is closed. */
#define BODY_READ_MAX ((uint64_t)4 * CHANGE_BODY_MAX)

struct http_server {
	struct MHD_Daemon *daemon;
	bool socket_given; /* systemd owns the socket */
	char address[LISTEN_TEXT_MAX];
	/* URL of the page for a browser on this machine; "" for a Unix socket. */
	char url[LISTEN_TEXT_MAX + sizeof "https:///"];
};

struct http {
	struct site *site;
	struct app *app;
	struct web_access *web;
	struct slow_queues slow_queues;
	/* connections of all servers, which share one limit of descriptors and memory */
	struct connections connections;
	size_t n;
	/* path of the Unix socket, which is removed at the end; NULL = no Unix socket */
	const char *unix_socket;
	/* one server for each configured address, each socket from systemd, and the Unix socket */
	struct http_server server[2 * HTTP_ADDRESSES_MAX + 1];
};

/* libmicrohttpd calls this function at the beginning of each request, before it decodes `uri`. */
static void *exchange_begin(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *x = exchange_new(((struct http *)context)->site, uri, connection);
	char *query = strchr(uri, '?');

	/* Hide the query from libmicrohttpd 0.9.75, which uses 56 bytes of CONNECTION_MEMORY for
	 * each parameter. With more than about 220 parameters, it would not answer at all.
	 * exporter/api/request_target.h reads the query from the copy that exchange_new made. */
	if (query)
		query[1] = '\0';
	return x;
}

static void exchange_end(void *context, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode how)
{
	struct http *h = context;
	struct exchange *x = *state;

	if (!x)
		return;
	connections_set_busy(&exchange_visit(connection)->connection, false);
	if (x->scraped && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		sampler_scraped(h->app->sampler, x->scraped);
	exchange_free(x);
	*state = NULL;
}

static void drop_version(struct web_version **v)
{
	web_access_drop(*v);
}

/* Returns true when a certificate or a password has identified the client as a user of
 * --web.config.file. A token does not identify a user. */
static bool is_of_user(const struct exchange *x, const struct web_config *config)
{
	return exchange_visit(x->connection)->certified ||
	       (config && config->n_users && !x->by_token);
}

static enum MHD_Result respond(struct http *h, struct MHD_Connection *connection,
	const char *method, struct exchange *x, const struct web_config *config)
{
	struct http_request r = exchange_request(x, method);
	struct http_answer a;

	r.vouched = config && (config->tls || config->n_users);
	r.user = is_of_user(x, config);
	struct slow_queue *slow_queue = h->slow_queues.at[site_way_of(&r)];

	if (slow_queue && (x->keeps_body || strcmp(method, "POST") != 0)) {
		exchange_answer_later(x, slow_queue, &r);
		return MHD_YES;
	}
	site_answer(h->site, &r, &a);
	x->scraped = a.scraped;
	return http_send(connection, &a, config);
}

static enum MHD_Result respond_if_allowed(struct http *h, struct MHD_Connection *connection,
	const char *method, struct exchange *x)
{
	struct web_version *v AUTO(drop_version) = web_access_hold(h->web);
	const struct web_config *config = v ? web_access_config(v) : NULL;

	if (x->answered)
		return http_send(connection, exchange_take_answer(x), config);
	enum web_entry entry = http_entry(h->web, v, x);
	struct http_answer a;

	if (entry == WEB_ENTER)
		return respond(h, connection, method, x, config);
	if (entry == WEB_WAIT) {
		http_entry_wait(h->web, v, x);
		return MHD_YES;
	}
	http_entry_refusal(&a, entry);
	return http_send(connection, &a, config);
}

/* Checks access before the body of a POST is read. Sets `*refused` when it has sent a refusal. */
static enum MHD_Result let_in_before_body(struct http *h, struct exchange *x, bool *refused)
{
	struct web_version *v AUTO(drop_version) = web_access_hold(h->web);
	enum web_entry entry = http_entry(h->web, v, x);
	struct http_answer a;

	*refused = entry != WEB_ENTER && entry != WEB_WAIT;
	if (entry == WEB_WAIT) {
		/* After the wait, libmicrohttpd calls on_request for the headers again, because no
		 * response was queued. That call must check the headers again. */
		x->headers_seen = false;
		http_entry_wait(h->web, v, x);
	}
	if (!*refused)
		return MHD_YES;
	http_entry_refusal(&a, entry);
	a.is_last = true;
	return http_send(x->connection, &a, v ? web_access_config(v) : NULL);
}

static void leave_visit(struct visit *v)
{
	connections_leave(&v->connection);
	web_access_drop(v->version);
	free(v);
}

/* Returns true when the client certificates that `c` accepts identify users: `c` must name the
 * accepted authority or the allowed names. Otherwise a certificate of any public authority is
 * accepted, and anybody can buy one. */
static bool certifies(const struct web_config *c)
{
	return c->client_auth == CLIENT_AUTH_REQUIRE_AND_VERIFY &&
	       (c->client_ca.text || c->client_ca.file || c->sans);
}

/* libmicrohttpd calls this function at the beginning and at the end of a connection. A TLS
 * connection keeps the configuration that is valid at its beginning. */
static void on_connection(void *context, struct MHD_Connection *connection, void **visit,
	enum MHD_ConnectionNotificationCode notification)
{
	struct http *h = context;

	if (notification == MHD_CONNECTION_NOTIFY_CLOSED) {
		leave_visit(*visit);
		*visit = NULL;
		return;
	}
	const union MHD_ConnectionInfo *socket =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *tls =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct visit *v = xcalloc(1, sizeof *v);

	*visit = v;
	connections_enter(&h->connections, &v->connection, socket->connect_fd);
	v->peer = peer_of(socket->connect_fd);
	v->loopback = peer_by_loopback(socket->connect_fd);
	v->version = web_access_hold(h->web);
	bool with_tls = v->version && tls && tls->tls_session;

	v->certified = with_tls && certifies(web_access_config(v->version));
	if (with_tls && !web_access_attach(v->version, tls->tls_session))
		/* The handshake then fails, because the session has no credentials. */
		log_line(LOG_LEVEL_ERROR, "a TLS connection could not be set up", NULL);
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *connection, int status,
	const char *code, const char *message)
{
	struct web_version *v AUTO(drop_version) = web_access_hold(h->web);
	struct http_answer a;

	site_refusal(&a, status, code, message);
	a.is_last = true;
	return http_send(connection, &a, v ? web_access_config(v) : NULL);
}

/* Checks a request by its headers, before its body is read. Sets `*refused` when it has sent a
 * refusal. */
static enum MHD_Result on_headers(struct http *h, struct exchange *x, const char *method,
	const char *version, bool *refused)
{
	struct web_version *v AUTO(drop_version) = web_access_hold(h->web);
	struct http_request r = exchange_request(x, method);

	r.user = is_of_user(x, v ? web_access_config(v) : NULL);
	MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, IDLE_TIMEOUT);
	*refused = true;
	if (exchange_is_ambiguous(x, version))
		return refuse(h, x->connection, 400, "bad_request",
			"ambiguous headers: send Host, Origin, Authorization, Content-Type and one "
			"of Content-Length and Transfer-Encoding (chunked) at most once, and no "
			"other host in the request line");
	if (site_token_space(h->site, &r, x->space))
		r.space = x->space;
	x->keeps_body = site_takes_body(h->site, &r, &x->by_token);
	x->reads_body = x->keeps_body || strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	if (x->reads_body && exchange_length(x) > BODY_READ_MAX)
		return refuse(h, x->connection, 413, "too_large",
			"a body may have at most 262144 bytes");
	*refused = false;
	return x->keeps_body ? let_in_before_body(h, x, refused) : MHD_YES;
}

/* libmicrohttpd calls this function after the headers, for each piece of the body, and at the end
 * of the request. A POST may have a body of CHANGE_BODY_MAX bytes. A longer body is read and
 * dropped, because a client that is still sending may not read the answer. After BODY_READ_MAX
 * bytes, the connection is closed. A request with another method is answered without reading its
 * body, and the connection is then closed. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *body, size_t *body_len, void **state)
{
	struct exchange *x = *state;
	struct http *h = context;
	bool first = x && !x->headers_seen;

	(void)url;
	if (!x)
		return MHD_NO;
	x->headers_seen = true;
	if (first) {
		bool refused;
		enum MHD_Result ret = on_headers(h, x, method, version, &refused);

		if (refused || (x->reads_body && !*body_len))
			return ret;
	}
	if (*body_len) {
		x->received += *body_len;
		exchange_keep(x, body, *body_len);
		*body_len = 0;
		return x->received > BODY_READ_MAX ? MHD_NO : MHD_YES;
	}
	if (x->body_dropped)
		return refuse(h, connection, 503, "overloaded",
			"too many changes are being read; try again in a second");
	connections_set_busy(&exchange_visit(connection)->connection, true);
	if (rendered_cache_bytes() > memory_budget()->answers / ANSWERS_FULL_OF * ANSWERS_FULL)
		connections_relieve(&exchange_visit(connection)->connection);
	return respond_if_allowed(context, connection, method, x);
}

/* libmicrohttpd does not start TLS without a certificate or this callback. The callback returns no
 * certificate, because on_connection has already set that of the connection. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int n,
	const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **certificates,
	unsigned int *n_certificates, gnutls_privkey_t *key)
{
	(void)session;
	(void)authorities;
	(void)n;
	(void)algorithms;
	(void)n_algorithms;
	(void)certificates;
	(void)key;
	*n_certificates = 0;
	return -1;
}

/* Returns the maximum number of connections. They get at most half of the descriptors, because
 * watching processes needs descriptors, too. */
static unsigned connections_max(const struct options *o)
{
	uint64_t most = o->max_connections;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur / 2 < most)
		most = l.rlim_cur / 2;
	if (memory_budget()->connections < most)
		most = memory_budget()->connections;
	return most < THREADS ? THREADS : (unsigned)most;
}

/* Limits the socket buffers of connections, which inherit the sizes from the listening socket `fd`.
 * By default, an unread answer fills megabytes of socket buffers, and cgroup v2 counts them as
 * memory of the control group. Also makes the TCP segments small, so that a buffer holds several of
 * them. With only a few segments, the sender would wait 40 ms for each delayed acknowledgement. */
static void bound_buffers(int fd)
{
	int bytes = (int)memory_budget()->socket, segment = bytes / SEGMENTS;

	if (!bytes)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
}

/* Sets the URL of a server. If the server listens on all interfaces ("0.0.0.0"), the URL contains
 * "localhost" instead, because a browser cannot open "0.0.0.0". */
static void set_url(struct http_server *s, bool with_tls)
{
	static const char *const all[] = {"0.0.0.0:", "[::]:"};
	const char *host = "", *rest = s->address;

	if (strncmp(s->address, "unix:", 5) == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strncmp(s->address, all[i], strlen(all[i])) == 0)
			host = "localhost:", rest = s->address + strlen(all[i]);
	snprintf(s->url, sizeof s->url, "http%s://%s%s/", with_tls ? "s" : "", host, rest);
}

static int serve(struct http *h, int fd, const char *address, bool with_tls, struct err *e)
{
	struct http_server *s = &h->server[h->n];
	unsigned tls = with_tls ? MHD_USE_TLS : 0;
	struct MHD_OptionItem tls_options[] = {
		{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)no_certificate},
		{MHD_OPTION_END, 0, NULL},
	};

	bound_buffers(fd);
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | tls,
		0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_THREAD_POOL_SIZE, THREADS, MHD_OPTION_THREAD_STACK_SIZE, THREAD_STACK,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)h->connections.max + LEAVING_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, FIRST_TIMEOUT, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, h, MHD_OPTION_NOTIFY_COMPLETED,
		exchange_end, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_ARRAY,
		tls ? tls_options : tls_options + 1, MHD_OPTION_END);
	/* After an error, do not close `fd`: libmicrohttpd may have closed it already, and the
	 * program ends anyway. */
	if (!s->daemon)
		return err_system(e, errno ? -errno : -EIO, "start the HTTP server on %s", address);
	set_url(s, with_tls);
	h->n++;
	return 0;
}

static int serve_address(struct http *h, const char *address, struct err *e)
{
	int fd, code = listen_open(&fd, address, h->server[h->n].address, e);

	return code ? code : serve(h, fd, address, web_access_with_tls(h->web), e);
}

static int serve_unix(struct http *h, const char *path, struct err *e)
{
	int fd, code = path ? listen_unix(&fd, path, e) : 0;

	if (code || !path)
		return code;
	snprintf(h->server[h->n].address, LISTEN_TEXT_MAX, "unix:%s", path);
	h->unix_socket = path;
	return serve(h, fd, path, false, e);
}

/* Serves on sockets from systemd, in addition to the configured addresses. */
static int serve_given(struct http *h, struct err *e)
{
	int code = 0;

	if (h->app->n_sockets > HTTP_ADDRESSES_MAX)
		return err_set(e, -EINVAL, "%zu sockets from systemd: at most %d are accepted",
			h->app->n_sockets, HTTP_ADDRESSES_MAX);
	for (size_t i = 0; code == 0 && i < h->app->n_sockets; i++) {
		int fd = LISTEN_FIRST_GIVEN + (int)i;
		char *bound = h->server[h->n].address;

		code = listen_adopt(fd, bound, e);
		h->server[h->n].socket_given = true;
		if (code == 0)
			code = serve(h, fd, bound,
				strncmp(bound, "unix:", 5) != 0 && web_access_with_tls(h->web), e);
	}
	return code;
}

int http_start(struct http **ret, struct app *app, const struct text_list *addresses, struct err *e)
{
	static const char *fallback[] = {HTTP_DEFAULT_ADDRESS};
	struct text_list wanted =
		addresses->n || app->n_sockets ? *addresses : (struct text_list){1, fallback};

	if (wanted.n > HTTP_ADDRESSES_MAX)
		return err_set(e, -EINVAL, "%zu listen addresses: at most %d are accepted",
			wanted.n, HTTP_ADDRESSES_MAX);
	struct http *h = xcalloc(1, sizeof *h);

	h->app = app;
	h->site = site_new(app);
	connections_init(&h->connections, connections_max(app->options));
	int code = web_access_open(&h->web, app->options->web_config_file, e);

	if (code == 0)
		code = site_start(h->site, e);
	if (code == 0)
		code = slow_queues_open(&h->slow_queues, site_disk_may_hang(h->site), e);
	if (code == 0)
		code = serve_given(h, e);
	for (size_t i = 0; code == 0 && i < wanted.n; i++)
		if (strcmp(wanted.text[i], NO_LISTEN_ADDRESS) != 0)
			code = serve_address(h, wanted.text[i], e);
	if (code == 0)
		code = serve_unix(h, app->options->unix_socket, e);
	if (code == 0 && h->n == 0)
		code = err_set(e, -EINVAL,
			"nothing to serve on: --web.listen-address=%s needs --web.unix-socket",
			NO_LISTEN_ADDRESS);
	if (code) {
		(void)http_stop(h); /* cannot time out, because no slow answer is being made yet */
		return code;
	}
	for (size_t i = 0; i < h->n; i++)
		log_first("listening", "address", h->server[i].address, "url",
			h->server[i].url[0] ? h->server[i].url : NULL, NULL);
	*ret = h;
	return 0;
}

const char *http_address(const struct http *h, size_t i)
{
	return i < h->n ? h->server[i].address : NULL;
}

const char *http_page_url(const struct http *h, const char **address)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->server[i].url[0]) {
			*address = h->server[i].address;
			return h->server[i].url;
		}
	return NULL;
}

static void server_stop(struct http_server *s)
{
	/* MHD_stop_daemon would shut down the listening socket. A socket from systemd must stay
	 * open for the next server: MHD_quiesce_daemon takes it away from libmicrohttpd first. */
	int socket_given = s->socket_given ? MHD_quiesce_daemon(s->daemon) : MHD_INVALID_SOCKET;

	MHD_stop_daemon(s->daemon);
	closep(&socket_given);
}

int http_stop(struct http *h)
{
	if (!h)
		return 0;
	/* First resume all suspended connections, because libmicrohttpd waits for them before it
	 * stops. */
	site_stop(h->site);
	if (h->web)
		web_access_stop(h->web);
	if (slow_queues_stop(&h->slow_queues, HTTP_LEAVE_SECONDS)) {
		log_line(LOG_LEVEL_ERROR,
			"exiting with an unfinished answer: the disk does not answer", NULL);
		return -ETIMEDOUT;
	}
	for (size_t i = 0; i < h->n; i++)
		server_stop(&h->server[i]);
	site_free(h->site);
	if (h->unix_socket)
		listen_drop_unix(h->unix_socket);
	web_access_close(h->web);
	slow_queues_free(&h->slow_queues);
	connections_done(&h->connections);
	free(h);
	return 0;
}
