/* /benchmarks and /overview: the benchmarks in the catalogue, and one line per job with its cost on
 * this server. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/core/app.h"
#include "exporter/cli/query.h"
#include "exporter/api/route.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "tests/support/sample_runs.h"
#include "exporter/answers/app_caches.h"

/* An sc-data dump. Two benchmarks have a score for m.large, and one of them has a score for
 * t.small. */
static const char catalogue_text[] =
	"CREATE TABLE server (vendor_id, server_id, api_reference, vcpus, memory_amount, status);\n"
	"INSERT INTO server VALUES ('aws', 't.small', 't.small', 2, 512, 'ACTIVE'), ('aws', "
	"'m.large', 'm.large', 2, 4096, 'ACTIVE');\n"
	"CREATE TABLE server_price (vendor_id, region_id, server_id, allocation, unit, price, "
	"currency, operating_system, status);\n"
	"INSERT INTO server_price VALUES ('aws', 'here', 't.small', 'ONDEMAND', 'HOUR', 0.36, "
	"'USD', 'Linux', 'ACTIVE'), ('aws', 'here', 'm.large', 'ONDEMAND', 'HOUR', 3.6, 'USD', "
	"'Linux', 'ACTIVE');\n"
	"CREATE TABLE benchmark (benchmark_id, name, category, unit, higher_is_better);\n"
	"INSERT INTO benchmark VALUES ('workload_profile:compute', 'Compute', 'x', 'ops', 1), "
	"('workload_profile:cicd', 'Builds', 'x', 'ops', 1), ('membench:latency', '', '', 'ns', "
	"0);\n"
	"CREATE TABLE benchmark_score (vendor_id, server_id, benchmark_id, score, status);\n"
	"INSERT INTO benchmark_score VALUES ('aws', 't.small', 'workload_profile:compute', 10.1, "
	"'ACTIVE'), ('aws', 'm.large', 'workload_profile:compute', 20, 'ACTIVE'), ('aws', "
	"'m.large', 'membench:latency', 90, 'ACTIVE');\n";

static struct options options;
static struct app app;
static char path[64];

static int fresh(void **state)
{
	snprintf(path, sizeof path, "/tmp/test_benchmarks_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, catalogue_text, sizeof catalogue_text - 1),
		(ssize_t)sizeof catalogue_text - 1);
	close(fd);
	options = (struct options){.catalogue_path = path};
	app = APP_INIT;
	app.options = &options;
	app.history_path = "some/history.db";
	fake_history = (struct fake_history){.runs = sample_runs()};
	fake_machine = (struct machine){0};
	return 0;
}

static int done(void **state)
{
	assert_int_equal(fake_history.open, 0);
	app_caches_done(&app);
	unlink(path);
	return 0;
}

/* Returns the JSON document. `name` and `value` may be NULL. */
static json_t *ask(const char *command, const char *name, const char *value, int status)
{
	const struct route *route = query_route(command);
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct err e = {0};

	arguments_begin(&a, route->parameters);
	if ((name && arguments_add(&a, name, value, &e)) || arguments_finish(&a, &e) ||
		route->answer(&app, &a, &r, &e))
		fail_msg("%s: %s", command, e.text);
	json_t *o = json_loadb(buf_text(&r.body), r.body.len, 0, NULL);

	assert_non_null(o);
	if (r.status != status)
		fail_msg("%s: %d %s", command, r.status, buf_text(&r.body));
	buf_done(&r.body);
	return o;
}

static const json_t *benchmark(const json_t *document, const char *id)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(document, "benchmarks"), i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "benchmark_id")), id) == 0)
			return one;
	}
	fail_msg("no benchmark %s", id);
	return NULL;
}

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void each_benchmark_says_how_many_servers_it_knows(void **state)
{
	json_t *o = ask("benchmarks", NULL, NULL, 200);

	const json_t *compute = benchmark(o, "workload_profile:compute");
	const json_t *latency = benchmark(o, "membench:latency");

	assert_double_equal(number_of(compute, "servers"), 2, 0);
	assert_double_equal(number_of(latency, "servers"), 1, 0);
	assert_string_equal(json_string_value(json_object_get(compute, "name")), "Compute");
	assert_true(json_is_null(json_object_get(latency, "name")));
	assert_true(json_is_true(json_object_get(compute, "higher_is_better")));
	assert_true(json_is_false(json_object_get(latency, "higher_is_better")));
	assert_null(json_object_get(o, "habits"));
	assert_true(json_is_object(json_object_get(o, "catalogue")));
	json_decref(o);
}

/* A score is stored as a float with seven digits. It must be printed as it was measured, and not as
 * 10.1000003815. */
