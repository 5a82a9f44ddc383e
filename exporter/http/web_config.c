#include "exporter/http/web_config.h"

#include <crypt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/text/yaml.h"

const struct web_cipher web_config_ciphers[] = {
	{"TLS_AES_128_GCM_SHA256", "", "AES-128-GCM", "AEAD", true},
	{"TLS_AES_256_GCM_SHA384", "", "AES-256-GCM", "AEAD", true},
	{"TLS_CHACHA20_POLY1305_SHA256", "", "CHACHA20-POLY1305", "AEAD", true},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD", true},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD", true},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305",
		"AEAD", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD",
		false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1", false},
	{0},
};

const struct web_name web_config_curves[] = {
	{"X25519", "GROUP-X25519"},
	{"CurveP256", "GROUP-SECP256R1"},
	{"CurveP384", "GROUP-SECP384R1"},
	{"CurveP521", "GROUP-SECP521R1"},
	{0},
};

const struct web_name web_config_versions[] = {
	{"TLS10", "VERS-TLS1.0"},
	{"TLS11", "VERS-TLS1.1"},
	{"TLS12", "VERS-TLS1.2"},
	{"TLS13", "VERS-TLS1.3"},
	{0},
};

static const struct {
	const char *name;
	enum client_auth auth;
} client_auths[] = {
	{"NoClientCert", CLIENT_AUTH_NONE},
	{"RequestClientCert", CLIENT_AUTH_REQUEST},
	{"RequireAnyClientCert", CLIENT_AUTH_REQUIRE_ANY},
	{"RequireClientCert", CLIENT_AUTH_REQUIRE_ANY},
	{"VerifyClientCertIfGiven", CLIENT_AUTH_VERIFY_IF_GIVEN},
	{"RequireAndVerifyClientCert", CLIENT_AUTH_REQUIRE_AND_VERIFY},
};

const char *const web_config_headers[WEB_HEADERS_MAX] = {
	"Strict-Transport-Security",
	"X-Content-Type-Options",
	"X-Frame-Options",
	"X-XSS-Protection",
	"Content-Security-Policy",
};

/* The values of the file before the checks that compare several values. These checks need the whole
 * file. */
struct raw_config {
	struct {
		const char *cert, *key, *client_ca, *cert_file, *key_file, *client_ca_file;
		struct text_list sans;
	} tls;
	struct web_config c;
	const char *auth_name;
	bool http2;
};

/* Describes an array of structs. The first member of each struct is its name (a const char *). A
 * NULL name ends the array. */
struct name_table {
	const char *subject;
	const void *first;
	size_t row_size;
};

static const struct name_table ciphers = {
	"cipher suite", web_config_ciphers, sizeof web_config_ciphers[0]};
static const struct name_table curves = {"curve", web_config_curves, sizeof web_config_curves[0]};
static const struct name_table versions = {
	"TLS version", web_config_versions, sizeof web_config_versions[0]};

/* Finds the element of a table whose name is `value`, and stores its index in `*ret`. If there is
 * none, the error message lists all names. */
static int row_of(struct yaml *y, yaml_node_t *value, const struct name_table *table,
	unsigned char *ret, struct err *e)
{
	struct buf known AUTO(buf_done) = BUF_MAX(1024);
	const char *text = "";
	int code = yaml_text(y, value, &text, e);

	if (code)
		return code;
	for (size_t i = 0;; i++) {
		const char *name;

		memcpy(&name, (const char *)table->first + i * table->row_size, sizeof name);
		if (!name)
			break;
		if (strcmp(name, text) == 0) {
			*ret = (unsigned char)i;
			return 0;
		}
		buf_addf(&known, "%s%s", i ? ", " : "", name);
	}
	return yaml_error(y, value, e, "unknown %s \"%.48s\"; accepted are %s", table->subject,
		text, buf_text(&known));
}

