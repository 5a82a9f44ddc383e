/* The JSON routes: the shape of each answer, also when the history is empty. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/core/app.h"
#include "exporter/routes/get_jobs.h"
#include "exporter/cli/query.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/api/route.h"
#include "exporter/answers/neighbourhood.h"
#include "exporter/answers/run_json.h"
#include "exporter/answers/stats_json.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_recommender.h"
#include "tests/support/golden.h"
#include "tests/support/sample_runs.h"
#include "exporter/answers/app_caches.h"

static const struct job_row jobs[] = {
	{"etl/load", 4, {[OUTCOME_RUNNING] = 1, [OUTCOME_SUCCEEDED] = 2, [OUTCOME_FAILED] = 1},
		1795250900, .last_outcome = OUTCOME_RUNNING},
	{"etl/store", 70, {[OUTCOME_SUCCEEDED] = 60, [OUTCOME_OOM_KILLED] = 10}, 1795250000,
		.last_outcome = OUTCOME_OOM_KILLED},
	{"broken", 3, {[OUTCOME_FAILED] = 2, [OUTCOME_OOM_KILLED] = 1}, 1795240000,
		.last_outcome = OUTCOME_FAILED},
};

static void golden_json(const char *name, json_t *take)
{
	struct buf b = BUF_MAX(1 << 20);

	json_write(&b, take);
	golden_check(name, buf_text(&b), b.len);
	buf_done(&b);
	json_decref(take);
}

static void runs_are_as_recorded(void **state)
{
	struct runs runs = sample_runs();

	golden_json("runs.json", run_json_list("etl/load", &runs, true));
}

/* Without details, a run has the same values, but no key whose value is unknown. */
static void runs_leave_out_what_is_unknown(void **state)
{
	struct runs runs = sample_runs();
	json_t *all = run_json_list("etl/load", &runs, true),
	       *known = run_json_list("etl/load", &runs, false), *value;
	size_t unknown = 0;

	for (size_t i = 0; i < runs.n; i++) {
		json_t *run = json_array_get(json_object_get(all, "runs"), i),
		       *same = json_array_get(json_object_get(known, "runs"), i);
		const char *key;

		json_object_foreach(run, key, value)
		{
			json_t *other = json_object_get(same, key);

			assert_true(json_is_null(value) ? !other : json_equal(value, other));
			unknown += json_is_null(value);
		}
	}
	assert_true(unknown > 0);
	json_decref(all);
	json_decref(known);
}

static void jobs_are_as_recorded(void **state)
{
	job_advice_publish(&(struct job_advice){"etl/load", true,
				   1u << WARNING_FEW_RUNS | 1u << WARNING_WAITS_FOR_CPU},
		1, 0);
	AUTO(job_advice_done) struct job_advice_table *warnings = job_advice_get();

	job_advice_clear();
	golden_json("jobs.json", jobs_json(jobs, ARRAY_LEN(jobs), warnings));
}

static const struct sizing no_sizing;

static void stats_are_as_recorded(void **state)
{
	struct runs runs = sample_runs();
	AUTO(arena_done) struct arena arena = {0};
	struct stats_window w = stats_json_window(&runs, 5, &arena);
	const struct sizing sizing = {
		.resources = {2, 313, 0, 0},
		.demand = {.cpu_cores = 1.5,
			.memory_bytes = 327155712,
			.gpus = 0,
			.vram_bytes = NAN,
			.disk_bytes = NAN,
			.duration_seconds = 60},
		.warnings = {1, {{WARNING_FEW_RUNS, "Only 2 successful runs were measured.", 2}}},
	};

	golden_json("stats.json", stats_json("etl/load", &w, &sizing, 1795251000, true));
	golden_json("stats_resource_tracker.json", stats_json_resource_tracker(&w));
}

