#include "exporter/http/web_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/x509.h>

#include "collectors/base/buf.h"
#include "collectors/base/file.h"
#include "exporter/http/web_config.h"

#define PEM_MAX ((size_t)1 << 20)
/* Maximum number of names that are checked in one certificate. */
#define SANS_MAX 256u

struct web_tls {
	const struct web_config *config;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
};

static int tls_error(struct err *e, int code, const char *subject, const char *name)
{
	return err_set(e, -EINVAL, "%s%s%s: %s", subject, name ? " " : "", name ? name : "",
		gnutls_strerror(code));
}

static int read_pem(struct buf *ret, const struct pem *p, const char *subject, struct err *e)
{
	if (!p->text)
		return file_read(ret, p->file, e) ? err_wrap(e, "%s", subject) : 0;
	buf_adds(ret, p->text);
	return 0;
}

/* Overwrites a private key before its memory is freed. */
static void wipe(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->len);
	buf_done(b);
}

static gnutls_datum_t datum(struct buf *b)
{
	return (gnutls_datum_t){(unsigned char *)b->data, (unsigned)b->len};
}

static int load_pair(struct web_tls *t, struct err *e)
{
	struct buf cert AUTO(wipe) = BUF_MAX(PEM_MAX), key AUTO(wipe) = BUF_MAX(PEM_MAX);
	const struct web_config *c = t->config;
	int code = read_pem(&cert, &c->cert, "cert_file", e);

	if (code == 0)
		code = read_pem(&key, &c->key, "key_file", e);
	if (code)
		return code;
	gnutls_datum_t cert_datum = datum(&cert), key_datum = datum(&key);

	code = gnutls_certificate_set_x509_key_mem(t->credentials, &cert_datum, &key_datum,
		GNUTLS_X509_FMT_PEM);
	return code < 0 ? tls_error(e, code, "the certificate and its key",
				  c->cert.file ? c->cert.file : "of tls_server_config") :
			  0;
}

/* Loads the certificates of the authorities that may sign client certificates. The default is the
 * system's authorities, as in Go's servers. */
static int load_ca(struct web_tls *t, struct err *e)
{
	struct buf ca AUTO(wipe) = BUF_MAX(PEM_MAX);
	const struct pem *p = &t->config->client_ca;

	if (t->config->client_auth < CLIENT_AUTH_VERIFY_IF_GIVEN)
		return 0;
	if (!p->text && !p->file) {
		gnutls_certificate_set_x509_system_trust(t->credentials);
		return 0;
	}
	int code = read_pem(&ca, p, "client_ca_file", e);

	if (code)
		return code;
	gnutls_datum_t ca_datum = datum(&ca);

	code = gnutls_certificate_set_x509_trust_mem(t->credentials, &ca_datum,
		GNUTLS_X509_FMT_PEM);
	if (code <= 0)
		return tls_error(e, code < 0 ? code : GNUTLS_E_NO_CERTIFICATE_FOUND, "client_ca",
			p->file);
	return 0;
}

static const char *key_exchange(const struct web_tls *t)
{
	gnutls_x509_privkey_t key;
	const char *ret = "ECDHE-RSA";

	if (gnutls_certificate_get_x509_key(t->credentials, 0, &key) < 0)
		return ret;
	if (gnutls_x509_privkey_get_pk_algorithm(key) != GNUTLS_PK_RSA)
		ret = "ECDHE-ECDSA"; /* Ed25519 keys use this key exchange, too (RFC 8422) */
	gnutls_x509_privkey_deinit(key);
	return ret;
}

/* ---- the priority string ---- */

/* Adds a word unless the text already contains it. GnuTLS accepts repeated words, but they make the
 * log hard to read. */
static void add_word(struct buf *out, const char *word)
{
	const char *at = strstr(buf_text(out), word);

	while (at && at[strlen(word)] && at[strlen(word)] != ':')
		at = strstr(at + 1, word);
	if (!at)
		buf_addf(out, ":+%s", word);
}

static bool is_usable(const struct web_cipher *c, const char *key_exchange)
{
	return !*c->key_exchange || strcmp(c->key_exchange, key_exchange) == 0;
}