static int rows_of(struct yaml *y, yaml_node_t *value, const struct name_table *table,
	unsigned char *rows, size_t *n, size_t most, struct err *e)
{
	if (value->type != YAML_SEQUENCE_NODE)
		return yaml_error(y, value, e, "expected a list");
	for (yaml_node_item_t *i = value->data.sequence.items.start;
		i < value->data.sequence.items.top; i++) {
		yaml_node_t *item = yaml_node(y, *i);

		if (*n == most)
			return yaml_error(y, item, e, "the list has more than %zu entries", most);
		int code = row_of(y, item, table, &rows[(*n)++], e);

		if (code)
			return code;
	}
	return 0;
}

static int read_ciphers(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	struct web_config *c = into;

	return rows_of(y, value, &ciphers, c->ciphers, &c->n_ciphers, WEB_CIPHERS_MAX, e);
}

static int read_curves(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	struct web_config *c = into;

	return rows_of(y, value, &curves, c->curves, &c->n_curves, WEB_CURVES_MAX, e);
}

static int read_version(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	return row_of(y, value, &versions, into, e);
}

static int read_tls(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	static const struct yaml_key keys[] = {
		{"cert", yaml_text, offsetof(struct raw_config, tls.cert)},
		{"key", yaml_text, offsetof(struct raw_config, tls.key)},
		{"client_ca", yaml_text, offsetof(struct raw_config, tls.client_ca)},
		{"cert_file", yaml_text, offsetof(struct raw_config, tls.cert_file)},
		{"key_file", yaml_text, offsetof(struct raw_config, tls.key_file)},
		{"client_ca_file", yaml_text, offsetof(struct raw_config, tls.client_ca_file)},
		{"client_auth_type", yaml_text, offsetof(struct raw_config, auth_name)},
		{"client_allowed_sans", yaml_texts, offsetof(struct raw_config, tls.sans)},
		{"cipher_suites", read_ciphers, offsetof(struct raw_config, c)},
		{"curve_preferences", read_curves, offsetof(struct raw_config, c)},
		{"min_version", read_version, offsetof(struct raw_config, c.min_version)},
		{"max_version", read_version, offsetof(struct raw_config, c.max_version)},
		{"prefer_server_cipher_suites", yaml_flag,
			offsetof(struct raw_config, c.server_order)},
		{0},
	};

	return yaml_mapping(y, value, "tls_server_config", keys, into, e);
}

/* Checks the value of a header. A header without a check here may have any value. */
static bool header_value_ok(size_t row, const char *value)
{
	if (strcmp(web_config_headers[row], "X-Content-Type-Options") == 0)
		return strcmp(value, "nosniff") == 0;
	if (strcmp(web_config_headers[row], "X-Frame-Options") == 0)
		return strcmp(value, "deny") == 0 || strcmp(value, "sameorigin") == 0;
	return true;
}

static int check_header(struct yaml *y, yaml_node_t *node, size_t row, const char *value,
	struct err *e)
{
	if (!header_value_ok(row, value))
		return yaml_error(y, node, e, "invalid value for %s: \"%.48s\"; accepted is %s",
			web_config_headers[row], value,
			row == 1 ? "nosniff" : "deny or sameorigin");
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return yaml_error(y, node, e, "the value of %s has a control character",
				web_config_headers[row]);
	return 0;
}

static int read_headers(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	struct web_config *c = into;
	struct yaml_key keys[WEB_HEADERS_MAX + 1] = {0};

	for (size_t i = 0; i < WEB_HEADERS_MAX; i++)
		keys[i] = (struct yaml_key){
			web_config_headers[i], yaml_text, i * sizeof c->header[0]};
	int code = yaml_mapping(y, value, "http_server_config.headers", keys, c->header, e);

	for (size_t i = 0; code == 0 && i < WEB_HEADERS_MAX; i++)
		if (c->header[i])
			code = check_header(y, value, i, c->header[i], e);
	return code;
}

static int read_http(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	static const struct yaml_key keys[] = {
		{"http2", yaml_flag, offsetof(struct raw_config, http2)},
		{"headers", read_headers, offsetof(struct raw_config, c)},
		{0},
	};

	return yaml_mapping(y, value, "http_server_config", keys, into, e);
}