static void stats_say_what_was_not_measured_and_what_is_uncertain(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct runs all = sample_runs();
	struct run run[2] = {all.run[2], all.run[3]};
	struct stats_window w = stats_json_window(&(struct runs){2, run}, 5, &arena);

	run[0].cpu_missed_seconds = 4;
	run[1].not_measured = "a number is impossible";
	json_t *o = stats_json("etl/load", &w, &no_sizing, 0, true),
	       *runs = json_object_get(o, "runs");

	assert_int_equal(json_integer_value(json_object_get(o, "runs_analyzed")), 2);
	assert_int_equal(json_integer_value(json_object_get(o, "runs_not_measured")), 1);
	assert_string_equal(json_string_value(json_object_get(o, "cpu_doubt")),
		"15.2 s of CPU time were measured. Up to 4 s more may be missing. 1 of 2 runs is too uncertain to size cores.");
	assert_null(json_object_get(json_array_get(runs, 0), "not_measured"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(runs, 1),
				    "not_measured")),
		"a number is impossible");
	assert_true(json_is_null(json_object_get(json_array_get(runs, 1), "memory_bytes")));
	json_decref(o);
	/* The answer about a single run has `cpu_doubt` only if the doubt is not negligible. */
	o = run_json(&run[0]);
	assert_non_null(json_object_get(o, "cpu_doubt"));
	json_decref(o);
	run[0].cpu_missed_seconds = 0.7;
	o = run_json(&run[0]);
	assert_null(json_object_get(o, "cpu_doubt"));
	json_decref(o);
}

