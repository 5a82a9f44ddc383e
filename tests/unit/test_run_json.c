/* Numbers of runs in answers: numbers of one run, numbers of all runs, and unknown numbers. */
#include "tests/unit/test_main.h"

#include "collectors/base/mem.h"
#include "exporter/answers/run_json.h"
#include "exporter/answers/stats_json.h"

/* The run's only sample was taken after the run's end. */
static void a_run_that_was_over_before_the_first_look_had_unknown_processes(void **state)
{
	static struct column_stats none[] = {{"processes", {1, 0, 0, 0, 0, 0, 0, 0}}};
	static struct column_stats some[] = {{"processes", {9, 2, 0, 4, 2, 4, 4, 18}}};
	struct run seen = {.run_id = "1", .n_stats = 1, .stats = some};
	struct run unseen = {.run_id = "0", .n_stats = 1, .stats = none};
	const struct run *run[] = {&unseen, &seen};
	json_t *missed = run_json(&unseen), *met = run_json(&seen);
	json_t *o = stats_json("job", &(struct stats_window){.n = 2, .run = run},
		&(struct sizing){0}, 0, true);
	const json_t *all = json_object_get(json_object_get(o, "over_runs"), "processes");
	const json_t *one = json_array_get(json_object_get(o, "runs"), 0);

	assert_true(json_is_null(json_object_get(missed, "processes_max")));
	assert_true(json_number_value(json_object_get(met, "processes_max")) == 4);
	assert_true(json_is_null(json_object_get(one, "processes")));
	assert_true(json_number_value(json_object_get(all, "mean")) == 2);
	json_decref(missed);
	json_decref(met);
	json_decref(o);
}

/* The statistics over several runs have the mean of the runs' means and the largest value of all
 * runs. */
static void gpus_are_among_the_statistics_of_resource_tracker(void **state)
{
	static struct column_stats of_one[] = {
		{"gpu_usage", {10, 0.5, 0, 1.25, 0.5, 1, 1, 5}},
		{"gpus_used", {10, 1, 0, 2, 1, 2, 2, 10}},
		{"vram_bytes", {10, 512 * 1048576.0, 0, 1e9, 1e9, 1e9, 1e9, 1e10}},
	};
	static struct column_stats of_other[] = {
		{"gpu_usage", {10, 1, 1, 1, 1, 1, 1, 10}},
		{"gpus_used", {10, 1, 1, 1, 1, 1, 1, 10}},
		{"vram_bytes", {10, 1024 * 1048576.0, 0, 2048 * 1048576.0, 0, 0, 0, 0}},
	};
	struct run one = {.n_stats = ARRAY_LEN(of_one), .stats = of_one};
	struct run other = {.n_stats = ARRAY_LEN(of_other), .stats = of_other};
	const struct run *run[] = {&one, &other};
	json_t *o = stats_json_resource_tracker(&(struct stats_window){.n = 2, .run = run});
	static const struct {
		const char *key;
		double mean, max;
	} table[] = {{"process_gpu_usage", 0.75, 1.25}, {"process_gpu_utilized", 1, 2},
		{"process_gpu_vram_mib", 768, 2048}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const json_t *both = json_object_get(o, table[i].key);

		assert_double_equal(json_number_value(json_object_get(both, "mean")), table[i].mean,
			1e-9);
		assert_double_equal(json_number_value(json_object_get(both, "max")), table[i].max,
			1e-9);
	}
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_was_over_before_the_first_look_had_unknown_processes),
		cmocka_unit_test(gpus_are_among_the_statistics_of_resource_tracker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
