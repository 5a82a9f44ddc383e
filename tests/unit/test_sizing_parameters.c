/* exporter/answers/sizing_parameters.h: the parameters of a request reach the strategy, or are
 * refused. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/answers/sizing_parameters.h"
#include "tests/support/sample_runs.h"

static const struct parameter parameters[] = {
	SIZING_PARAMETERS, {.name = "details", .kind = PARAMETER_FLAG, .fallback = "false"}, {0}};

static void arguments_of(struct arguments *a, const char *const pairs[][2])
{
	arguments_begin(a, parameters);
	for (size_t i = 0; i < 3 && pairs[i][0]; i++)
		assert_int_equal(arguments_add(a, pairs[i][0], pairs[i][1], NULL), 0);
	assert_int_equal(arguments_finish(a, NULL), 0);
}

static void what_is_asked_reaches_the_strategy(void **state)
{
	static const struct {
		const char *pairs[3][2];
		struct sizing_options asked;
	} table[] = {
		{{{NULL}}, {.attempt = 1}},
		{{{"runs", "2"}, {"risk", "safe"}}, {.runs = 2, .risk = RISK_SAFE, .attempt = 1}},
		{{{"cpu_for", "cost"}}, {.cpu_for = CPU_FOR_COST, .attempt = 1}},
		{{{"cpu_for", "speed"}, {"strategy", "auto"}}, {.attempt = 1}},
		{{{"input_bytes", "5e9"}, {"attempt", "3"}},
			{.input_bytes = 5e9, .input_given = true, .attempt = 3}},
		{{{"input_bytes", "2Gi"}},
			{.input_bytes = 2147483648, .input_given = true, .attempt = 1}},
		{{{"input_bytes", "0"}}, {.input_given = true, .attempt = 1}},
		{{{"strategy", "vpa"}, {"percentile", "0.9"}}, {.percentile = 0.9, .attempt = 1}},
		{{{"strategy", "max"}, {"margin", "0"}}, {.margin_given = true, .attempt = 1}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct sizing_options *wanted = &table[i].asked;
		struct reply r = {.body = BUF_MAX(4096)};
		struct sizing_options o;
		struct arguments a;

		arguments_of(&a, table[i].pairs);
		assert_true(sizing_parameters_read(&a, &o, &r));
		assert_int_equal(o.runs, wanted->runs);
		assert_int_equal(o.risk, wanted->risk);
		assert_int_equal(o.cpu_for, wanted->cpu_for);
		assert_int_equal(o.attempt, wanted->attempt);
		assert_true(o.input_bytes == wanted->input_bytes);
		assert_int_equal(o.input_given, wanted->input_given);
		assert_true(o.percentile == wanted->percentile);
		assert_true(o.margin == wanted->margin);
		assert_int_equal(o.margin_given, wanted->margin_given);
		assert_string_equal(sizing_parameters_strategy(&a)->name,
			argument_text(&a, "strategy"));
		buf_done(&r.body);
	}
}

static void auto_is_what_is_used_when_nothing_is_said(void **state)
{
	struct arguments a;

	arguments_of(&a, (const char *const[3][2]){{NULL}});
	assert_ptr_equal(sizing_parameters_strategy(&a), &strategies[0]);
	assert_string_equal(sizing_parameters_strategy(&a)->name, "auto");
}

static void what_the_strategy_would_ignore_is_refused(void **state)
{
	static const struct {
		const char *pairs[3][2], *words[2];
	} table[] = {
		{{{"percentile", "0.9"}},
			{"percentile: strategy auto", "[\"percentile\", \"vpa\"]"}},
		{{{"margin", "0.1"}},
			{"margin: strategy auto", "[\"max\", \"percentile\", \"krr\", \"vpa\"]"}},
		{{{"strategy", "krr"}, {"risk", "safe"}}, {"risk: strategy krr", "[\"auto\"]"}},
		{{{"strategy", "krr"}, {"cpu_for", "cost"}},
			{"cpu_for: strategy krr", "[\"auto\"]"}},
		{{{"strategy", "baseline"}, {"margin", "0.3"}},
			{"margin: strategy baseline", "krr"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct reply r = {.body = BUF_MAX(4096)};
		struct sizing_options o;
		struct arguments a;

		arguments_of(&a, table[i].pairs);
		assert_false(sizing_parameters_read(&a, &o, &r));
		assert_int_equal(r.status, 400);
		for (size_t k = 0; k < 2; k++)
			if (!strstr(buf_text(&r.body), table[i].words[k]))
				fail_msg("no %s in %s", table[i].words[k], buf_text(&r.body));
		buf_done(&r.body);
	}
}

static void old_runs_can_be_left_out(void **state)
{
	static const struct {
		const char *days;
		size_t left;
	} table[] = {
		{NULL, 4},
		{"0.002", 2}, /* this share of a day is 172.8 s */
		{"365", 4},
	};
	struct runs runs = sample_runs();

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *const pairs[3][2] = {
			{table[i].days ? "window_days" : NULL, table[i].days}};
		struct arguments a;
		struct runs left;

		arguments_of(&a, pairs);
		left = sizing_parameters_runs(&runs, sizing_parameters_since(&a, 1795250900));
		assert_int_equal(left.n, table[i].left);
		assert_ptr_equal(left.run, runs.run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_reaches_the_strategy),
		cmocka_unit_test(auto_is_what_is_used_when_nothing_is_said),
		cmocka_unit_test(what_the_strategy_would_ignore_is_refused),
		cmocka_unit_test(old_runs_can_be_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
