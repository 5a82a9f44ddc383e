/* exporter/remote/store_query.h: what is asked of a store, and how its answer is read. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/remote/store_query.h"

static void selector_is(const char *const *keys, size_t n, const char *name, const char *expected)
{
	AUTO(buf_done) struct buf b = BUF_MAX(4096);
	struct store_job job[4];

	for (size_t i = 0; i < n; i++)
		job[i] = (struct store_job){keys[i], 1};
	store_selector(&b, name, job, n);
	assert_string_equal(buf_text(&b), expected);
}

static void a_selector_matches_these_jobs_alone(void **state)
{
	selector_is((const char *const[]){"load"}, 1, "x",
		"x{job_name=~\"load\",namespace=\"\",cluster=\"\"}");
	selector_is((const char *const[]){"a.b|c", "d\\\"e"}, 2, NULL,
		"{__name__=~\"rightsize_run_.+\",job_name=~\"a\\\\.b\\\\|c|d\\\\\\\\\\\"e\",namespace=\"\",cluster=\"\"}");
	selector_is((const char *const[]){"load\x1f"
					  "etl\x1f"
					  "eu"},
		1, "x", "x{job_name=~\"load\",namespace=\"etl\",cluster=\"eu\"}");
}

/* A series as Prometheus 3.5 and VictoriaMetrics 1.145 give it. `labels` are further labels. */
#define SERIES(name, outcome, labels, values)                                                      \
	"{\"metric\":{\"__name__\":\"rightsize_run_" name                                          \
	"\",\"job_name\":\"load\",\"outcome\":\"" outcome "\"" labels "},\"values\":[" values "]}"
/* The count of the numbers of runs, and their texts. */
#define ENDS(outcome, labels, values)                                                              \
	SERIES("numbers", outcome, labels, values) "," SERIES("info", outcome, labels, values)
#define MATRIX(list)                                                                               \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" list "]}}"

static struct store_runs read_answer(const char *text, struct arena *arena)
{
	struct store_runs ret;

	assert_int_equal(store_runs_read(text, strlen(text), arena, &ret, NULL), 0);
	return ret;
}

static void runs_are_put_together(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	static const char text[] = MATRIX(SERIES("duration_seconds", "succeeded", "",
		"[1700000000.123,\"1.5\"],[1700000100,\"2\"]") "," SERIES("start_time_seconds",
		"succeeded", ",\"replica\":\"a\"",
		"[1700000000.123,\"1699999998.5\"]") "," SERIES("memory_peak_bytes", "succeeded",
		"", "[1700000000.123,\"4096\"]") "," SERIES("of_a_later_version", "succeeded", "",
		"[1700000000.123,\"7\"]") "," SERIES("cpu_cores_mean", "succeeded", "",
		"[1700000000.123,\"0.25\"]") "," SERIES("cpu_cores_p95", "succeeded", "",
		"[1700000000.123,\"1e-3\"]") "," SERIES("numbers", "succeeded", "",
		"[1700000000.123,\"6\"],[1700000100,\"1\"]") "," SERIES("info", "succeeded",
		",\"namespace\":\"\",\"vendor\":\"aws\",\"memory_source\":\"cgroup\",\"architecture\":\"arm64\"",
		"[1700000000.123,\"1\"]") "," SERIES("info", "succeeded", "",
		"[1700000100,\"1\"]"));
	struct store_runs got = read_answer(text, &arena);

	assert_int_equal(got.runs.n, 2);
	assert_int_equal(got.incomplete + got.collided, 0);
	const struct run *r = &got.runs.run[0];

	assert_string_equal(r->job_name, "load");
	assert_int_equal(r->outcome, OUTCOME_SUCCEEDED);
	assert_double_equal(r->ended_at, 1700000000.123, 0);
	assert_double_equal(r->started_at, 1699999998.5, 0);
	assert_double_equal(r->duration_seconds, 1.5, 0);
	assert_double_equal(run_peak(r, "memory_peak_bytes"), 4096, 0);
	assert_double_equal(run_mean(r, "cpu_cores"), 0.25, 0);
	assert_double_equal(run_column(r, "cpu_cores")->p95, 0.001, 0);
	assert_true(isnan(run_peak(r, "cpu_cores")) && isnan(r->exit_code));
	assert_string_equal(r->vendor_id, "aws");
	assert_int_equal(r->architecture, ARCHITECTURE_ARM64);
	/* A missing value is unknown. A missing start is the end minus the duration. */
	assert_double_equal(r[1].started_at, 1700000098, 0);
	assert_null(r[1].memory_source);
	assert_string_not_equal(r->run_id, r[1].run_id);
}