static void the_window_holds_the_newest_successful_runs(void **state)
{
	static const enum outcome F = OUTCOME_FAILED, S = OUTCOME_SUCCEEDED, R = OUTCOME_RUNNING;
	/* Each row: the outcomes, newest run first; the largest number of successful runs in the
	 * window; how many it has; and how many failed runs are newer than the oldest of them. */
	const struct {
		enum outcome outcome[6];
		size_t most, n, excluded;
	} table[] = {
		{{S, S, S, S, S, S}, 5, 5, 0},
		{{F, S, F, S, F, S}, 2, 2, 2}, /* the third failure is older than the window */
		{{F, F, S, F, F, F}, 5, 1, 2}, /* three failures are older than the window */
		{{R, R, S, R, S, F}, 5, 2, 0}, /* a run that goes on is not a failure */
		{{F, F, F, F, F, F}, 5, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct run run[6] = {0};
		struct runs all = {6, run};
		AUTO(arena_done) struct arena arena = {0};

		for (size_t k = 0; k < 6; k++)
			run[k].outcome = table[i].outcome[k];
		struct stats_window w = stats_json_window(&all, table[i].most, &arena);

		assert_int_equal(w.n, table[i].n);
		assert_int_equal(w.excluded, table[i].excluded);
	}
}

/* The `servers` part is left empty, because tests/unit/test_servers.c tests it. */
static void recommendations_are_as_recorded(void **state)
{
	struct catalogue catalogue = {.source = "built-in", .note = "", .as_of = "", .n = 19};
	struct server_answer servers = {.use = {&catalogue, {NAN, NAN, false, ""}},
		.picks = {.objective = objectives,
			.fitting = 7,
			.excluded = {[EXCLUDED_TOO_LITTLE_MEMORY] = 12}}};
	struct sizing sizing = {.demand = {1.49, 167772160 * 1.2, 0, 0, NAN, 7.25},
		.resources = {1, 256, 0, 0},
		.runs = 2,
		.excluded = 1,
		.samples = 14,
		.first = 1795250600.125,
		.last = 1795250700,
		.confidence = CONFIDENCE_LOW,
		.memory_source = "vmhwm",
		.cpu_cores_limit = 2,
		.memory_bytes_limit = 268435456,
		.cpu_cores_for_speed = 2,
		.cpu_slowdown = 1.25,
		.n_at_cores = 5,
		.at_cores = {{1, 9.5}, {2, 7.25}, {4, 7.25}, {8, 7.25}, {16, NAN}},
		.duration_low = 6.5,
		.duration_high = 8.25,
		.input_bytes = 68157440,
		.memory_too_small = 0.0625,
		.memory_expected_waste = 0.5,
		.memory_low = 157286400,
		.memory_high = 178257920,
		.memory_at_risk = {[RISK_ECONOMY] = 180355072,
			[RISK_BALANCED] = 201326592,
			[RISK_SAFE] = NAN},
		.memory_killed_at = NAN,
		.hindsight = {1, 0, 0.25},
		.hindsight_baseline = {1, 1, 1.5},
		.warnings = {2,
			{{WARNING_MIXED_JOBS, "These runs fall in two groups.", 20},
				{WARNING_RECLAIMABLE_MEMORY, "At least 80 MiB are files.", 1}}},
		.summary = "Request 1 CPU and 256 MiB.",
		.n_explain = 2,
		.explain = {"cpu: The average of 2 runs is 1 core.",
			"memory: The largest peak is 160 MiB."}};
	const struct runs runs = sample_runs();
	struct recommendation r = {.job_name = "etl/load",
		.strategy = "baseline",
		.generated_at = 1795251000,
		.sizing = &sizing,
		.runs = &runs,
		.paste_format = "slurm",
		.paste = "#SBATCH --mem=256M\n",
		.servers = &servers};

	golden_json("recommend.json", recommend_json(&r));
	r.details = true;
	golden_json("recommend_details.json", recommend_json(&r));
}

static void resources_that_are_unknown_are_null(void **state)
{
	struct sizing sizing = {.demand = {NAN, NAN, NAN, NAN, NAN, NAN}};
	struct catalogue catalogue = {.source = "x", .note = "", .as_of = ""};
	struct server_answer servers = {
		.use = {&catalogue, {NAN, NAN, false, ""}}, .picks = {.objective = objectives}};
	const struct runs runs = {0};
	struct recommendation r = {.job_name = "x",
		.strategy = "baseline",
		.sizing = &sizing,
		.runs = &runs,
		.paste_format = "fargate",
		.servers = &servers};
	json_t *o = recommend_json(&r), *resources = json_object_get(o, "resources");

	assert_true(json_is_null(json_object_get(resources, "cpu")));
	assert_true(json_is_null(json_object_get(resources, "memory")));
	assert_true(json_is_null(json_object_get(json_object_get(o, "demand"), "cpu_cores")));
	assert_true(json_is_null(json_object_get(json_object_get(o, "used"), "memory_bytes")));
	assert_true(json_is_null(json_object_get(json_object_get(o, "requested"), "cpu_cores")));
	assert_true(json_is_null(json_object_get(json_object_get(o, "paste"), "text")));
	json_decref(o);
}

/* ---- routes on a history ---- */

static struct options options;
static struct app app;

static void fresh_app(void)
{
	app = APP_INIT;
	app.options = &options;
	app.history_path = "some/history.db";
}

static int fresh_history(void **state)
{
	options = (struct options){.catalogue_cache = "/nonexistent/catalogue.db"};
	fresh_app();
	fake_history = (struct fake_history){
		.runs = sample_runs(), .jobs = jobs, .n_jobs = ARRAY_LEN(jobs)};
	return 0;
}

static int closed_history(void **state)
{
	assert_int_equal(fake_history.open, 0);
	app_caches_done(&app);
	return 0;
}

static const struct route *route_of(const char *path)
{
	for (const struct route *const *r = all_routes; *r; r++)
		if (strcmp((*r)->path, path) == 0)
			return *r;
	fail_msg("no route %s", path);
	return NULL;
}

/* Calls the route with up to three parameters, each a name and a value. Returns the route's
 * code. */
static int ask(const char *path, const char *const pairs[][2], struct reply *r, struct err *e)
{
	const struct route *route = route_of(path);
	struct arguments a;

	*r = (struct reply){.body = BUF_MAX(REPLY_BODY_MAX)};
	arguments_begin(&a, route->parameters);
	for (size_t i = 0; i < 3 && pairs[i][0]; i++)
		assert_int_equal(arguments_add(&a, pairs[i][0], pairs[i][1], e), 0);
	assert_int_equal(arguments_finish(&a, e), 0);
	int opened = fake_history.opened, code = route->answer(&app, &a, r, e);

	/* A route that reads the history must be marked with `takes_long`, so that a scrape never
	 * waits for it. */
	assert_true(route->takes_long || fake_history.opened == opened);
	return code;
}

static void routes_answer_in_their_shape(void **state)
{
	static const struct {
		const char *path, *pairs[3][2], *words[4], *lacks;
	} table[] = {
		{"/jobs", {{NULL}},
			{"\"etl/load\"", "\"etl/store\"", "\"broken\"", "\"oom_killed\": 10"},
			NULL},
		{"/jobs", {{"limit", "1"}}, {"\"etl/load\""}, "etl/store"},
		{"/runs", {{"job_name", "etl/load"}}, {"0000000000004", "0000000000001"}, NULL},
		{"/runs", {{"job_name", "etl/load"}, {"limit", "1"}}, {"0000000000004"},
			"0000000000003"},
		{"/stats", {{"job_name", "etl/load"}},
			{"\"runs_analyzed\": 2", "\"runs_excluded\": 1", "It grew",
				"\"expected\": 101"},
			NULL},
		{"/stats", {{"job_name", "etl/load"}, {"runs", "1"}}, {"\"runs_analyzed\": 1"},
			"0000000000001"},
		{"/stats", {{"job_name", "etl/load"}, {"format", "resource-tracker"}},
			{"\"process_cpu_usage\": {\"mean\": 1, \"max\": 2}", "\"timestamp\""},
			"runs_analyzed"},
		{"/recommend", {{"job_name", "etl/load"}},
			{"\"resources\"", "\"servers\"", "\"strategy\": \"auto\""}, NULL},
		{"/recommend", {{"job_name", "etl/load"}, {"limit", "1"}}, {"\"vendor_id\""}, NULL},
		{"/overview", {{NULL}}, {"\"jobs\": []"}, NULL},
		{"/series", {{"job_name", "etl/load"}},
			{"\"run_id\": \"0000000000004\"", "\"job_name\": \"etl/load\"",
				"\"series\": {\"n\": 0, \"at\": []", "\"phases\": []"},
			NULL},
		{"/series", {{"run", "0000000000001"}}, {"\"run_id\": \"0000000000001\""},
			"0000000000004"},
		{"/series.csv", {{"run", "0000000000001"}}, {"at,duration\n"}, NULL},
		{"/series.csv", {{"run", "0000000000001"}, {"format", "resource_tracker"}},
			{"\"timestamp\",\"system_processes\",", ",\"process_gpu_utilized\"\n"},
			NULL},
		{"/report", {{"run", "0000000000001"}},
			{"<title>Run of etl/load</title>", "script-src 'sha256-",
				"\"recommend\": {"},
			NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct reply r;
		struct err e = {0};

		assert_int_equal(ask(table[i].path, table[i].pairs, &r, &e), 0);
		assert_int_equal(r.status, 200);
		for (size_t k = 0; k < 4 && table[i].words[k]; k++)
			if (!strstr(buf_text(&r.body), table[i].words[k]))
				fail_msg("%s lacks %s: %s", table[i].path, table[i].words[k],
					buf_text(&r.body));
		if (table[i].lacks)
			assert_null(strstr(buf_text(&r.body), table[i].lacks));
		buf_done(&r.body);
	}
}

static void other_formats_are_bare_text(void **state)
{
	static const char *const pairs[3][2] = {{"job_name", "etl/load"}, {"format", "metaflow"}};
	struct reply r;

	/* A broken catalogue does not matter, because these formats need none. */
	options.catalogue_path = "/nonexistent.csv";
	assert_int_equal(ask("/recommend", pairs, &r, NULL), 0);
	assert_int_equal(r.status, 200);
	assert_memory_equal(r.content_type, "text/plain", 10);
	assert_memory_equal(buf_text(&r.body), "@resources(cpu=1, memory=", 25);
	buf_done(&r.body);
}

static void what_is_not_known_is_said(void **state)
{
	static const struct {
		const char *path, *job_name, *code, *words[4];
		const char *space;
	} table[] = {
		{"/runs", "etl/laod", "unknown_job",
			{"etl/laod", "did_you_mean", "[\"etl/load\", \"etl/store\""}},
		{"/runs", "etl/load", "unknown_job", {"nor any other of this namespace yet"}, "eu"},
		{"/stats", "' OR 1=1--", "unknown_job", {"' OR 1=1--", "nor one like it", "/jobs"}},
		{"/recommend", "%", "unknown_job", {"\\\"%\\\""}},
		{"/stats", "broken", "no_successful_run", {"broken", "2 failed", "1 oom_killed"}},
		{"/recommend", "broken", "no_successful_run",
			{"broken", "2 failed", "1 oom_killed"}},
	};
	static struct run broken[] = {
		{.job_name = "broken", .outcome = OUTCOME_FAILED},
		{.job_name = "broken", .outcome = OUTCOME_OOM_KILLED},
		{.job_name = "broken", .outcome = OUTCOME_FAILED},
	};

	fake_history.runs = (struct runs){ARRAY_LEN(broken), broken};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *const pairs[3][2] = {{"job_name", table[i].job_name},
			{table[i].space ? "namespace" : NULL, table[i].space}};
		struct reply r;
		struct err e = {0};

		assert_int_equal(ask(table[i].path, pairs, &r, &e), 0);
		assert_int_equal(r.status, 404);
		assert_non_null(strstr(buf_text(&r.body), table[i].code));
		for (size_t k = 0; k < 4 && table[i].words[k]; k++)
			if (!strstr(buf_text(&r.body), table[i].words[k]))
				fail_msg("%s lacks %s: %s", table[i].path, table[i].words[k],
					buf_text(&r.body));
		buf_done(&r.body);
	}
}

static void a_history_that_is_not_there_is_named(void **state)
{
	static const char *const paths[] = {
		"/jobs", "/runs", "/stats", "/recommend", "/series", "/series.csv", "/report"};
	static const char *const none[3][2] = {{NULL}}, *const job[3][2] = {
								{"job_name", "etl/load"}};

	fake_history.open_code = -ENOENT;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct reply r;

		assert_int_equal(ask(paths[i], i ? job : none, &r, NULL), 0);
		assert_int_equal(r.status, 404);
		assert_non_null(strstr(buf_text(&r.body), "no_history"));
		assert_non_null(strstr(buf_text(&r.body), "some/history.db"));
		buf_done(&r.body);
	}
}

