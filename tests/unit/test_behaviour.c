/* Tests exporter/answers/behaviour_json.c: the JSON about a job's behaviour, which is a part of
 * /stats. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/answers/behaviour_json.h"
#include "tests/support/golden.h"

#define GIB 1073741824.0

static const struct change changes[] = {
	{CHANGE_SHIFT, "memory_peak_bytes", "0000000000009", GIB, 2 * GIB, NAN,
		"memory peak doubled"},
	{CHANGE_TREND, "duration_seconds", NULL, 100, 130, 0.001, "duration grows"},
};

static struct phase phases[] = {
	{0, 720, {1, 40 * GIB, 0, 0, NAN, NAN}, 0.9, 0},
	{720, 10800, {4, 8 * GIB, 1, 14 * GIB, NAN, NAN}, 3.5, 0.8},
};

static const struct server small = {
	.vendor_id = "aws", .server_id = "r6i.large", .vcpus = 2, .memory_amount = 65536};

static void golden_of(const char *name, const struct behaviour *b, const struct sizing *next)
{
	struct buf text = BUF_MAX(1 << 20);
	json_t *o = json_object();

	behaviour_json_put(o, b, next);
	json_write(&text, o);
	golden_check(name, buf_text(&text), text.len);
	buf_done(&text);
	json_decref(o);
}

static void what_is_known_has_its_place(void **state)
{
	static const struct split split = {{2, phases, 11520}, 0.4, "it takes 12 min, then 3 h"};
	static const struct region region = {
		.region_id = "7", .api_reference = "us-east-1", .display_name = "Ohio"};
	static const struct split_step whole = {
		{.server = &small, .region = &region, .price = 4, .forecast_cost = 12.5}, "USD"};
	static const struct split_step steps[] = {
		{{.server = &small, .region = &region, .price = 0.5, .forecast_cost = 0.125},
			"USD"},
		{{.server = &small, .region = &region, .price = 3, .forecast_cost = 9.875}, "USD"},
	};
	static const struct running_run running = {
		"0000000000010", {0.25, 3 * GIB, 120, 1795250600, 4, NAN}};
	struct behaviour b = {
		.n_changes = ARRAY_LEN(changes),
		.changes = changes,
		.phases = {2, phases, 11520},
		.split = &split,
		.whole = &whole,
		.steps = steps,
		.n_running = 1,
		.running = &running,
	};

	for (size_t i = 0; i < PROSPECT_POINTS; i++) {
		b.prospect.peak[i] = (double)(i + 1) * 1e7;
		b.prospect.duration[i] = NAN; /* the sizing says how long the next run takes */
	}
	golden_of("behaviour.json", &b,
		&(struct sizing){
			.demand.duration_seconds = 101, .duration_low = 21, .duration_high = 181});
}

static void what_is_not_known_is_null(void **state)
{
	static const struct split split = {{2, phases, 11520}, 0.4, "words"};
	static const struct split_step none = {.pick.forecast_cost = NAN};
	const struct split_step steps[] = {none, none};
	struct behaviour b = {.split = &split, .whole = &none, .steps = steps};

	for (size_t i = 0; i < PROSPECT_POINTS; i++)
		b.prospect.peak[i] = b.prospect.duration[i] = NAN;
	golden_of("behaviour_unknown.json", &b,
		&(struct sizing){
			.demand.duration_seconds = NAN, .duration_low = NAN, .duration_high = NAN});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_has_its_place),
		cmocka_unit_test(what_is_not_known_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
