/*
 * The file of --web.config.file: TLS, client certificates, headers, users and a rate limit, in the keys of
 * Prometheus' exporter-toolkit (github.com/prometheus/exporter-toolkit, docs/web-configuration.md), so that one
 * file serves all exporters of a machine. Parsing only: no socket, no file but the one that the caller read.
 *
 * Differences, all on the strict side: HTTP/2 is not spoken (http_server_config.http2 is read, and its demands on
 * cipher suites are checked); cipher_suites holds for TLS 1.3, too.
 */
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
	CLIENT_AUTH_REQUEST,     /* asked for, not looked at */
	CLIENT_AUTH_REQUIRE_ANY, /* required, by whoever signed */
	CLIENT_AUTH_VERIFY_IF_GIVEN,
	CLIENT_AUTH_REQUIRE_AND_VERIFY,
};

enum { WEB_CIPHERS_MAX = 32, WEB_CURVES_MAX = 8, WEB_HEADERS_MAX = 5 };

/* A PEM text, or the file that holds it: one of the two, or neither. */
struct pem {
	const char *text, *file;
};

struct web_config {
	bool tls; /* the file asks for TLS */
	struct pem cert, key, client_ca;
	enum client_auth client_auth;
	size_t n_sans, n_ciphers, n_curves;
	const char *const *sans;                /* any of them is enough; NULL = not asked */
	unsigned char ciphers[WEB_CIPHERS_MAX]; /* rows of web_config_ciphers; 0 of them = all */
	unsigned char curves[WEB_CURVES_MAX];   /* rows of web_config_curves; 0 of them = all */
	unsigned min_version, max_version;      /* rows of web_config_versions */
	bool server_order;
	const char
		*header[WEB_HEADERS_MAX]; /* values, by row of web_config_headers; NULL = not set */
	double rate_interval;             /* seconds for one more request; 0 = no limit */
	uint64_t rate_burst;
	size_t n_users;
	struct web_user {
		const char *name, *hash; /* bcrypt */
	} * user;
	struct arena arena; /* private: holds it all */
};

/* Names as Go's crypto/tls spells them, with GnuTLS' words (gnutls.org, "Priority strings"). */
struct web_cipher {
	const char *name;
	const char *key_exchange; /* "" = TLS 1.3 has no choice */
	const char *cipher, *mac;
	bool http2; /* one that RFC 9113 section 9.2.2 asks for */
};
extern const struct web_cipher web_config_ciphers[];
struct web_name {
	const char *name, *gnutls;
};
extern const struct web_name web_config_curves[], web_config_versions[];
/* Rows of web_config_versions. */
enum { TLS12 = 2, TLS13 = 3 };
extern const char *const web_config_headers[WEB_HEADERS_MAX];

/*
 * Reads text, which came from path: files in it are named relative to path's folder. -EINVAL: the sentence names
 * the line, what is wrong and what is accepted. Never repeats a key or a hash.
 */
int web_config_parse(struct web_config **ret, const char *path, const char *text, size_t len,
	struct err *e);
void web_config_free(struct web_config *c); /* NULL does nothing */
#endif