static void add_cipher(struct buf *out, const struct web_cipher *c, const char *key_exchange)
{
	if (!is_usable(c, key_exchange))
		return;
	add_word(out, c->cipher);
	add_word(out, c->mac);
}

/* Returns true when the certificate's key can use one of the listed suites. Sets `*aead` to true
 * when TLS 1.3, too, has the cipher of one of these usable suites. If the file lists no suites, the
 * result and `*aead` are true.
 *
 * `*aead` decides about TLS 1.3: GnuTLS builds its suites only from the listed ciphers. If no
 * listed cipher fits TLS 1.3, web_config_priorities leaves out TLS 1.3. If no older TLS version is
 * usable either, it keeps TLS 1.3 and ignores the listed ciphers. */
static bool names_usable(const struct web_config *c, const char *key_exchange, bool *aead)
{
	bool any = c->n_ciphers == 0;

	*aead = any;
	for (size_t i = 0; i < c->n_ciphers; i++) {
		const struct web_cipher *w = &web_config_ciphers[c->ciphers[i]];

		any |= is_usable(w, key_exchange);
		*aead |= is_usable(w, key_exchange) && strcmp(w->mac, "AEAD") == 0;
	}
	return any;
}

void web_config_priorities(const struct web_config *c, const char *key_exchange, struct buf *out)
{
	bool aead, usable = names_usable(c, key_exchange, &aead);
	bool only_13 = !aead && c->max_version == TLS13 && (c->min_version == TLS13 || !usable);
	unsigned most = aead || only_13 || c->max_version < TLS13 ? c->max_version : TLS13 - 1;
	unsigned least = only_13 ? TLS13 : c->min_version;

	buf_adds(out, "NONE");
	for (unsigned v = most + 1; v-- > least;)
		add_word(out, web_config_versions[v].gnutls);
	add_word(out, key_exchange);
	for (size_t i = 0; i < c->n_ciphers && !only_13; i++)
		add_cipher(out, &web_config_ciphers[c->ciphers[i]], key_exchange);
	for (const struct web_cipher *w = web_config_ciphers; w->name; w++)
		if (c->n_ciphers == 0 || (only_13 && strcmp(w->mac, "AEAD") == 0))
			add_cipher(out, w, key_exchange);
	for (size_t i = 0; i < c->n_curves; i++)
		add_word(out, web_config_curves[c->curves[i]].gnutls);
	for (const struct web_name *w = web_config_curves; c->n_curves == 0 && w->name; w++)
		add_word(out, w->gnutls);
	/* Accept a server certificate whose keyUsage allows only encipherment, although its key
	 * signs key exchanges. Many such certificates are in use, and Go and OpenSSL accept them. A
	 * file that works with Go or OpenSSL must work here, too. */
	buf_adds(out, ":+SIGN-ALL:+COMP-NULL:+CTYPE-X509:%DEBUG_ALLOW_KEY_USAGE_VIOLATIONS");
	if (c->server_order)
		buf_adds(out, ":%SERVER_PRECEDENCE");
}

static int load_priorities(struct web_tls *t, struct err *e)
{
	struct buf text AUTO(buf_done) = BUF_MAX(4096);
	const char *at = NULL;

	web_config_priorities(t->config, key_exchange(t), &text);
	int code = gnutls_priority_init(&t->priorities, buf_text(&text), &at);

	return code < 0 ? tls_error(e, code, "the TLS settings", at) : 0;
}

int web_tls_load(struct web_tls **ret, const struct web_config *c, struct err *e)
{
	struct web_tls *t = xcalloc(1, sizeof *t);
	int code;

	t->config = c;
	if (gnutls_certificate_allocate_credentials(&t->credentials) < 0) {
		free(t);
		return err_set(e, -ENOMEM, "out of memory for the certificate");
	}
	code = load_pair(t, e);
	if (code == 0)
		code = load_ca(t, e);
	if (code == 0)
		code = load_priorities(t, e);
	if (code)
		web_tls_free(t);
	else
		*ret = t;
	return code;
}

void web_tls_free(struct web_tls *t)
{
	if (!t)
		return;
	if (t->priorities)
		gnutls_priority_deinit(t->priorities);
	gnutls_certificate_free_credentials(t->credentials);
	free(t);
}

