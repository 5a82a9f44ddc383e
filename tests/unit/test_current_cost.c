/* The cost of a job on the server where it runs today, and on the servers where it ran before. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "tests/support/servers_world.h"

/* Shares by which rounding in JSON may change a number: half a unit of the sixth digit of money, and of
 * the fourth digit of each of two durations. */
#define MONEY_OFF   5e-6
#define SECONDS_OFF 1e-3

static json_t *ask(const char *words, int status)
{
	return servers_ask("servers", words, status);
}

static void a_job_is_priced_where_it_runs(void **state)
{
	fake_machine = (struct machine){
		"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option", "node-1"};
	json_t *o = ask("job_name=etl/load;objective=cost;cpu_allocation=any;cpu_for=cost", 200);
	const json_t *current_cost = json_object_get(o, "today"),
		     *server = json_object_get(current_cost, "server");
	const json_t *runs = json_object_get(current_cost, "runs"),
		     *over = json_object_get(current_cost, "overallocated"),
		     *first = json_array_get(json_object_get(o, "servers"), 0);
	double now = number_of(current_cost, "cost_per_run");

	/* The price is that of the region where the job runs. It is neither the lowest price nor
	 * the first one. */
	assert_true(number_of(server, "price") == 0.08);
	assert_string_equal(text_of(server, "priced_in"), "2");
	assert_string_equal(text_of(server, "host"), "node-1");
	assert_string_equal(text_of(current_cost, "currency"), "USD");
	/* At least a minute is billed. The run that is still running has no price. */
	assert_int_equal(json_array_size(runs), 3);
	assert_true(fabs(number_of(json_array_get(runs, 0), "cost") - 0.08 / 60) <
		    MONEY_OFF * 0.08 / 60);
	assert_true(fabs(now - 0.08 / 60) < MONEY_OFF * 0.08 / 60);
	/* The run requested two cores. */
	assert_string_equal(text_of(over, "given"), "the request");
	double needed = number_of(json_object_get(o, "demand"), "cpu_cores");

	assert_true(needed < 2);
	assert_true(fabs(number_of(over, "cpu_cores") - (2 - needed)) < 1e-12);
	assert_true(number_of(over, "cost_per_run") > 0 && number_of(over, "cost_per_run") < now);
	/* t.small has the same single-core speed for an eighth of the price. */
	assert_string_equal(text_of(first, "server_id"), "t.small");
	assert_string_equal(text_of(first, "forecast_basis"), "measured_speed");
	assert_true(number_of(first, "saving") > 0 && number_of(first, "saving_percent") > 80);
	json_decref(o);
}

static const json_t *server_named(const json_t *document, const char *server_id)
{
	const json_t *servers = json_object_get(document, "servers");

	for (size_t i = 0; i < json_array_size(servers); i++)
		if (strcmp(text_of(json_array_get(servers, i), "server_id"), server_id) == 0)
			return json_array_get(servers, i);
	fail_msg("no server %s", server_id);
	return NULL;
}

/* `duration` says that the job takes two hours, with the same CPU use. All forecasts become longer
 * by the same factor. */