static int read_rate(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	static const struct yaml_key keys[] = {
		{"interval", yaml_duration, offsetof(struct web_config, rate_interval)},
		{"burst", yaml_count, offsetof(struct web_config, rate_burst)},
		{0},
	};

	return yaml_mapping(y, value, "rate_limit", keys, into, e);
}

/* Accepts "$2a$", "$2b$" or "$2y$", a cost from 04 to 31, "$" and 53 characters of ./A-Za-z0-9
 * (crypt(5)). */
static bool bcrypt_ok(const char *hash)
{
	size_t n = strlen(hash);

	if (n != 60 || strncmp(hash, "$2", 2) != 0 || !strchr("aby", hash[2]) || hash[3] != '$' ||
		hash[6] != '$' || strncmp(hash + 4, "31", 2) > 0)
		return false;
	return crypt_checksalt(hash) == CRYPT_SALT_OK ||
	       crypt_checksalt(hash) == CRYPT_SALT_TOO_CHEAP;
}

static int read_user(struct yaml *y, const yaml_node_pair_t *pair, struct web_config *c,
	struct err *e)
{
	struct web_user *u = &c->user[c->n_users];
	yaml_node_t *name = yaml_node(y, pair->key), *hash = yaml_node(y, pair->value);
	int code = yaml_text(y, name, &u->name, e);

	if (code == 0)
		code = yaml_text(y, hash, &u->hash, e);
	if (code)
		return code;
	for (size_t i = 0; i < c->n_users; i++)
		if (strcmp(c->user[i].name, u->name) == 0)
			return yaml_error(y, name, e, "the user %.64s is given twice", u->name);
	/* If the blank after the colon is missing, YAML reads "NAME:HASH" as a name without a
	 * value. Do not print this name, because it contains the hash. */
	if (!*u->hash)
		return yaml_error(y, name, e,
			"a user has no password: write NAME: HASH, with a blank after the colon");
	if (!bcrypt_ok(u->hash))
		return yaml_error(y, name, e,
			"the password of %.64s is no bcrypt hash ($2y$, a cost, 53 characters); "
			"make one with: htpasswd -nBC 10 \"\"",
			u->name);
	c->n_users++;
	return 0;
}

static int read_users(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	struct web_config *c = into;

	if (value->type != YAML_MAPPING_NODE)
		return yaml_error(y, value, e, "basic_auth_users must map names to bcrypt hashes");
	yaml_node_pair_t *first = value->data.mapping.pairs.start,
			 *end = value->data.mapping.pairs.top;

	c->user = arena_alloc(&c->arena, (size_t)(end - first) * sizeof *c->user);
	for (yaml_node_pair_t *p = first; p < end; p++) {
		int code = read_user(y, p, c, e);

		if (code)
			return code;
	}
	return 0;
}

/* Returns a struct pem with `file` if it is set, otherwise with `text`. "" counts as not set. A
 * relative `file` is relative to the folder of the configuration file `path`. */
static struct pem pem_of(struct arena *arena, const char *path, const char *text, const char *file)
{
	struct pem ret = {.text = text && *text ? text : NULL};
	const char *slash = strrchr(path, '/');
	struct buf whole AUTO(buf_done) = BUF_MAX(8192);

	if (!file || !*file)
		return ret;
	if (*file != '/' && slash)
		buf_add(&whole, path, (size_t)(slash - path) + 1);
	buf_adds(&whole, file);
	ret.text = NULL;
	ret.file = arena_text(arena, buf_text(&whole), whole.len);
	return ret;
}