static void containers_have_runs_of_their_own(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
#define ENDED(labels)                                                                              \
	SERIES("duration_seconds", "failed", labels, "[5,\"1\"]")                                  \
	"," ENDS("failed", labels, "[5,\"1\"]")
	static const char text[] = MATRIX(
		ENDED("") "," ENDED(",\"container\":\"b\"") "," ENDED(",\"container\":\"a\"") "," ENDED(
			",\"container\":\"q\\\"\"") "," ENDED(",\"container\":\"q\\u0001\""));
	static const char *const labels[] = {
		NULL, "{\"container\": \"a\"}", "{\"container\": \"b\"}"};
	struct store_runs got = read_answer(text, &arena);

	assert_int_equal(got.runs.n, ARRAY_LEN(labels));
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		if (labels[i])
			assert_string_equal(got.runs.run[i].labels, labels[i]);
		else
			assert_null(got.runs.run[i].labels);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(got.runs.run[i].run_id, got.runs.run[k].run_id);
	}
	/* Readers of earlier versions gave this id to the run without a container. */
	assert_string_equal(got.runs.run[0].run_id, "5000-d88f9d339552d2c7");
}

/* A run with a duration and an exit code. `n` is how many numbers were sent. */
#define NUMBERS_OF(code, check, n)                                                                 \
	SERIES("duration_seconds", "failed", "", "[5,\"1\"]")                                      \
	"," SERIES("exit_code", "failed", "", "[5,\"" code "\"]") "," SERIES("check", "failed",    \
		"", "[5,\"" check "\"]") "," SERIES("numbers", "failed", "", "[5,\"" n "\"]")

#define ENDED_AS(code, check, n)                                                                   \
	NUMBERS_OF(code, check, n) "," SERIES("info", "failed", "", "[5,\"1\"]")