static void servers_come_by_their_score_as_it_was_measured(void **state)
{
	json_t *o = ask("servers", "benchmark", "workload_profile:compute", 200);
	const json_t *servers = json_object_get(o, "servers");
	const json_t *best = json_array_get(servers, 0), *second = json_array_get(servers, 1);

	assert_int_equal(json_array_size(servers), 2);
	assert_string_equal(json_string_value(json_object_get(best, "api_reference")), "m.large");
	assert_true(number_of(best, "benchmark_score") == 20);
	assert_string_equal(json_string_value(json_object_get(second, "api_reference")), "t.small");
	assert_true(number_of(second, "benchmark_score") == 10.1);
	json_decref(o);
	o = ask("servers", "benchmark", "MEMBENCH:latency", 200);
	servers = json_object_get(o, "servers");
	assert_int_equal(json_array_size(servers), 1);
	assert_true(number_of(json_array_get(servers, 0), "benchmark_score") == 90);
	json_decref(o);
}

static void job_gets_those_that_are_like_it_with_its_habits(void **state)
{
	static struct run renamed[8];
	const struct runs *all = &fake_history.runs;

	assert_true(all->n <= ARRAY_LEN(renamed));
	for (size_t i = 0; i < all->n; i++) {
		renamed[i] = all->run[i];
		renamed[i].job_name = "nightly/ninja";
	}
	fake_history.runs.run = renamed;
	json_t *o = ask("benchmarks", "job_name", "nightly/ninja", 200);
	const json_t *related = json_object_get(o, "related");
	const json_t *first = json_array_get(related, 0);

	assert_true(number_of(json_object_get(o, "habits"), "cores") > 0);
	assert_int_equal(json_array_size(related), 1);
	assert_string_equal(json_string_value(json_object_get(first, "benchmark_id")),
		"workload_profile:cicd");
	assert_string_equal(json_string_value(json_object_get(first, "name")), "Builds");
	json_decref(o);
}

static void job_that_never_ran_is_not_found(void **state)
{
	json_decref(ask("benchmarks", "job_name", "nobody", 404));
}

#define NODE .host = "node-1"
static struct run_brief briefs[] = {
	{"r3", OUTCOME_FAILED, 300, 50, 2, NAN, 1e9, 10, NAN, NAN, NODE},
	/* Run r2 uses half of the 2 cores and a quarter of the 8 GiB. In the weighted sum 8 GiB
	 * count like one core: it uses 1.25 of 3. */
	{"r2", OUTCOME_SUCCEEDED, 200, 100, 2, 8.0 * (1 << 30), 2.0 * (1 << 30), 100, NAN, NAN,
		NODE},
	{"r1", OUTCOME_SUCCEEDED, 100, 80, NAN, NAN, 1e9, 10, NAN, NAN, NODE},
};

static void job_costs_what_its_newest_success_takes_on_this_server(void **state)
{
	const struct job_brief jobs[] = {{"etl", 3, 3, briefs}, {"broken", 1, 1, briefs}};

	fake_history.overview = jobs;
	fake_history.n_overview = ARRAY_LEN(jobs);
	fake_machine =
		(struct machine){"aws", "t.small", "here", "", MACHINE_ONDEMAND, "aws", "node-1"};
	json_t *o = ask("overview", NULL, NULL, 200);
	/* Both jobs began at the same time, so they are sorted by name. */
	const json_t *broken = json_array_get(json_object_get(o, "jobs"), 0);
	const json_t *etl = json_array_get(json_object_get(o, "jobs"), 1);

	/* Each job is read by a call of its own. Memory then does not grow with the number of jobs,
	 * and the reported progress is right. */
	assert_int_equal(fake_history.overview_most, 1);
	assert_double_equal(number_of(etl, "cost"), 0.36 * 100 / 3600, 1e-9);
	assert_string_equal(json_string_value(json_object_get(etl, "currency")), "USD");
	assert_double_equal(number_of(etl, "waste"), 1 - 1.25 / 3, 5e-5); /* four digits */
	assert_true(json_is_null(json_object_get(broken, "cost")));
	assert_true(json_is_null(json_object_get(broken, "waste")));
	assert_true(json_is_false(json_object_get(broken, "too_small")));
	json_decref(o);
}

static void without_a_known_server_there_is_no_cost_and_all_else_is_there(void **state)
{
	const struct job_brief jobs[] = {{"etl", 3, 3, briefs}};

	fake_history.overview = jobs;
	fake_history.n_overview = 1;
	json_t *o = ask("overview", NULL, NULL, 200);
	const json_t *etl = json_array_get(json_object_get(o, "jobs"), 0);

	assert_true(json_is_null(json_object_get(etl, "cost")));
	assert_double_equal(json_number_value(json_array_get(json_object_get(etl,
								     "duration_seconds"),
				    1)),
		100, 0);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_benchmark_says_how_many_servers_it_knows,
			fresh, done),
		cmocka_unit_test_setup_teardown(servers_come_by_their_score_as_it_was_measured,
			fresh, done),
		cmocka_unit_test_setup_teardown(job_gets_those_that_are_like_it_with_its_habits,
			fresh, done),
		cmocka_unit_test_setup_teardown(job_that_never_ran_is_not_found, fresh, done),
		cmocka_unit_test_setup_teardown(
			job_costs_what_its_newest_success_takes_on_this_server, fresh, done),
		cmocka_unit_test_setup_teardown(
			without_a_known_server_there_is_no_cost_and_all_else_is_there, fresh, done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
