/*
 * --web.config.file at run time: the newest version of it that could be read, and whether a request may be answered.
 *
 * The file and the certificates that it names are looked at again with each connection and request (a stat each), so
 * a change holds without a signal, a second after the last one: until then the files may be written still, and what lacks
 * its end asks for less. A file that turned bad, or is gone, refuses every request with 500 until it is mended; TLS
 * connections are still made by the last good one, so that a client sees the 500 and not a broken handshake.
 *
 * Any thread.
 */
#ifndef EXPORTER_HTTP_WEB_VERSION_H
#define EXPORTER_HTTP_WEB_VERSION_H

#include <gnutls/gnutls.h>

#include "exporter/http/web_users.h"

struct web;
struct web_version; /* one version of the file, held while it is used */

/*
 * path NULL: no file, everybody may come in. Reads all of it: a bad file is an error here, and names the place. Starts the
 * thread that checks passwords, so that no request and no change of the file needs one.
 */
int web_open(struct web **ret, const char *path, struct err *e);
bool web_with_tls(const struct web *w);
/* Lets waiting requests go (they are refused), before the sockets are closed. */
void web_stop(struct web *w);
void web_close(struct web *w); /* after the sockets; NULL does nothing */

/* The last good version. NULL when there is no file. */
struct web_version *web_hold(struct web *w);
void web_drop(struct web_version *v); /* NULL does nothing */
const struct web_config *web_config_of(const struct web_version *v);
bool web_attach(struct web_version *v,
	gnutls_session_t session); /* v is held until the session has ended */

enum web_entry {
	WEB_ENTER,
	WEB_WAIT,              /* as WEB_LATER of exporter/http/web_users.h */
	WEB_NO_CONFIG,         /* 500: the file is bad now */
	WEB_TOO_MANY,          /* 429: by rate_limit */
	WEB_UNAUTHORIZED,      /* 401 */
	WEB_OVERLOADED,        /* 503: too many passwords wait */
	WEB_TOO_MANY_FAILURES, /* 503: as WEB_SPENT of exporter/http/web_users.h */
};

/* May this request be answered? again: it was asked before and does not count twice. q.config is filled in here. */
enum web_entry web_enter(struct web *w, struct web_version *v, struct web_question *q, bool again);

#endif
