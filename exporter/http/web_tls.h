/*
 * TLS of a web configuration by GnuTLS. Certificate and key are loaded once and attached to each
 * new connection of libmicrohttpd, so that a changed file applies from the next connection on.
 */
#ifndef EXPORTER_HTTP_WEB_TLS_H
#define EXPORTER_HTTP_WEB_TLS_H

#include <gnutls/gnutls.h>

#include "collectors/base/err.h"
#include "exporter/http/web_config.h"

struct web_tls;

/* c->tls must be true, and c must outlive ret. e names the unreadable file, or a wrong key. */
int web_tls_load(struct web_tls **ret, const struct web_config *c, struct err *e);
void web_tls_free(struct web_tls *t); /* NULL does nothing; its sessions must have ended */

/* Before the handshake. t must outlive the session. False: the session must not be used. */
bool web_tls_attach(struct web_tls *t, gnutls_session_t session);

/*
 * The GnuTLS priority string of the configuration. key_exchange: "ECDHE-RSA" or "ECDHE-ECDSA", by
 * the certificate's key. Leaves out suites of the other kind: GnuTLS would combine their ciphers
 * with this key exchange to unlisted suites.
 */
void web_config_priorities(const struct web_config *c, const char *key_exchange, struct buf *out);

#endif
