/* Answers like the Keeper, with or without a fault. */
#include "tests/unit/test_main.h"

#include "tests/support/keeper_world.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct world new_world(void)
{
	return (struct world){
		.stop_after_waits = -1, .hash = "h1", .aws_servers = 600, .hcloud_servers = 250};
}

/* The catalogue of this world has three pages. That is few enough for a test that lets each call
 * fail. */
struct world small_world(void)
{
	struct world w = new_world();

	w.aws_servers = 260;
	w.hcloud_servers = 10;
	return w;
}

struct wall world_now(void *context)
{
	struct world *w = context;

	return (struct wall){.ns = 1787000000LL * NS_PER_S + (int64_t)(w->seconds * 1e9)};
}

bool world_wait(void *context, double seconds)
{
	struct world *w = context;

	if (w->stop_after_waits == 0)
		return false;
	if (w->stop_after_waits > 0)
		w->stop_after_waits--;
	assert_true(seconds > 0 && seconds < 3600);
	w->seconds += seconds;
	return true;
}

double world_random(void *context)
{
	struct world *w = context;

	return fmod(w->seconds * 7.31, 1);
}

static long parameter(const char *url, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof key, "%s=", name);
	at = strstr(url, key);
	assert_non_null(at);
	long v = 0;

	for (at += strlen(key); *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (*at - '0');
	return v;
}

static void serve_servers(struct world *w, const char *url, struct http_response *a)
{
	bool aws = strstr(url, "vendor=aws") || strstr(url, "vendor_regions=aws~");
	bool hetzner = strstr(url, "vendor=hcloud") || strstr(url, "vendor_regions=hcloud~");
	bool region = strstr(url, "vendor_regions=");
	bool spot = strstr(url, "best_price_allocation=SPOT_ONLY");
	bool single = strstr(url, "benchmark_config=%7B%22cores%22%3A%201%7D");
	long total = aws ? (long)w->aws_servers : hetzner ? (long)w->hcloud_servers : 0;
	long limit = parameter(url, "limit"), page = parameter(url, "page");
	const char *comma = "";

	if (strstr(url, "compliance_framework=")) {
		assert_int_equal(limit, 1);
		/* Only aws meets hipaa. If a vendor does not meet a framework, this Keeper ignores
		 * the filter by vendor and the filter by framework. */
		bool meets = strstr(url, "vendor=aws&compliance_framework=hipaa&");
		bool last = strstr(url, "order_by=vendor_id&order_dir=desc");

		buf_addf(&a->body, "[{\"vendor_id\":\"%s\",\"server_id\":\"s00000\"}]",
			meets || !last ? "aws" : "hcloud");
		return;
	}
	assert_true(limit == KEEPER_PAGE_SIZE && page >= 1);
	assert_non_null(strstr(url, "order_by=server_id"));
	assert_true(region == (strstr(url, "best_price_allocation=") != NULL));
	if (w->endless)
		page = 1;
	buf_adds(&a->body, "[");
	/* Every second server has a spot price. */
	for (long i = (page - 1) * limit; i < page * limit && i < total; i++) {
		if (spot && i % 2)
			continue;
		buf_addf(&a->body,
			"%s{\"vendor_id\":\"%s\",\"server_id\":\"s%05ld\",\"vcpus\":%ld,\"memory_amount\":1024,\"price\":%s,\"min_price\":%s,\"min_price_ondemand\":%ld.5,\"min_price_spot\":%s,\"new_field\":{\"a\":[]},\"score\":100,\"gpus\":[],\"vendor\":{\"vendor_id\":\"x\",\"billing_increment_seconds\":1}%s}",
			comma, aws ? "aws" : "hcloud", i, 1 + i % 8, i % 2 ? "1.5" : "0.5",
			i % 2 ? "1.5" : "0.5", region ? 2L : 1L,
			i % 2  ? "null" :
			region ? "0.75" :
				 "0.5",
			single ? ",\"selected_benchmark_score\":3" :
			strstr(url, "benchmark_id=stress_ng%3Abest1") ?
				 ",\"selected_benchmark_score\":50" :
			strstr(url, "benchmark_id=") ? ",\"selected_benchmark_score\":7" :
						       "");
		comma = ",";
	}
	buf_adds(&a->body, "]");
	if (strstr(url, "add_total_count_header=true") && !w->no_header)
		a->total_count = (double)total + w->claimed;
}