static void failures_of_the_history_are_passed_on(void **state)
{
	static const char *const paths[] = {
		"/jobs", "/runs", "/stats", "/recommend", "/series", "/series.csv", "/report"};
	static const char *const none[3][2] = {{NULL}}, *const job[3][2] = {
								{"job_name", "etl/load"}};

	for (size_t i = 0; i < 2 * ARRAY_LEN(paths); i++) {
		struct reply r;
		struct err e = {0};

		fake_history.open_code = i % 2 ? -EIO : 0;
		fake_history.read_code = i % 2 ? 0 : -EIO;
		assert_int_equal(ask(paths[i / 2], i / 2 ? job : none, &r, &e), -EIO);
		assert_non_null(strstr(e.text, "Input/output error"));
		buf_done(&r.body);
	}
}

static void vendors_that_are_not_in_the_catalogue_are_refused(void **state)
{
	static const char *const pairs[3][2] = {
		{"job_name", "etl/load"}, {"vendor", "aws"}, {"vendor", "nobody"}};
	struct reply r;

	assert_int_equal(ask("/recommend", pairs, &r, NULL), 0);
	assert_int_equal(r.status, 400);
	assert_non_null(strstr(buf_text(&r.body), "vendor: \\\"nobody\\\""));
	assert_non_null(strstr(buf_text(&r.body), "\"aws\", "));
	buf_done(&r.body);
}