static int check_auth(struct raw_config *raw, const char *path, struct err *e)
{
	struct web_config *c = &raw->c;
	size_t i = 0;

	if (raw->auth_name && *raw->auth_name) {
		while (i < ARRAY_LEN(client_auths) &&
			strcmp(client_auths[i].name, raw->auth_name) != 0)
			i++;
		if (i == ARRAY_LEN(client_auths))
			return err_set(e, -EINVAL,
				"%s: unknown client_auth_type \"%.32s\"; accepted are "
				"NoClientCert, RequestClientCert, RequireAnyClientCert, "
				"VerifyClientCertIfGiven, RequireAndVerifyClientCert",
				path, raw->auth_name);
		c->client_auth = client_auths[i].auth;
	}
	if ((c->client_ca.text || c->client_ca.file) && c->client_auth == CLIENT_AUTH_NONE)
		return err_set(e, -EINVAL,
			"%s: client_ca is set, but client_auth_type requests no client "
			"certificate",
			path);
	return 0;
}

/* HTTP/2 over TLS 1.2 requires certain cipher suites (RFC 9113, 9.2.2). If the file turns HTTP/2
 * on, checks that it lists one of them. Exporters with HTTP/2 refuse a file without such a suite.
 * This server has no HTTP/2, but refuses the file, too, so that all exporters accept the same
 * files. */
static int check_http2(const struct raw_config *raw, const char *path, struct err *e)
{
	const struct web_config *c = &raw->c;

	if (!raw->http2 || c->n_ciphers == 0 || c->min_version >= TLS13)
		return 0;
	for (size_t i = 0; i < c->n_ciphers; i++)
		if (web_config_ciphers[c->ciphers[i]].http2 &&
			*web_config_ciphers[c->ciphers[i]].key_exchange)
			return 0;
	return err_set(e, -EINVAL,
		"%s: cipher_suites has no suite that HTTP/2 requires "
		"(TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or "
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256); add one, or set "
		"http_server_config.http2: false",
		path);
}

static int check_tls(struct raw_config *raw, const char *path, struct err *e)
{
	struct web_config *c = &raw->c;

	c->cert = pem_of(&c->arena, path, raw->tls.cert, raw->tls.cert_file);
	c->key = pem_of(&c->arena, path, raw->tls.key, raw->tls.key_file);
	c->client_ca = pem_of(&c->arena, path, raw->tls.client_ca, raw->tls.client_ca_file);
	c->n_sans = raw->tls.sans.n;
	c->sans = raw->tls.sans.text;
	bool cert = c->cert.text || c->cert.file, key = c->key.text || c->key.file;

	c->tls = cert || key || c->client_ca.text || c->client_ca.file ||
		 (raw->auth_name && *raw->auth_name);
	if (!c->tls)
		return 0;
	if (!cert || !key)
		return err_set(e, -EINVAL, "%s: tls_server_config needs one of %s", path,
			cert ? "key and key_file" : "cert and cert_file");
	if (c->min_version > c->max_version)
		return err_set(e, -EINVAL, "%s: min_version %s is above max_version %s", path,
			web_config_versions[c->min_version].name,
			web_config_versions[c->max_version].name);
	int code = check_auth(raw, path, e);

	return code ? code : check_http2(raw, path, e);
}

int web_config_parse(struct web_config **ret, const char *path, const char *text, size_t len,
	struct err *e)
{
	static const struct yaml_key keys[] = {
		{"tls_server_config", read_tls, 0},
		{"http_server_config", read_http, 0},
		{"rate_limit", read_rate, offsetof(struct raw_config, c)},
		{"basic_auth_users", read_users, offsetof(struct raw_config, c)},
		{0},
	};
	struct raw_config raw = {
		.c = {.min_version = TLS12, .max_version = TLS13, .server_order = true},
		.http2 = true};
	struct yaml y;
	int code = yaml_open(&y, path, text, len, &raw.c.arena, e);

	if (code == 0) {
		code = yaml_mapping(&y, yaml_root(&y), "", keys, &raw, e);
		yaml_close(&y);
	}
	if (code == 0)
		code = check_tls(&raw, path, e);
	if (code) {
		arena_done(&raw.c.arena);
		return code;
	}
	*ret = xmalloc(sizeof **ret);
	**ret = raw.c;
	return 0;
}

void web_config_free(struct web_config *c)
{
	if (!c)
		return;
	arena_done(&c->arena);
	free(c);
}
