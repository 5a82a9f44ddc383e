/* Sets up TLS connections with GnuTLS, as the web configuration says. The certificate and its key
 * are loaded once and attached to each new connection of libmicrohttpd. A changed file therefore
 * applies to the next connection. */
#ifndef EXPORTER_HTTP_WEB_TLS_H
#define EXPORTER_HTTP_WEB_TLS_H

#include <gnutls/gnutls.h>

#include "collectors/base/err.h"
#include "exporter/http/web_config.h"

struct web_tls;

/* Loads the certificate and its private key. c->tls must be true, and `c` must outlive `*ret`.
 * After an error, `e` names the file that cannot be read, or the invalid setting of the
 * configuration file. */
int web_tls_load(struct web_tls **ret, const struct web_config *c, struct err *e);
void web_tls_free(struct web_tls *t); /* NULL does nothing; call after its sessions have ended */

/* Sets up a TLS session before its handshake. `t` must outlive the session. Returns false when the
 * session must not be used. */
bool web_tls_attach(struct web_tls *t, gnutls_session_t session);

/* Writes the GnuTLS priority string of the configuration. `key_exchange` is "ECDHE-RSA" or
 * "ECDHE-ECDSA", depending on the certificate's key. Suites with another key exchange are left out.
 * GnuTLS would combine their ciphers with `key_exchange`, and offer suites that the file does not
 * list. */
void web_config_priorities(const struct web_config *c, const char *key_exchange, struct buf *out);

#endif