static void serve(struct world *w, const char *url, struct http_response *a)
{
	const char *path = url + strlen(WORLD_URL);

	assert_memory_equal(url, WORLD_URL, strlen(WORLD_URL));
	a->status = 200;
	a->max_age_seconds = 3600;
	snprintf(a->etag, sizeof a->etag, "\"%zu%s\"", strlen(url), w->changed ? "b" : "a");
	if (strcmp(path, "/healthcheck") == 0)
		buf_addf(&a->body,
			"{\"database_hash\":\"%s\",\"database_last_updated\":1786900000.5,"
			"\"packages\":{}}",
			w->hash);
	else if (strcmp(path, "/table/country") == 0)
		buf_adds(&a->body, "[{\"country_id\":\"DE\",\"continent\":\"Europe\"}]");
	else if (strcmp(path, "/table/vendor") == 0)
		buf_adds(&a->body, "[{\"vendor_id\":\"aws\",\"name\":\"A\"},{\"vendor_id\":"
				   "\"hcloud\"},{\"vendor_id\":\"empty\"}]");
	else if (strcmp(path, "/table/region") == 0)
		buf_adds(&a->body, "[{\"vendor_id\":\"aws\",\"region_id\":\"us-east-1\",\"api_"
				   "reference\":\"us-east-1\",\"aliases\":[]},"
				   "{\"vendor_id\":\"hcloud\",\"region_id\":\"2\",\"api_"
				   "reference\":\"nbg1-dc3\",\"country_id\":\"DE\","
				   "\"aliases\":[\"nbg1\"]}]");
	else if (strcmp(path, "/table/benchmark") == 0)
		buf_adds(&a->body,
			"[{\"benchmark_id\":\"stress_ng:best1\",\"name\":\"one\",\"higher_is_better\":true},{\"benchmark_id\":\"latency\",\"name\":\"L\",\"higher_is_better\":false},{}]");
	else if (strcmp(path, "/table/compliance_framework") == 0)
		buf_adds(&a->body, "[{\"compliance_framework_id\":\"hipaa\"},"
				   "{\"compliance_framework_id\":\"soc2t2\"}]");
	else if (strcmp(path, "/benchmark_configs") == 0)
		buf_adds(&a->body,
			"[{\"benchmark_id\":\"other\",\"config\":\"{\\\"cores\\\": 1}\"},"
			"{\"benchmark_id\":\"latency\",\"config\":\"{\\\"cores\\\": 2}\"},"
			"{\"benchmark_id\":\"latency\",\"config\":\"{\\\"cores\\\": 1, \\\"a\\\": 2}\"},"
			"{\"benchmark_id\":\"latency\",\"config\":\"{\\\"cores\\\": 1}\"},"
			"{\"benchmark_id\":\"latency\",\"config\":\"{\\\"cores\\\": 1.0}\"}]");
	else if (strncmp(path, "/servers?", 9) == 0)
		serve_servers(w, url, a);
	else
		fail_msg("asked for %s", url);
}

static int inject(struct world *w, struct http_response *a, struct err *e)
{
	switch (w->fault) {
	case FAULT_NONE:
	case FAULTS:
		break;
	case FAULT_NO_ANSWER:
		response_headers_clear(a);
		return err_set(e, -EIO, "%s: connection refused", WORLD_URL);
	case FAULT_TIMEOUT:
		w->seconds += 30;
		return err_set(e, -ETIMEDOUT, "%s: timed out", WORLD_URL);
	case FAULT_TOO_MANY_TOLD:
		a->retry_after_seconds = 42;
		__attribute__((fallthrough));
	case FAULT_TOO_MANY:
		a->status = 429;
		buf_reset(&a->body);
		buf_adds(&a->body, "Rate limit exceeded.");
		break;
	case FAULT_BUSY:
		a->status = 503;
		break;
	case FAULT_BROKEN:
		a->status = 500;
		__attribute__((fallthrough));
	case FAULT_HTML:
		buf_reset(&a->body);
		buf_adds(&a->body, "<html>\nsorry</html>");
		break;
	case FAULT_CUT:
		a->body.len /= 2;
		a->body.data[a->body.len] = '\0';
		break;
	case FAULT_OTHER_JSON:
		buf_reset(&a->body);
		buf_adds(&a->body, "\"maintenance\"");
		break;
	case FAULT_UNPROCESSABLE:
		a->status = 422;
		buf_reset(&a->body);
		buf_adds(&a->body, "{\"detail\":\"vcpus_min\"}\nmore");
		break;
	case FAULT_UNAUTHORIZED:
		a->status = 401;
		break;
	case FAULT_TOO_LONG:
		return err_set(e, -E2BIG, "%s: more than 1 bytes", WORLD_URL);
	case FAULT_CERTIFICATE:
		return err_set(e, -EKEYREJECTED, "%s: not trusted", WORLD_URL);
	}
	return 0;
}

int world_get(void *context, const char *url, const char *etag, struct http_response *ret,
	struct err *e)
{
	struct world *w = context;
	bool servers = strstr(url, "/servers") != NULL;

	response_headers_clear(ret);
	ret->body.max = CATALOGUE_PAGE_MAX;
	w->call_at[w->calls] = w->seconds;
	w->call_credits[w->calls] = servers ? 3 : 1;
	w->calls++;
	w->servers_calls += servers;
	assert_true(w->calls < 4000);
	serve(w, url, ret);
	if (w->rate_limit > 0)
		ret->rate_limit = w->rate_limit;
	if (w->fail_call && w->calls >= w->fail_call && w->calls < w->fail_call + w->fail_times)
		return inject(w, ret, e);
	if (etag && *etag && strcmp(etag, ret->etag) == 0) {
		ret->status = 304;
		buf_reset(&ret->body);
		w->not_modified++;
	}
	return 0;
}
