/* recommender/servers/related_benchmarks.c: which benchmarks resemble a job. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/catalogue/build.h"
#include "recommender/servers/job_profile.h"

static const char *const ids[] = {"stress_ng:best1", "stress_ng:bestn", "workload_profile:compute",
	"workload_profile:web", "workload_profile:cicd", "workload_profile:data_analysis",
	"compression_text:compress", "membench:bandwidth_read", "llm_speed:prompt_processing",
	"static_web:throughput-extrapolated"};

static struct catalogue *catalogue(void)
{
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_int_equal(catalogue_add_benchmark(b,
					 &(struct benchmark){.benchmark_id = ids[i],
						 .name = "",
						 .category = "",
						 .unit = "",
						 .higher_is_better = true},
					 &e),
			0);
	catalogue_finish(b, "test", &c);
	catalogue_builder_free(b);
	return c;
}

static void proposals_follow_what_the_job_does(void **state)
{
	static const char *const zip[] = {"bash", "XZ"}, *const build[] = {"ninja", "cc1plus"};
	static const char *const python[] = {"python3"}, *const web[] = {"nginx"};
	static const struct {
		struct job_habits h;
		const char *found;
	} table[] = {
		{{NAN, NAN, NAN, NAN, NAN, {0, NULL}}, ""},
		{{0.9, 1, 0, 1e9, 0, {0, NULL}}, "stress_ng:best1 "},
		{{0.9, 8, 0, 1e9, 0, {0, NULL}}, "workload_profile:compute stress_ng:bestn "},
		{{0.9, 2, 0, 64e9, 0, {0, NULL}},
			"membench:bandwidth_read workload_profile:compute stress_ng:bestn "},
		{{0.1, 1, 0, 64e9, 0, {0, NULL}}, ""},
		{{0.1, 1, 0.8, 1e9, 0, {0, NULL}}, "llm_speed:prompt_processing "},
		{{0.9, 1, NAN, NAN, NAN, {2, zip}}, "compression_text:compress stress_ng:best1 "},
		{{0.4, 4, NAN, NAN, NAN, {2, build}}, "workload_profile:cicd "},
		{{0.4, 4, NAN, NAN, NAN, {1, python}}, ""},
		{{0.9, 1, NAN, NAN, NAN, {1, python}},
			"workload_profile:data_analysis stress_ng:best1 "},
		{{0.2, 1, NAN, NAN, 50e6, {1, web}},
			"workload_profile:web static_web:throughput-extrapolated "},
	};
	struct catalogue *c = catalogue();

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct related_benchmark found[RELATED_MAX];
		AUTO(buf_done) struct buf text = BUF_MAX(1024);
		size_t n = related_benchmarks_find(c, &table[i].h, found);

		for (size_t k = 0; k < n; k++) {
			buf_addf(&text, "%s ", found[k].benchmark->benchmark_id);
			assert_true(strlen(found[k].why) > 10);
		}
		assert_string_equal(buf_text(&text), table[i].found);
	}
	catalogue_free(c);
}

static void the_words_of_a_name_stand_for_programs(void **state)
{
	static const struct {
		const char *name, *found;
	} cases[] = {
		{"nightly/gzip-logs", "compression_text:compress "},
		{"Web.Frontend", "workload_profile:web "},
		{"etl/load", ""},
		{"///", ""},
		{"gzipped", ""},
	};
	struct catalogue *c = catalogue();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct run run = {.job_name = cases[i].name,
			.outcome = OUTCOME_SUCCEEDED,
			.duration_seconds = NAN};
		struct runs runs = {1, &run};
		struct job_habits habits = job_profile_habits(&runs, &arena);
		struct related_benchmark found[RELATED_MAX];
		AUTO(buf_done) struct buf text = BUF_MAX(4096);
		size_t n = related_benchmarks_find(c, &habits, found);

		for (size_t k = 0; k < n; k++)
			buf_addf(&text, "%s ", found[k].benchmark->benchmark_id);
		assert_string_equal(buf_text(&text), cases[i].found);
	}
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proposals_follow_what_the_job_does),
		cmocka_unit_test(the_words_of_a_name_stand_for_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
