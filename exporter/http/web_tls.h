/*
 * TLS of a web configuration, in GnuTLS: certificate and key loaded once, then put on each connection that
 * libmicrohttpd makes, so that a changed file holds from the next connection on.
 */
#ifndef EXPORTER_HTTP_WEB_TLS_H
#define EXPORTER_HTTP_WEB_TLS_H

#include <gnutls/gnutls.h>

#include "collectors/base/err.h"
#include "exporter/http/web_config.h"

struct web_tls;

/* c->tls is true, and c outlives it. Says which file cannot be read, or that key and certificate do not match. */
int web_tls_load(struct web_tls **ret, const struct web_config *c, struct err *e);
void web_tls_free(struct web_tls *t); /* NULL does nothing; no session of it may be alive */

/* Before the handshake. t must outlive the session. False: the session must not be used. */
bool web_tls_attach(struct web_tls *t, gnutls_session_t session);

/*
 * The GnuTLS priority string for this configuration. key_exchange: what the certificate's key can do, "ECDHE-RSA" or
 * "ECDHE-ECDSA": only suites of that kind, so that no pair that was not listed comes into being.
 */
void web_config_priorities(const struct web_config *c, const char *key_exchange, struct buf *out);

#endif
