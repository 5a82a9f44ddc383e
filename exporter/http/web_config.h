/* Parses the file of --web.config.file: TLS, client certificates, headers, users and a rate limit.
 * The keys are the same as in the exporter-toolkit of Prometheus
 * (github.com/prometheus/exporter-toolkit, docs/web-configuration.md), so that one file serves all
 * exporters of a machine. Opens no file and no socket.
 *
 * Two things differ from the exporter-toolkit:
 * - The server has no HTTP/2. If http_server_config.http2 is set, only its rules for cipher suites
 *   are checked.
 * - cipher_suites also applies to TLS 1.3. */
#ifndef EXPORTER_HTTP_WEB_CONFIG_H
#define EXPORTER_HTTP_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"

enum client_auth {
	CLIENT_AUTH_NONE,
	CLIENT_AUTH_REQUEST,     /* a certificate is requested, and not verified */
	CLIENT_AUTH_REQUIRE_ANY, /* a certificate is required, and not verified */
	CLIENT_AUTH_VERIFY_IF_GIVEN,
	CLIENT_AUTH_REQUIRE_AND_VERIFY,
};

enum { WEB_CIPHERS_MAX = 32, WEB_CURVES_MAX = 8, WEB_HEADERS_MAX = 5 };

/* A certificate or key: its PEM text, or the path of its PEM file. At most one of the two is
 * set. */
struct pem {
	const char *text, *file;
};

struct web_config {
	bool tls; /* the file turns TLS on */
	struct pem cert, key, client_ca;
	enum client_auth client_auth;
	size_t n_sans, n_ciphers, n_curves;
	const char *const *sans; /* allowed names of client certificates; NULL = any name */
	/* indices in web_config_ciphers; n_ciphers 0 = all */
	unsigned char ciphers[WEB_CIPHERS_MAX];
	unsigned char curves[WEB_CURVES_MAX];   /* indices in web_config_curves; n_curves 0 = all */
	unsigned char min_version, max_version; /* indices in web_config_versions */
	bool server_order;
	/* values of the headers in web_config_headers, in its order; NULL = not set */
	const char *header[WEB_HEADERS_MAX];
	/* rate limit (rate_limit): seconds per request, so 0.1 allows 10 requests a second; 0 = no
	 * limit */
	double rate_interval;
	uint64_t rate_burst;
	size_t n_users;
	struct web_user {
		const char *name, *hash; /* hash: bcrypt hash of the password */
	} * user;
	struct arena arena; /* owns all texts and arrays; only for web_config.c */
};

/* The name of a cipher suite in Go's crypto/tls, and its parts as GnuTLS names them (gnutls.org,
 * "Priority strings"). */
struct web_cipher {
	const char *name;
	const char *key_exchange; /* "" for suites of TLS 1.3 */
	const char *cipher, *mac;
	bool http2; /* HTTP/2 over TLS 1.2 requires one of the suites with true; see check_http2 */
};
extern const struct web_cipher web_config_ciphers[];
struct web_name {
	const char *name, *gnutls;
};
extern const struct web_name web_config_curves[], web_config_versions[];
/* Indices in web_config_versions. */
enum { TLS12 = 2, TLS13 = 3 };
extern const char *const web_config_headers[WEB_HEADERS_MAX];

/* Parses `text`, the content of the file `path`. A relative file name in it is relative to the
 * folder of `path`. Returns -EINVAL for an invalid file. `e` names the line, the fault and the
 * accepted values, and never contains a key or a hash. */
int web_config_parse(struct web_config **ret, const char *path, const char *text, size_t len,
	struct err *e);
void web_config_free(struct web_config *c); /* NULL does nothing */
#endif