static void a_duration_that_is_said_is_what_is_forecast(void **state)
{
	static const char *const servers[] = {"m.large", "m.2xlarge", "g.gpu", "t.small"},
				 *const keys[] = {"forecast_duration_seconds",
					 "forecast_duration_low", "forecast_duration_high"};

	struct run runs[4]; /* a forecast has a range from four runs on */

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		runs[i] = servers_world.run[2];
	fake_history.runs = (struct runs){ARRAY_LEN(runs), runs};
	fake_machine = (struct machine){
		"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option", "node-1"};
	json_t *usual = ask("job_name=etl/load;cpu_allocation=any;limit=9", 200);
	json_t *said = ask("job_name=etl/load;cpu_allocation=any;limit=9;duration=7200", 200);
	double longer = 7200 / number_of(server_named(usual, "m.large"), keys[0]);

	assert_true(number_of(json_object_get(said, "demand"), "duration_seconds") == 7200);
	assert_true(longer > 1);
	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		const json_t *before = server_named(usual, servers[i]),
			     *after = server_named(said, servers[i]);

		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			assert_true(fabs(number_of(after, keys[k]) /
						    (longer * number_of(before, keys[k])) -
					    1) < SECONDS_OFF);
		/* Whole seconds are billed, and the mean over the spread counts. */
		double billed = (0.3 * ceil(number_of(after, keys[1]) - 1e-6) +
					0.4 * ceil(number_of(after, keys[0]) - 1e-6) +
					0.3 * ceil(number_of(after, keys[2]) - 1e-6)) /
				3600;

		assert_true(fabs(number_of(after, "forecast_cost") /
					    (number_of(after, "price") * billed) -
				    1) < MONEY_OFF);
	}
	/* The cost on the current server uses the same duration and spread. */
	assert_true(number_of(json_object_get(said, "today"), "cost_per_run") ==
		    number_of(server_named(said, "m.large"), "forecast_cost"));
	json_decref(usual);
	json_decref(said);
}

static void a_spot_machine_is_priced_as_one(void **state)
{
	fake_machine =
		(struct machine){"aws", "m.large", "here", "", MACHINE_SPOT, "aws", "node-1"};
	json_t *o = ask("job_name=etl/load", 200);
	const json_t *server = json_object_get(json_object_get(o, "today"), "server");

	assert_true(number_of(server, "price") == 0.03);
	assert_string_equal(text_of(server, "priced_as"), "spot");
	json_decref(o);
}

/* A history may contain runs of many machines. Each run is priced at the server where it ran. */
static void a_run_is_priced_where_it_ran(void **state)
{
	fake_machine =
		(struct machine){"gcp", "g.gpu", "gc", "", MACHINE_ONDEMAND, "gcp", "node-2"};
	servers_world.run[0].vendor_id = servers_world.run[1].vendor_id =
		servers_world.run[2].vendor_id = "aws";
	servers_world.run[0].instance_type = servers_world.run[1].instance_type =
		servers_world.run[2].instance_type = "m.large";
	servers_world.run[0].region = servers_world.run[1].region = "there";
	servers_world.run[2].region = "here";
	servers_world.run[2].allocation = "spot";
	json_t *o = ask("job_name=etl/load", 200), *current_cost = json_object_get(o, "today");
	const json_t *past = json_object_get(current_cost, "runs"),
		     *server = json_object_get(current_cost, "server");

	assert_string_equal(text_of(server, "api_reference"), "m.large");
	assert_string_equal(text_of(server, "known_from"), "history");
	assert_true(number_of(server, "price") == 0.08);
	/* The first run used an on-demand server, the second a spot server, and the third an
	 * unknown server. */
	const double hour[] = {0.08, 0.03};

	assert_int_equal(json_array_size(past), 3);
	for (size_t i = 0; i < 2; i++) {
		const json_t *run = json_array_get(past, i);

		assert_true(fabs(number_of(run, "cost") - hour[i] / 60) <=
			    MONEY_OFF * hour[i] / 60);
		assert_true(number_of(run, "price") == hour[i]);
	}
	assert_true(json_is_null(json_object_get(json_array_get(past, 2), "cost")));
	assert_true(json_is_null(json_object_get(json_array_get(past, 2), "price")));
	json_decref(o);
}

/* Returns the cost of the newest successful run. Fails the test unless /overview and /recommend
 * give the same cost. NaN = both give null. */
