/*
 * Decides by --web.config.file whether a request is answered, and holds the newest valid version of
 * the file.
 *
 * Each connection and request checks the file and the certificates that it names (one stat(2)
 * each), so that a change applies without a signal. A change applies one second after the last
 * write: a file that is still being written may lack its users. While the file is invalid or
 * missing, every request is refused with 500. TLS connections then use the last valid version, so
 * that clients see the 500 and not a failed handshake.
 *
 * Any thread.
 */
#ifndef EXPORTER_HTTP_WEB_ACCESS_H
#define EXPORTER_HTTP_WEB_ACCESS_H

#include <gnutls/gnutls.h>

#include "exporter/http/web_users.h"

struct web_access;
struct web_version; /* one valid version of the file, with a reference count */

/*
 * Reads the file and starts the thread that checks passwords. path NULL: every request is allowed.
 * An invalid file is an error; e names the line.
 */
int web_access_open(struct web_access **ret, const char *path, struct err *e);
bool web_access_with_tls(const struct web_access *w);
/* Refuses requests that wait for a password. Call before the sockets are closed. */
void web_access_stop(struct web_access *w);
void web_access_close(struct web_access *w); /* after the sockets are closed; NULL does nothing */

/* The last valid version; the caller drops it. NULL: no file. */
struct web_version *web_access_hold(struct web_access *w);
void web_access_drop(struct web_version *v); /* NULL does nothing */
const struct web_config *web_access_config(const struct web_version *v);
/* Before the handshake. Hold v until the session has ended. False: do not use the session. */
bool web_access_attach(struct web_version *v, gnutls_session_t session);

/* May this request be answered? Sets q->config. again: not counted again for rate_limit. */
enum web_entry web_access_check(struct web_access *w, struct web_version *v, struct web_question *q,
	bool again);

#endif
