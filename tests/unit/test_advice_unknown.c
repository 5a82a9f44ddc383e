/* Every format, for every combination of unknown, tiny and huge numbers: no text has a "nan", an
 * "inf" or a number below 0, and each can be parsed. */
#include "tests/unit/test_main.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "exporter/text/yaml.h"
#include "recommender/advice/advice.h"
#include "recommender/sizing/strategy.h"

#define TIB (1024 * 1024 * MIB)

/* Each number of a sizing takes each of these values. */
enum amount { UNKNOWN, NONE, TINY, HUGE, AMOUNTS };

static const double cores_of[AMOUNTS] = {NAN, 0, 0.001, 16384};
static const double bytes_of[AMOUNTS] = {NAN, 0, 1, 128 * TIB};
static const double gpus_of[AMOUNTS] = {NAN, 0, 1, 1024};
static const double seconds_of[AMOUNTS] = {NAN, 0, 0.001, 3e9};

static struct sizing sizing_of(enum amount cpu, enum amount memory, enum amount gpu,
	enum amount disk, enum amount other)
{
	struct sizing s = {
		.demand = {cores_of[cpu], bytes_of[memory], gpus_of[gpu], bytes_of[gpu],
			bytes_of[disk], seconds_of[other]},
		.cpu_cores_limit = cores_of[other],
		.memory_bytes_limit = bytes_of[other],
		.gpu_usage = gpus_of[other] / 1024,
		.cpu_slowdown = cores_of[other],
		.duration_bound = seconds_of[other],
	};

	s.resources.cpu = sizing_round_cores(s.demand.cpu_cores);
	s.resources.memory = memory == NONE ? 0 : sizing_round_up(s.demand.memory_bytes);
	s.resources.gpu = gpu > NONE ? (uint64_t)s.demand.gpus : 0;
	s.resources.vram = gpu > NONE ? sizing_round_up(s.demand.vram_bytes) : 0;
	for (size_t i = 0; i < RISK_COUNT; i++)
		s.memory_at_risk[i] = bytes_of[other];
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s.memory_attempts[i] = bytes_of[other] * (double)(i + 1);
	return s;
}

static bool begins_number(char c)
{
	return strchr(" =:\"'([,", c) != NULL;
}

/* Returns a word such as "nan", or "a sign", if the text has an unknown or a negative number; NULL
 * = it has none. A "-" before a digit is a sign, unless it is part of a name such as
 * e2-custom-2-1024. */
static const char *bad_number(const char *text)
{
	static const char *const words[] = {"nan", "NaN", "inf", "Inf", "null, ", "(null)"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(text, words[i]))
			return words[i];
	for (const char *p = strchr(text, '-'); p; p = strchr(p + 1, '-'))
		if (isdigit((unsigned char)p[1]) && (p == text || begins_number(p[-1])))
			return "a sign";
	return NULL;
}

static bool is_json(const char *text)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	json_decref(root);
	return root != NULL;
}

/* Also checks the JSON in a podSpecPatch. */
static bool is_yaml(const char *text)
{
	AUTO(arena_done) struct arena arena = {0};
	const char *patch = NULL;
	const struct yaml_key keys[] = {{"podSpecPatch", yaml_text, 0}, {0}};
	struct yaml y;
	bool ok = true;

	if (yaml_open(&y, "text", text, strlen(text), &arena, NULL) < 0)
		return false;
	if (strncmp(text, "podSpecPatch", 12) == 0)
		ok = yaml_mapping(&y, yaml_root(&y), "", keys, &patch, NULL) == 0 && is_json(patch);
	yaml_close(&y);
	return ok;
}

/* Returns true if all brackets are closed, the last opened one first. Ignores brackets in quoted
 * texts. */
static bool is_balanced(const char *text)
{
	char open[64];
	size_t n = 0;

	for (char quote = 0; *text; text++) {
		const char *pair = strchr("()[]{}", *text);

		if (quote || *text == '"' || *text == '\'') {
			quote = !quote ? *text : *text == quote ? 0 : quote;
			continue;
		}
		if (!pair)
			continue;
		if (strchr("([{", *text)) {
			if (n == sizeof open)
				return false;
			open[n++] = pair[1];
		} else if (!n || open[--n] != *text) {
			return false;
		}
	}
	return n == 0;
}

static bool is_parsable(const struct advice_format *f, const char *text)
{
	if (strstr(f->content_type, "json"))
		return is_json(text);
	if (strstr(f->content_type, "yaml"))
		return is_yaml(text);
	return is_balanced(text);
}

static void assert_sane(const struct advice_format *f, const struct sizing *s)
{
	static const struct advice_target asked = {
		.job_name = "etl/load", .cpu_limit = true, .tmp = true};
	static const struct advice_target plain = {.job_name = "etl/load"};
	static const struct advice_target *const targets[] = {&plain, &asked};

	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		AUTO(buf_done) struct buf out = BUF_MAX(4096);
		struct err e = {0};
		int r = advice_write(&out, f, targets[i], s, &e);
		const char *text = r < 0 ? e.text : buf_text(&out), *bad = bad_number(text);

		assert_true(r == 0 || (r == -ERANGE && f->sizes));
		assert_false(out.full);
		if (bad)
			fail_msg("%s: %s in \"%s\"", f->name, bad, text);
		if (r == 0 && !is_parsable(f, text))
			fail_msg("%s: cannot be parsed: \"%s\"", f->name, text);
	}
}

static void no_number_is_odd_whatever_is_unknown(void **state)
{
	size_t n = 0;

	for (const struct advice_format *f = advice_formats + 1; f->name; f++)
		for (size_t i = 0; i < AMOUNTS * AMOUNTS * AMOUNTS * AMOUNTS * AMOUNTS; i++, n++) {
			struct sizing s = sizing_of((enum amount)(i % 4), (enum amount)(i / 4 % 4),
				(enum amount)(i / 16 % 4), (enum amount)(i / 64 % 4),
				(enum amount)(i / 256));

			assert_sane(f, &s);
		}
	assert_true(n >= 20 * 1024);
}

static void the_checks_of_this_file_find_faults(void **state)
{
	assert_non_null(bad_number("cpu: nan"));
	assert_non_null(bad_number("cpu=-1"));
	assert_null(bad_number("e2-custom-2-1024"));
	assert_false(is_json("{\"a\":}"));
	assert_false(is_yaml("a: [1"));
	assert_false(is_yaml("podSpecPatch: '{\"a\":}'"));
	assert_false(is_balanced("f(a[)]"));
	assert_false(is_balanced("f(a"));
	assert_true(is_balanced("f('(')"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_number_is_odd_whatever_is_unknown),
		cmocka_unit_test(the_checks_of_this_file_find_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
