/* exporter/site/negotiate.c: the Accept headers of real clients, and malformed ones. */
#include "tests/unit/test_main.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/site/exposition.h"

#define TEXT   "text/plain; version=0.0.4; charset=utf-8"
#define TEXT_1 "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
#define OM_1   "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OM_0   "application/openmetrics-text; version=0.0.1; charset=utf-8"
#define PROTOBUF                                                                                   \
	"application/"                                                                             \
	"vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

#define PROMETHEUS_2                                                                               \
	"application/openmetrics-text;version=1.0.0,application/"                                  \
	"openmetrics-text;version=0.0.1;q=0.75,"                                                   \
	"text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
#define PROMETHEUS_3                                                                               \
	"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"                   \
	"application/openmetrics-text;version=0.0.1;q=0.5,"                                        \
	"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/"    \
	"*;q=0.2"
#define BROWSER                                                                                    \
	"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

static const struct {
	const char *accept, *content_type;
} accepts[] = {
	{PROMETHEUS_2, OM_1},
	{PROMETHEUS_3, OM_1 "; escaping=allow-utf-8"},
	{PROTOBUF ";q=0.6," PROMETHEUS_3, OM_1 "; escaping=allow-utf-8"},
	{PROTOBUF, TEXT},
	{NULL, TEXT},
	{"", TEXT},
	{"*/*", TEXT},
	{BROWSER, TEXT},
	{"text/plain", TEXT},
	{"text/*", TEXT},
	{"TEXT/Plain; Version=0.0.4", TEXT},
	{"text/plain;version=1.0.0", TEXT_1},
	{"text/plain;version=1.0.0;escaping=underscores",
		"text/plain; version=1.0.0; charset=utf-8; escaping=underscores"},
	{"text/plain;version=0.0.4;escaping=underscores", TEXT},
	{"application/openmetrics-text", OM_0},
	{"application/openmetrics-text;version=0.0.1", OM_0},
	{"application/openmetrics-text; version=\"1.0.0\" ; charset=utf-8", OM_1},
	{"application/openmetrics-text;version=1.0.0;escaping=values", OM_1 "; escaping=values"},
	{"application/openmetrics-text;version=1.0.0;escaping=rot13", OM_1},
	{"application/openmetrics-text;version=1.0.0;escaping=dots\r\nX-Evil: 1", OM_1},
	{"application/openmetrics-text;version=9,text/plain;q=0.1", TEXT},
	{"application/openmetrics-text;version=9,application/openmetrics-text;version=1.0.0;q=0.1",
		OM_1},
	/* the weight decides first, then the order */
	{"text/plain;q=0.5,application/openmetrics-text;version=1.0.0;q=0.6", OM_1},
	{"text/plain,application/openmetrics-text;version=1.0.0", TEXT},
	{"application/openmetrics-text;version=1.0.0,text/plain", OM_1},
	{"application/openmetrics-text;q=0.900;version=1.0.0, text/plain;q=0.899", OM_1},
	/* a type with a zero or malformed weight is refused */
	{"application/openmetrics-text;version=1.0.0;q=0", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=abc", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=2", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=-1", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=1e-1", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=0.1234", TEXT},
	{"application/openmetrics-text;version=1.0.0;q=nan", TEXT},
	/* a comma in quotes does not separate */
	{"text/plain;x=\",application/openmetrics-text;version=1.0.0,\";q=0.1", TEXT},
	{"x/y;z=\"\\\",\",application/openmetrics-text;version=1.0.0", OM_1},
	{"x/y;z=\"open,application/openmetrics-text;version=1.0.0", TEXT},
	{";", TEXT},
	{",,,", TEXT},
	{";;q=,,", TEXT},
	{" , application/openmetrics-text ;version=1.0.0 ", OM_1},
	{"\xff\xfe,\x01;q=\x80", TEXT},
};

static void accept_decides_the_format(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(accepts); i++) {
		struct negotiated n = negotiate(accepts[i].accept);

		if (strcmp(n.content_type, accepts[i].content_type) != 0)
			fail_msg("%s: %s instead of %s", accepts[i].accept, n.content_type,
				accepts[i].content_type);
	}
}

static void content_type_says_the_format(void **state)
{
	static const struct {
		const char *accept;
		enum exposition_format format;
	} table[] = {
		{"text/plain", EXPOSITION_TEXT_0_0_4},
		{"text/plain;version=1.0.0", EXPOSITION_TEXT_1_0_0},
		{"application/openmetrics-text;version=1.0.0", EXPOSITION_OPENMETRICS_1_0_0},
		{"application/openmetrics-text;version=0.0.1", EXPOSITION_OPENMETRICS_0_0_1},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(negotiate(table[i].accept).format, table[i].format);
}

static void long_headers_end(void **state)
{
	AUTO(buf_done) struct buf b = BUF_MAX(1 << 20);

	for (int i = 0; i < 10000; i++)
		buf_adds(&b, "a/b;q=0.9,");
	buf_adds(&b, "application/openmetrics-text;version=1.0.0;q=0.1");
	assert_string_equal(negotiate(buf_text(&b)).content_type, OM_1);
	buf_reset(&b);
	for (int i = 0; i < 10000; i++)
		buf_adds(&b, "\"\\;=,");
	assert_string_equal(negotiate(buf_text(&b)).content_type, TEXT);
}

static void accept_encoding_decides_compression(void **state)
{
	static const struct {
		const char *accept;
		bool gzip;
	} table[] = {
		{NULL, false},
		{"", false},
		{"gzip", true},
		{"GZIP", true},
		{"x-gzip", true},
		{"gzip, deflate, br", true},
		{"deflate,gzip;q=0.5", true},
		{"*", true},
		{"br, *;q=0.1", true},
		{"identity", false},
		{"br, zstd", false},
		{"gzip;q=0", false},
		{"gzip;q=0,*", false},
		{"*,gzip;q=0.000", false},
		{"*;q=0", false},
		{"gzip;q=x", false},
		{"gzipped", false},
		{"identity;q=0", false},
		{"gzip;q=1.000", true},
		{"\xff;;,gzip", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (negotiate_gzip(table[i].accept) != table[i].gzip)
			fail_msg("%s", table[i].accept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept_decides_the_format),
		cmocka_unit_test(content_type_says_the_format),
		cmocka_unit_test(long_headers_end),
		cmocka_unit_test(accept_encoding_decides_compression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
