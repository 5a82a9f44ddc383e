/* Decides by --web.config.file whether a request is answered. Keeps the newest valid version of the
 * file.
 *
 * A change of the file, its certificates or its key takes effect without a signal: at each
 * connection and request, stat(2) is called for these files. The change takes effect one second
 * after the last write, because a file that is still being written may lack its users.
 *
 * While the file is invalid or missing, every request is refused with 500. TLS handshakes then use
 * the last valid version, so that clients get the answer 500 and not a failed handshake.
 *
 * Any thread may call these functions. */
#ifndef EXPORTER_HTTP_WEB_ACCESS_H
#define EXPORTER_HTTP_WEB_ACCESS_H

#include <gnutls/gnutls.h>

#include "exporter/http/web_users.h"

struct web_access;
struct web_version; /* one valid version of the file, with a reference count */

/* Reads the file and starts the thread that checks passwords. If `path` is NULL, every request is
 * allowed. An invalid file is an error, and `e` names the line. */
int web_access_open(struct web_access **ret, const char *path, struct err *e);
bool web_access_with_tls(const struct web_access *w);
/* Refuses all requests that wait for a password check. Call it before the sockets are closed. */
void web_access_stop(struct web_access *w);
/* Call it after the sockets are closed. NULL does nothing. */
void web_access_close(struct web_access *w);

/* Returns a reference to the last valid version of the web configuration; NULL = no file is
 * configured. The caller drops the reference by web_access_drop. */
struct web_version *web_access_hold(struct web_access *w);
void web_access_drop(struct web_version *v); /* NULL does nothing */
const struct web_config *web_access_config(const struct web_version *v);
/* Sets up a TLS session with the version `v` of the file. Call it before the handshake. Keep the
 * reference to `v` until the session has ended. Returns false when the session must not be used. */
bool web_access_attach(struct web_version *v, gnutls_session_t session);

/* Decides whether a request may be answered, and sets q->config. `again` true = the function was
 * called for this request before: the rate limit does not count the request again. */
enum web_entry web_access_check(struct web_access *w, struct web_version *v, struct web_question *q,
	bool again);

#endif
