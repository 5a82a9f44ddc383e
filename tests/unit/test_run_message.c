/* A run message is read back unchanged. The refusal of any other message names what is wrong. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "exporter/forward/run_message.h"
#include "tests/support/sample_runs.h"

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void same_number(double a, double b)
{
	if (!isnan(a) || !isnan(b))
		assert_double_equal(a, b, 0);
}

static void same_columns(const struct run *a, const struct run *b)
{
	assert_int_equal(a->n_stats, b->n_stats);
	for (size_t i = 0; i < a->n_stats; i++) {
		const struct distribution *x = &a->stats[i].d, *y = &b->stats[i].d;

		assert_string_equal(a->stats[i].column, b->stats[i].column);
		assert_int_equal(x->n, y->n);
		same_number(x->mean, y->mean);
		same_number(x->min, y->min);
		same_number(x->max, y->max);
		same_number(x->p50, y->p50);
		same_number(x->p95, y->p95);
		same_number(x->p99, y->p99);
		same_number(x->sum, y->sum);
	}
}

static void same_run(const struct run *a, const struct run *b)
{
	same_text(a->run_id, b->run_id);
	same_text(a->job_name, b->job_name);
	same_number(a->started_at, b->started_at);
	same_number(a->ended_at, b->ended_at);
	same_number(a->duration_seconds, b->duration_seconds);
	assert_int_equal(a->outcome, b->outcome);
	same_number(a->exit_code, b->exit_code);
	same_number(a->exit_signal, b->exit_signal);
	same_text(a->host, b->host);
	same_text(a->cpu_source, b->cpu_source);
	same_text(a->network_source, b->network_source);
	same_text(a->cpu_level, b->cpu_level);
	same_text(a->vendor_id, b->vendor_id);
	same_text(a->instance_type, b->instance_type);
	same_text(a->region, b->region);
	same_text(a->zone, b->zone);
	same_text(a->allocation, b->allocation);
	assert_int_equal(a->architecture, b->architecture);
	same_text(a->memory_source, b->memory_source);
	assert_int_equal(a->samples, b->samples);
	same_number(a->interval_seconds, b->interval_seconds);
	same_number(a->requested_cpu_cores, b->requested_cpu_cores);
	same_number(a->requested_memory_bytes, b->requested_memory_bytes);
	same_number(a->memory_limit_bytes, b->memory_limit_bytes);
	same_number(a->input_bytes, b->input_bytes);
	same_number(a->attempt, b->attempt);
	same_number(a->cpu_missed_seconds, b->cpu_missed_seconds);
	same_text(a->network_source, b->network_source);
	assert_int_equal(a->architecture, b->architecture);
	same_text(a->vendor_id, b->vendor_id);
	same_text(a->instance_type, b->instance_type);
	same_text(a->region, b->region);
	same_text(a->zone, b->zone);
	same_text(a->allocation, b->allocation);
	same_columns(a, b);
}

static void what_is_told_is_read(void **state)
{
	struct runs runs = sample_runs();

	for (size_t i = 0; i < runs.n; i++) {
		AUTO(arena_done) struct arena arena = {0};
		AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
		struct run got;
		struct err e = {0};

		if (runs.run[i].outcome == OUTCOME_RUNNING)
			continue;
		runs.run[i].vendor_id = "aws";
		runs.run[i].instance_type = "m7g.large";
		runs.run[i].architecture = ARCHITECTURE_ARM64;
		runs.run[i].cpu_level = "x86-64-v3";
		json_t *told = run_message(&runs.run[i]);

		json_write(&text, told);
		json_decref(told);
		if (run_message_read(&got, buf_text(&text), text.len, &arena, &e))
			fail_msg("%s: %s", buf_text(&text), e.text);
		same_run(&got, &runs.run[i]);
	}
}

#define RUN                                                                                        \
	"\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":1,\"ended_at\":2,"                     \
	"\"duration_seconds\":1,"
#define GOOD RUN "\"outcome\":\"failed\",\"columns\":{}"

static const struct {
	const char *text, *refused_for; /* NULL = accepted */
} cases[] = {
	{"{" GOOD "}", NULL},
	{"{" GOOD ",\"of_a_newer_exporter\":[1]}", NULL},
	{"{\"started_at\":9,\"run_id\":\"r\",\"job_name\":\"j\",\"ended_at\":2,\"duration_"
	 "seconds\":1,\"outcome\":\"failed\",\"columns\":{}}",
		NULL},
	{"", "one run as a JSON object"},
	{"[{" GOOD "}]", "one run as a JSON object"},
	{"{" GOOD, "one run as a JSON object"},
	{"{" GOOD ",\"run_id\":\"twice\"}", "one run as a JSON object"},
	{"{\"job_name\":\"j\"}", "run_id is missing"},
	{"{" RUN "\"columns\":{}}", "outcome: accepted are"},
	{"{" RUN "\"outcome\":\"running\",\"columns\":{}}", "outcome: accepted are"},
	{"{" RUN "\"outcome\":\"failed\"}", "columns: accepted is"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":[]}", "columns: accepted is"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"a b\":{\"n\":1}}}", "column a b: accepted"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{}}}", "column cpu: n is missing"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{\"n\":1.5}}}",
		"column cpu: n: accepted"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{\"n\":1,\"mean\":\"1\"}}}",
		"column cpu: mean: accepted is a number"},
	{"{" GOOD ",\"host\":\"a\\nb\"}", "host: accepted is a text"},
	{"{" GOOD ",\"host\":\"\"}", "host: accepted is a text"},
	{"{" GOOD ",\"samples\":-1}", "samples: accepted is a whole number"},
	{"{\"run_id\":\"0123456789012345678901234567890123456789\"}",
		"run_id: accepted is a text of 1 to 39"},
	{"{\"run_id\":\"r\\u0000s\"}", "one run as a JSON object"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":-1,\"ended_at\":2,"
	 "\"duration_seconds\":1,\"outcome\":\"failed\",\"columns\":{}}",
		"seconds since 1970"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":1,\"ended_at\":2,"
	 "\"duration_seconds\":-1,\"outcome\":\"failed\",\"columns\":{}}",
		"duration_seconds: accepted"},
};

static void what_is_no_run_is_refused_with_the_reason(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct run got = {.run_id = "untouched"};
		struct err e = {0};
		int code = run_message_read(&got, cases[i].text, strlen(cases[i].text), &arena, &e);

		if (!cases[i].refused_for && code)
			fail_msg("%s: %s", cases[i].text, e.text);
		if (cases[i].refused_for &&
			(code != -EINVAL || !strstr(e.text, cases[i].refused_for) ||
				strcmp(got.run_id, "untouched") != 0))
			fail_msg("%s: %d %s", cases[i].text, code, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told_is_read),
		cmocka_unit_test(what_is_no_run_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