/* ---- client certificates ---- */

static bool allowed(const struct web_config *c, const char *name, size_t len)
{
	for (size_t i = 0; i < c->n_sans; i++)
		if (strlen(c->sans[i]) == len && memcmp(c->sans[i], name, len) == 0)
			return true;
	return false;
}

/* Returns true when the file allows a name (subject alternative name) of a client certificate. An
 * IP address is converted to text before it is compared. */
static bool san_allowed(const struct web_config *c, unsigned type, const char *data, size_t len)
{
	char text[INET6_ADDRSTRLEN];

	if (type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_RFC822NAME || type == GNUTLS_SAN_URI)
		return allowed(c, data, len);
	if (type != GNUTLS_SAN_IPADDRESS || (len != 4 && len != 16))
		return false;
	return inet_ntop(len == 4 ? AF_INET : AF_INET6, data, text, sizeof text) &&
	       allowed(c, text, strlen(text));
}

static bool any_san_allowed(const struct web_config *c, const gnutls_datum_t *der)
{
	gnutls_x509_crt_t crt;
	bool found = false;

	if (gnutls_x509_crt_init(&crt) < 0)
		return false;
	if (gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0)
		for (unsigned i = 0; i < SANS_MAX && !found; i++) {
			char name[1024];
			size_t len = sizeof name;
			int type = gnutls_x509_crt_get_subject_alt_name(crt, i, name, &len, NULL);

			if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
				break;
			found = type >= 0 && san_allowed(c, (unsigned)type, name, len);
		}
	gnutls_x509_crt_deinit(crt);
	return found;
}

/* Returns true when a known authority signed the certificate, it has not expired, and it is for TLS
 * clients. */
static bool chain_ok(gnutls_session_t session)
{
	unsigned char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
	gnutls_typed_vdata_st wanted = {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = purpose};
	unsigned status = GNUTLS_CERT_INVALID;

	return gnutls_certificate_verify_peers(session, &wanted, 1, &status) == 0 && status == 0;
}

/* GnuTLS calls this function during the handshake, to check the client's certificate. A result
 * other than 0 makes the handshake fail. */
static int verify_client(gnutls_session_t session)
{
	const struct web_tls *t = gnutls_session_get_ptr(session);
	const struct web_config *c = t->config;
	unsigned n = 0;
	const gnutls_datum_t *certificates = gnutls_certificate_get_peers(session, &n);
	bool required = c->client_auth == CLIENT_AUTH_REQUIRE_ANY ||
			c->client_auth == CLIENT_AUTH_REQUIRE_AND_VERIFY || c->sans;

	if (!certificates || n == 0)
		return required && c->client_auth != CLIENT_AUTH_NONE ?
			       GNUTLS_E_CERTIFICATE_REQUIRED :
			       0;
	if (c->client_auth >= CLIENT_AUTH_VERIFY_IF_GIVEN && !chain_ok(session))
		return GNUTLS_E_CERTIFICATE_ERROR;
	if (c->sans && !any_san_allowed(c, &certificates[0]))
		return GNUTLS_E_CERTIFICATE_ERROR;
	return 0;
}

bool web_tls_attach(struct web_tls *t, gnutls_session_t session)
{
	static const gnutls_certificate_request_t requests[] = {
		[CLIENT_AUTH_NONE] = GNUTLS_CERT_IGNORE,
		[CLIENT_AUTH_REQUEST] = GNUTLS_CERT_REQUEST,
		[CLIENT_AUTH_REQUIRE_ANY] = GNUTLS_CERT_REQUIRE,
		[CLIENT_AUTH_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUEST,
		[CLIENT_AUTH_REQUIRE_AND_VERIFY] = GNUTLS_CERT_REQUIRE,
	};

	/* Remove the credentials that libmicrohttpd has set for all connections. */
	gnutls_credentials_clear(session);
	if (gnutls_priority_set(session, t->priorities) < 0 ||
		gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, t->credentials) < 0)
		return false;
	gnutls_session_set_ptr(session, t);
	gnutls_certificate_server_set_request(session, requests[t->config->client_auth]);
	if (t->config->client_auth != CLIENT_AUTH_NONE)
		gnutls_session_set_verify_function(session, verify_client);
	return true;
}