static void parts_of_runs_are_left_out(void **state)
{
	static const struct {
		const char *text;
		size_t runs, incomplete, collided, refused;
	} table[] = {
		{MATRIX(""), 0, 0, 0},
		/* Two numbers are expected, and one is there. */
		{MATRIX(SERIES("duration_seconds", "failed", "", "[5,\"1\"]") "," ENDS("failed", "",
			 "[5,\"2\"]")),
			0, 1, 0},
		{MATRIX(SERIES("duration_seconds", "failed", "", "[5,\"1\"]")), 0, 1, 0},
		/* The texts of the run are not there yet. */
		{MATRIX(NUMBERS_OF("7", "2.7725887222397811", "3")), 0, 1, 0},
		/* The same sample of two replicas, and samples of two runs. */
		{MATRIX(SERIES("duration_seconds", "failed", ",\"r\":\"a\"",
			 "[5,\"1\"]") "," SERIES("duration_seconds", "failed", "",
			 "[5,\"1\"]") "," ENDS("failed", "", "[5,\"1\"]")),
			1, 0, 0},
		{MATRIX(SERIES("duration_seconds", "failed", "",
			 "[5,\"1\"],[5,\"2\"]") "," ENDS("failed", "", "[5,\"1\"]")),
			0, 0, 1},
		/* A store chose the duration of one run and the exit code of another: log1p(1) +
		 * log1p(3) is not log1p(1) + log1p(7). A number more than was sent is one of
		 * another run. A last digit that the store lost is no other run. */
		{MATRIX(ENDED_AS("3", "2.7725887222397811", "3")), 0, 0, 1},
		{MATRIX(ENDED_AS("7", "2.7725887222397811", "3")), 1, 0, 0},
		{MATRIX(ENDED_AS("7", "2.772588722239", "3")), 1, 0, 0},
		{MATRIX(ENDED_AS("7", "2.7725887222397811", "2")), 0, 0, 1},
		{MATRIX(ENDED_AS("3", "2.7725887222397811", "4")), 0, 1, 0},
		/* The numbers of one run with the texts of two, and with those of two replicas. */
		{MATRIX(NUMBERS_OF("7", "2.7725887222397811", "3") "," SERIES("info", "failed",
			 ",\"system\":\"a\"", "[5,\"1\"]") "," SERIES("info", "failed",
			 ",\"system\":\"b\"", "[5,\"1\"]")),
			0, 0, 1},
		{MATRIX(NUMBERS_OF("7", "2.7725887222397811", "3") "," SERIES("info", "failed",
			 ",\"system\":\"a\"", "[5,\"1\"]") "," SERIES("info", "failed",
			 ",\"system\":\"a\",\"replica\":\"b\"", "[5,\"1\"]")),
			1, 0, 0},
		/* No machine has so many cores, and no run ends before it begins. */
		{MATRIX(SERIES("duration_seconds", "failed", "",
			 "[5,\"1\"]") "," SERIES("cpu_cores_max", "failed", "",
			 "[5,\"1e12\"]") "," ENDS("failed", "", "[5,\"2\"]")),
			0, 0, 0, 1},
		{MATRIX(SERIES("duration_seconds", "failed", "", "[5,\"-1\"]") "," ENDS("failed",
			 "", "[5,\"1\"]")),
			0, 0, 0, 1},
		{MATRIX(SERIES("duration_seconds", "failed", "",
			 "[5,\"1\"]") "," SERIES("memory_limit_bytes", "failed", "",
			 "[5,\"-7\"]") "," ENDS("failed", "", "[5,\"2\"]")),
			0, 0, 0, 1},
		{MATRIX(SERIES("duration_seconds", "running", "", "[5,\"1\"]")), 0, 0, 0},
		{MATRIX(SERIES("duration_seconds", "new", "", "[5,\"1\"]")), 0, 0, 0},
		{MATRIX(SERIES("duration_seconds", "failed", "",
			 "[5,\"NaN\"],[1e99,\"1\"],[5,1],7,[]")),
			0, 0, 0},
		{MATRIX("7,null,{},{\"metric\":{\"__name__\":\"up\"},\"values\":[[5,\"1\"]]}"), 0,
			0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct store_runs got = read_answer(table[i].text, &arena);

		if (got.runs.n != table[i].runs || got.incomplete != table[i].incomplete ||
			got.collided != table[i].collided || got.refused != table[i].refused)
			fail_msg("row %zu: %zu %zu %zu %zu", i, got.runs.n, got.incomplete,
				got.collided, got.refused);
	}
}

/* The samples of a run may be up to a second away from its end. A wrong end is ignored. */
static void a_run_ends_at_its_end(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	static const char text[] = MATRIX(SERIES("duration_seconds", "succeeded", "",
		"[1700000000.437,\"10\"],[1700000100.5,\"10\"]") "," SERIES("end_time_seconds",
		"succeeded", "",
		"[1700000000.437,\"1700000000.00005\"],[1700000100.5,\"1700000000\"]") "," ENDS("succeeded",
		"", "[1700000000.437,\"2\"],[1700000100.5,\"2\"]"));
	struct store_runs got = read_answer(text, &arena);

	assert_int_equal(got.runs.n, 2);
	assert_double_equal(got.runs.run[0].ended_at, 1700000000.00005, 1e-6);
	assert_double_equal(got.runs.run[1].ended_at, 1700000100.5, 0);
}

/* The clock of a machine was set during the run. The end is more likely right than the start. */
static void the_start_fits_the_end_and_the_duration(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	static const char text[] = MATRIX(SERIES("duration_seconds", "succeeded", "",
		"[1700000000,\"10\"]") "," SERIES("start_time_seconds", "succeeded", "",
		"[1700000000,\"1e300\"]") "," ENDS("succeeded", "", "[1700000000,\"2\"]"));
	struct store_runs got = read_answer(text, &arena);

	assert_int_equal(got.runs.n, 1);
	assert_double_equal(got.runs.run[0].started_at, 1699999990, 0);
}

static void another_answer_is_none(void **state)
{
	static const char *const texts[] = {"", "[]", "<html>",
		"{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"invalid\"}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\"}}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct store_runs got;
		struct err e = {0};

		assert_int_equal(store_runs_read(texts[i], strlen(texts[i]), &arena, &got, &e),
			-EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_selector_matches_these_jobs_alone),
		cmocka_unit_test(runs_are_put_together),
		cmocka_unit_test(containers_have_runs_of_their_own),
		cmocka_unit_test(parts_of_runs_are_left_out),
		cmocka_unit_test(a_run_ends_at_its_end),
		cmocka_unit_test(the_start_fits_the_end_and_the_duration),
		cmocka_unit_test(another_answer_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