static double cost_in_both(void)
{
	struct run_brief brief = {0};

	for (size_t i = 3; i-- > 0;) {
		const struct run *r = &servers_world.run[i];

		if (r->outcome == OUTCOME_SUCCEEDED)
			brief = (struct run_brief){.run_id = r->run_id,
				.outcome = r->outcome,
				.duration_seconds = r->duration_seconds,
				.network_sent_bytes = run_total(r, "network_sent_bytes"),
				.disk_grown_bytes = run_peak(r, "disk_grown_bytes"),
				.host = r->host,
				.server = {r->vendor_id, r->instance_type, r->region, r->zone,
					r->allocation}};
	}
	const struct job_brief job = {"etl/load", 1, 1, &brief};

	fake_history.overview = &job;
	fake_history.n_overview = 1;
	json_t *overview = servers_ask("overview", "", 200),
	       *advice = servers_ask("recommend", "job_name=etl/load", 200), *run;
	double listed = number_of(json_array_get(json_object_get(overview, "jobs"), 0), "cost");
	double advised = NAN;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(advice, "today"), "runs"), i, run)
	{
		if (strcmp(text_of(run, "run_id"), brief.run_id) == 0)
			advised = number_of(run, "cost");
	}
	assert_true(isnan(listed) == isnan(advised));
	assert_true(isnan(listed) || listed == advised);
	json_decref(overview);
	json_decref(advice);
	return listed;
}

static void a_run_that_does_not_say_where_it_was_is_priced_here_only_if_it_was_here(void **state)
{
	static const struct machine here = {
		"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option", "node-1"};
	static const struct {
		const char *host, *vendor_id, *instance_type;
		double price; /* NaN = unknown */
	} table[] = {
		{"node-1", NULL, NULL, 0.08},
		{"laptop", NULL, NULL, NAN},
		{NULL, NULL, NULL, NAN},
		{"laptop", "aws", NULL, NAN},
		{"laptop", "gcp", "g.gpu", 0.70},
		/* The server node-1 was of type g.gpu when the run ran there. */
		{"node-1", "gcp", "g.gpu", 0.70},
		{NULL, "gcp", "g.gpu", 0.70},
		{"laptop", "gcp", "unheard-of", NAN},
	};

	fake_machine = here;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (size_t k = 0; k < 4; k++) {
			servers_world.run[k].host = table[i].host;
			servers_world.run[k].vendor_id = table[i].vendor_id;
			servers_world.run[k].instance_type = table[i].instance_type;
		}
		double cost = cost_in_both(), seconds = servers_world.run[2].duration_seconds;

		/* aws and gcp bill at least a minute. */
		assert_true(seconds < 60);
		if (isnan(cost) != isnan(table[i].price) ||
			fabs(cost - table[i].price * 60 / 3600) >
				MONEY_OFF * table[i].price * 60 / 3600)
			fail_msg("case %zu: %g", i, cost);
	}
}

static void a_run_pays_for_its_own_traffic_and_disk(void **state)
{
	static struct column_stats stats[] = {
		{"disk_grown_bytes", {1, 73e10, 73e10, 73e10, 73e10, 73e10, 73e10, 73e10}},
		{"network_sent_bytes", {1, 5e9, 5e9, 5e9, 5e9, 5e9, 5e9, 5e9}},
	};

	fake_machine = (struct machine){
		"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option", "node-1"};
	double bare = cost_in_both();

	servers_world.run[2].stats = stats;
	servers_world.run[2].n_stats = ARRAY_LEN(stats);
	/* 5 GB of traffic at 0.09 each, and 730 GB of disk at 0.1 a month each, for one minute of
	 * the month's 730 hours. */
	assert_true(fabs(cost_in_both() - bare - (5 * 0.09 + 73.0 / 730 / 60)) < MONEY_OFF);
}

static void a_job_of_another_machine_is_not_told_to_name_this_one(void **state)
{
	static const struct {
		const char *host, *note;
	} table[] = {
		{"node-1", "Current server unknown."},
		{"laptop", "ran on another machine"},
		{NULL, "The machine on which the job ran is unknown."},
	};

	fake_machine = (struct machine){.host = "node-1"};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (size_t k = 0; k < 4; k++)
			servers_world.run[k].host = table[i].host;
		json_t *o = ask("job_name=etl/load", 200);

		assert_non_null(strstr(text_of(json_object_get(o, "today"), "note"),
			table[i].note));
		json_decref(o);
	}
}