/* /stats forecasts active runs, and /recommend sizes the next run. Both must learn from the same
 * runs of other jobs. */
static void stats_and_recommendations_learn_from_the_same_neighbours(void **state)
{
	static const char *const pairs[3][2] = {{"job_name", "etl/load"}}, *const paths[] = {
										   "/stats",
										   "/recommend"};
	struct run with_another[5];

	memcpy(with_another, fake_history.runs.run, 4 * sizeof *with_another);
	with_another[4] = with_another[3];
	with_another[4].job_name = "etl/store";
	fake_history.runs = (struct runs){5, with_another};
	app.neighbourhoods = neighbourhoods_new();
	fake_recommender = (struct fake_recommender){0};
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct reply r;
		struct err e = {0};

		assert_int_equal(ask(paths[i], pairs, &r, &e), 0);
		buf_done(&r.body);
	}
	assert_non_null(fake_recommender.sized_with);
	assert_ptr_equal(fake_recommender.sized_with, fake_recommender.forecast_with);
}

static void a_catalogue_that_cannot_be_read_is_named(void **state)
{
	static const char *const pairs[3][2] = {{"job_name", "etl/load"}};
	static const struct {
		const char *path, *words;
	} table[] = {
		{"/nonexistent/servers.csv", "No such file"},
		{"/dev/null", "not a regular file"},
		{"/", "Is a directory"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct reply r;
		struct err e = {0};

		options.catalogue_path = table[i].path;
		app_caches_done(&app);
		fresh_app();
		assert_int_equal(ask("/recommend", pairs, &r, &e), 0);
		assert_int_equal(r.status, 503);
		assert_non_null(strstr(buf_text(&r.body), "\"code\": \"catalogue\""));
		assert_non_null(strstr(buf_text(&r.body), table[i].path));
		assert_non_null(strstr(buf_text(&r.body), table[i].words));
		buf_done(&r.body);
	}
}

/* Each table of parameters has names that work as keys and flags, defaults that are accepted, and a
 * help text. */
static void parameters_are_sound(void **state)
{
	for (const struct route *const *r = all_routes; *r; r++) {
		struct arguments a;
		size_t n = 0;

		assert_non_null((*r)->help);
		assert_non_null((*r)->command);
		assert_int_equal((*r)->path[0], '/');
		arguments_begin(&a, (*r)->parameters);
		for (const struct parameter *p = (*r)->parameters; p->name; p++, n++) {
			struct err e = {0};

			assert_int_equal(strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
				strlen(p->name));
			assert_non_null(p->help);
			assert_int_not_equal(p->help[strlen(p->help) - 1], '.');
			assert_ptr_equal(route_parameter_find((*r)->parameters, p->name), p);
			assert_true(p->kind != PARAMETER_CHOICE || p->choice(0));
			assert_true(p->least <= p->most);
			if (p->fallback)
				assert_int_equal(arguments_add(&a, p->name, p->fallback, &e), 0);
		}
		assert_true(n < PARAMETERS_MAX);
	}
}

/* A refusal has all of its accepted values: the longest list of words must fit in an error. */
static void no_refusal_of_a_value_is_cut(void **state)
{
	static const char wrong[] =
		"\x01 is no value of any parameter, and so long that an error shows "
		"only a part of it, which is the most that it ever shows.";
	struct arguments a;

	for (const struct route *const *r = all_routes; *r; r++)
		for (const struct parameter *p = (*r)->parameters; p->name; p++) {
			AUTO(buf_done) struct buf accepts = BUF_MAX(4096);
			struct err e = {0};

			route_parameter_accepts(p, &accepts);
			arguments_begin(&a, (*r)->parameters);
			a.flags = true;
			assert_int_equal(arguments_add(&a, p->name, wrong, &e), -EINVAL);
			size_t n = strlen(e.text);

			if (n < accepts.len ||
				strcmp(e.text + n - accepts.len, buf_text(&accepts)) != 0)
				fail_msg("%s %s: %s", (*r)->path, p->name, e.text);
		}
}

#define ROUTE_TEST(f) cmocka_unit_test_setup_teardown(f, fresh_history, closed_history)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_as_recorded),
		cmocka_unit_test(runs_leave_out_what_is_unknown),
		cmocka_unit_test(jobs_are_as_recorded),
		cmocka_unit_test(stats_are_as_recorded),
		cmocka_unit_test(stats_say_what_was_not_measured_and_what_is_uncertain),
		cmocka_unit_test(the_window_holds_the_newest_successful_runs),
		cmocka_unit_test(recommendations_are_as_recorded),
		cmocka_unit_test(resources_that_are_unknown_are_null),
		ROUTE_TEST(routes_answer_in_their_shape),
		ROUTE_TEST(other_formats_are_bare_text),
		ROUTE_TEST(what_is_not_known_is_said),
		ROUTE_TEST(a_history_that_is_not_there_is_named),
		ROUTE_TEST(failures_of_the_history_are_passed_on),
		ROUTE_TEST(vendors_that_are_not_in_the_catalogue_are_refused),
		ROUTE_TEST(stats_and_recommendations_learn_from_the_same_neighbours),
		ROUTE_TEST(a_catalogue_that_cannot_be_read_is_named),
		cmocka_unit_test(parameters_are_sound),
		cmocka_unit_test(no_refusal_of_a_value_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
