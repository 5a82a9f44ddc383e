/* exporter/http/web_config.c and exporter/text/yaml.c: the meaning of a configuration file, and the
 * messages of refusals. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "exporter/http/web_config.h"
#include "exporter/http/web_tls.h"

#define HASH "$2y$10$DJl6WYUtfFc7t58SdAQOHeR4cCV3LRnvtKbw5HomvC3Qk3HGcCyqS"
#define PAIR "tls_server_config:\n  cert_file: a.crt\n  key_file: a.key\n"

static struct web_config *parse(const char *text)
{
	struct web_config *c = NULL;
	struct err e = {0};

	if (web_config_parse(&c, "/etc/web.yml", text, strlen(text), &e))
		fail_msg("%s: %s", text, e.text);
	return c;
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"a: [", "web.yml:2: not valid YAML"},
		{"just words\nin a row\n", "web.yml:1: this file must be keys"},
		{"- a\n- b\n", "web.yml:1: this file must be keys"},
		{"tls_server_confi: {}\n", "web.yml:1: unknown key tls_server_confi in this file; "
					   "accepted are tls_server_config"},
		{"tls_server_config:\n  cert_filse: a\n",
			"web.yml:2: unknown key cert_filse in tls_server_config"},
		{"http_server_config: {}\nhttp_server_config: {}\n",
			"web.yml:2: http_server_config is given twice"},
		{"{? [a] : b}\n", "a key must be a word"},
		{"tls_server_config: 5\n", "web.yml:1: tls_server_config must be keys"},
		{"tls_server_config:\n  cert: x\n", "needs one of key and key_file"},
		{"tls_server_config:\n  cert_file: ''\n  key_file: x\n",
			"needs one of cert and cert_file"},
		{"tls_server_config:\n  client_auth_type: x\n", "needs one of cert and cert_file"},
		{PAIR "  client_auth_type: x\n",
			"unknown client_auth_type \"x\"; accepted are NoClientCert"},
		{PAIR "  client_ca_file: ca\n", "client_auth_type requests no"},
		{PAIR "  min_version: TLS111\n",
			"web.yml:4: unknown TLS version \"TLS111\"; accepted are TLS10, TLS11"},
		{PAIR "  min_version: TLS13\n  max_version: TLS12\n",
			"min_version TLS13 is above max_version TLS12"},
		{PAIR "  cipher_suites: [TLS_X]\n", "web.yml:4: unknown cipher suite \"TLS_X\""},
		{PAIR "  cipher_suites: TLS_X\n", "expected a list"},
		{PAIR "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\n",
			"no suite that HTTP/2 requires"},
		{PAIR "  curve_preferences: [CurveP257]\n",
			"unknown curve \"CurveP257\"; accepted are X25519"},
		{PAIR "  curve_preferences: [X25519, X25519, X25519, X25519, X25519, X25519, "
		      "X25519, X25519, X25519]\n",
			"the list has more than 8 entries"},
		{PAIR "  client_allowed_sans: one\n", "a list is wanted"},
		{PAIR "  client_allowed_sans: [[one]]\n", "expected a text"},
		{PAIR "  prefer_server_cipher_suites: maybe\n", "\"maybe\" is not true or false"},
		{"http_server_config:\n  headers:\n    Content-Type: x\n",
			"web.yml:3: unknown key Content-Type in http_server_config.headers"},
		{"http_server_config:\n  headers:\n    X-Frame-Options: foo\n",
			"invalid value for X-Frame-Options: \"foo\"; accepted is deny or"},
		{"http_server_config:\n  headers:\n    X-Content-Type-Options: sniff\n",
			"accepted is nosniff"},
		{"http_server_config:\n  headers:\n    X-XSS-Protection: \"1\\nSet-Cookie: a\"\n",
			"control character"},
		{"http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\0b\"\n", "NUL"},
		{"rate_limit:\n  interval: 1\n", "\"1\" is not a duration"},
		{"rate_limit:\n  interval: -1s\n", "\"-1s\" is not a duration"},
		{"rate_limit:\n  burst: -1\n", "\"-1\" is not a whole number"},
		{"basic_auth_users: x\n", "must map names to bcrypt hashes"},
		{"basic_auth_users:\n  john: doe\n",
			"web.yml:2: the password of john is no bcrypt hash"},
		{"basic_auth_users:\n  a: " HASH "\n  a: " HASH "\n", "the user a is given twice"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct web_config *c = NULL;
		struct err e = {0};

		assert_int_equal(web_config_parse(&c, "web.yml", cases[i].text,
					 strlen(cases[i].text), &e),
			-EINVAL);
		assert_null(c);
		if (!strstr(e.text, cases[i].said))
			fail_msg("\"%s\" said \"%s\" instead of \"%s\"", cases[i].text, e.text,
				cases[i].said);
	}
}

static void a_password_is_never_repeated(void **state)
{
	static const char text[] = "basic_auth_users:\n  john: secret-that-nobody-may-see\n";
	struct web_config *c = NULL;
	struct err e = {0};

	assert_int_equal(web_config_parse(&c, "web.yml", text, strlen(text), &e), -EINVAL);
	assert_null(strstr(e.text, "secret"));
}

static void an_empty_file_asks_for_nothing(void **state)
{
	static const char *const texts[] = {
		"", "# only a comment\n", "tls_server_config:\nbasic_auth_users:\n", "{}"};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct web_config *c = parse(texts[i]);

		assert_false(c->tls);
		assert_int_equal(c->n_users, 0);
		assert_double_equal(c->rate_interval, 0, 0);
		web_config_free(c);
	}
}

static void files_are_in_the_folder_of_the_configuration(void **state)
{
	struct web_config *c =
		parse("tls_server_config:\n  cert_file: a.crt\n  key_file: /keys/a.key\n"
		      "  client_ca: PEM\n  client_auth_type: RequireClientCert\n");

	assert_true(c->tls);
	assert_string_equal(c->cert.file, "/etc/a.crt");
	assert_string_equal(c->key.file, "/keys/a.key");
	assert_null(c->client_ca.file);
	assert_string_equal(c->client_ca.text, "PEM");
	assert_int_equal(c->client_auth, CLIENT_AUTH_REQUIRE_ANY);
	web_config_free(c);
}

static void durations_are_those_of_other_exporters(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} cases[] = {{"0", 0}, {"1s", 1}, {"1m30s", 90}, {"250ms", 0.25}, {"1.5h", 5400}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[64];

		snprintf(text, sizeof text, "rate_limit:\n  interval: %s\n  burst: 3\n",
			cases[i].text);
		struct web_config *c = parse(text);

		assert_double_equal(c->rate_interval, cases[i].seconds, 1e-12);
		assert_int_equal(c->rate_burst, 3);
		web_config_free(c);
	}
}

static void assert_priorities(const char *text, const char *key_exchange, const char *expected)
{
	struct web_config *c = parse(text);
	struct buf out = BUF_MAX(4096);

	web_config_priorities(c, key_exchange, &out);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
	web_config_free(c);
}

#define END ":+SIGN-ALL:+COMP-NULL:+CTYPE-X509:%DEBUG_ALLOW_KEY_USAGE_VIOLATIONS"

static void only_listed_suites_come_into_being(void **state)
{
	assert_priorities(PAIR
		"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n  curve_preferences: [CurveP521]\n",
		"ECDHE-RSA",
		"NONE:+VERS-TLS1.3:+VERS-TLS1.2:+ECDHE-RSA:+AES-128-GCM:+AEAD:+GROUP-SECP521R1" END
		":%SERVER_PRECEDENCE");
	assert_priorities(PAIR
		"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n  curve_preferences: [X25519]\n"
		"  min_version: TLS12\n  max_version: TLS12\n  prefer_server_cipher_suites: no\n",
		"ECDHE-ECDSA",
		"NONE:+VERS-TLS1.2:+ECDHE-ECDSA:+AES-256-GCM:+AEAD:+GROUP-X25519" END);
	assert_priorities(PAIR, "ECDHE-RSA",
		"NONE:+VERS-TLS1.3:+VERS-TLS1.2:+ECDHE-RSA:+AES-128-GCM:+AEAD:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-CBC:+SHA1:+AES-256-CBC:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-SECP521R1" END
		":%SERVER_PRECEDENCE");
}

/* A TLS version without a cipher suite is not offered. */
static void versions_come_into_being_with_their_suites(void **state)
{
#define CURVE                                                                                      \
	"  curve_preferences: [X25519]\n  prefer_server_cipher_suites: no\nhttp_server_config: "   \
	"{http2: no}\n"
	static const struct {
		const char *text, *priorities;
	} table[] = {
		{PAIR "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n" CURVE,
			"NONE:+VERS-TLS1.2:+ECDHE-RSA:+AES-128-CBC:+SHA1:+GROUP-X25519" END},
		{PAIR "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n  min_version: "
		      "TLS13\n" CURVE,
			"NONE:+VERS-TLS1.3:+ECDHE-RSA:+AES-128-GCM:+AEAD:+AES-256-GCM:+CHACHA20-"
			"POLY1305:+GROUP-X25519" END},
		{PAIR "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n" CURVE,
			"NONE:+VERS-TLS1.3:+ECDHE-RSA:+AES-128-GCM:+AEAD:+AES-256-GCM:+CHACHA20-"
			"POLY1305:+GROUP-X25519" END},
		{PAIR "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
		      "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n" CURVE,
			"NONE:+VERS-TLS1.3:+VERS-TLS1.2:+ECDHE-RSA:+AES-256-GCM:+AEAD:+AES-128-CBC:"
			"+SHA1:+GROUP-X25519" END},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_priorities(table[i].text, "ECDHE-RSA", table[i].priorities);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(a_password_is_never_repeated),
		cmocka_unit_test(an_empty_file_asks_for_nothing),
		cmocka_unit_test(files_are_in_the_folder_of_the_configuration),
		cmocka_unit_test(durations_are_those_of_other_exporters),
		cmocka_unit_test(only_listed_suites_come_into_being),
		cmocka_unit_test(versions_come_into_being_with_their_suites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