static void what_today_costs_says_why_it_is_not_known(void **state)
{
	static const struct {
		struct machine machine;
		const char *note;
		bool priced;
	} table[] = {
		{{"", "", "", "", 0, "", "node-1"}, "unknown", false},
		{{"aws", "m.huge", "here", "", 0, "aws", "node-1"}, "not in the catalogue", false},
		{{"hcloud", "cx", "fsn", "", 0, "hcloud", "node-1"}, "without an exchange rate",
			false},
		{{"aws", "a.large", "there", "", 0, "aws", "node-1"},
			"The catalogue has no price in the server's region. It is priced in 1, "
			"the only region whose price is known.",
			true},
		{{"aws", "m.large", "", "", 0, "option", "node-1"},
			"The server's region is unknown. It is priced in 2, the cheapest of "
			"all regions. Set --server.region.",
			true},
		{{"aws", "m.large", "there", "", MACHINE_SPOT, "aws", "node-1"},
			"no spot price in its region", false},
		{{"aws", "a.large", "here", "", MACHINE_SPOT, "aws", "node-1"},
			"no spot price in its region", false},
		{{"aws", "a.large", "there", "", MACHINE_SPOT, "aws", "node-1"},
			"no spot price in the catalogue", false},
		{{"aws", "a.large", "", "", MACHINE_SPOT, "aws", "node-1"},
			"no spot price in the catalogue", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		fake_machine = table[i].machine;
		json_t *o = ask("job_name=etl/load", 200),
		       *current_cost = json_object_get(o, "today");

		if (!strstr(text_of(current_cost, "note"), table[i].note))
			fail_msg("case %zu: %s", i, text_of(current_cost, "note"));
		assert_int_equal(!isnan(number_of(current_cost, "cost_per_run")), table[i].priced);
		assert_null(table[i].priced ?
				    NULL :
				    json_object_get(json_array_get(json_object_get(o, "servers"),
							    0),
					    "saving"));
		json_decref(o);
	}
}

static void what_was_given_is_the_request_or_the_server_or_unknown(void **state)
{
	static const struct {
		double cores, memory_bytes;
		const char *instance_type, *given; /* NULL = null */
	} table[] = {
		{2, NAN, "", "the request"},
		{NAN, 1e9, "", "the request"},
		{2, 1e9, "m.large", "the request"},
		{NAN, NAN, "m.large", "the whole server"},
		{NAN, NAN, "m.huge", NULL},
		{NAN, NAN, "", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		fake_machine = (struct machine){.vendor_id = "aws", .host = "node-1"};
		snprintf(fake_machine.instance_type, sizeof fake_machine.instance_type, "%s",
			table[i].instance_type);
		servers_world.run[2].requested_cpu_cores = table[i].cores;
		servers_world.run[2].requested_memory_bytes = table[i].memory_bytes;
		json_t *o = ask("job_name=etl/load", 200);
		const json_t *over = json_object_get(json_object_get(o, "today"), "overallocated");

		assert_int_equal(json_is_null(json_object_get(over, "given")), !table[i].given);
		assert_string_equal(text_of(over, "given"), table[i].given ?: "");
		json_decref(o);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, servers_world_fresh, servers_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_is_priced_where_it_runs),
		TEST(a_duration_that_is_said_is_what_is_forecast),
		TEST(a_spot_machine_is_priced_as_one),
		TEST(a_run_is_priced_where_it_ran),
		TEST(a_run_that_does_not_say_where_it_was_is_priced_here_only_if_it_was_here),
		TEST(a_run_pays_for_its_own_traffic_and_disk),
		TEST(a_job_of_another_machine_is_not_told_to_name_this_one),
		TEST(what_today_costs_says_why_it_is_not_known),
		TEST(what_was_given_is_the_request_or_the_server_or_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
