/* The whole route /servers: the text of a request, and the servers in the answer. Today's cost is
 * tested in test_current_cost.c, and the choice of servers in test_pick_property.c. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/cli/query.h"
#include "exporter/api/route.h"
#include "tests/support/fake_machine.h"
#include "tests/support/servers_world.h"
#include "exporter/answers/app_caches.h"

static json_t *ask(const char *words, int status)
{
	return servers_ask("servers", words, status);
}

/* Writes the server ids in their order: "t.small m.large". */
static void ids_of(const json_t *document, char *out, size_t size)
{
	json_t *one;
	size_t i, n = 0;

	*out = '\0';
	json_array_foreach(json_object_get(document, "servers"), i, one) n +=
		(size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "",
			text_of(one, "server_id"));
}

static void what_is_asked_decides_which_servers_answer(void **state)
{
	static const struct {
		const char *words, *servers;
	} table[] = {
		{"", "t.small a.large m.large m.2xlarge g.gpu"},
		/* The demand is in MiB, and servers are sold in GB. Both are converted, and nothing
		 * is rounded away. */
		{"memory=412;reserve=none", "t.small a.large m.large m.2xlarge g.gpu"},
		{"memory=513;reserve=none", "a.large m.large m.2xlarge g.gpu"},
		{"memory_min=0.5", "t.small a.large m.large m.2xlarge g.gpu"},
		{"memory_min=0.50001", "a.large m.large m.2xlarge g.gpu"},
		{"memory_min=2.5", "a.large m.large m.2xlarge g.gpu"},
		{"memory_max=4", "t.small a.large m.large"},
		{"vram=8192", "g.gpu"},
		{"vram=8193", ""},
		{"gpu_memory_total=8", "g.gpu"},
		{"gpu_memory_total=8.1", ""},
		{"gpu_memory_min=8;gpu_min=1;gpu_model=l4", "g.gpu"},
		/* The operating system needs part of the memory, so 4,096 MiB are not available to
		 * the job. */
		{"memory=4096", "m.2xlarge g.gpu"},
		{"memory=3901;reserve=none;architecture=x86_64", "m.2xlarge g.gpu"},
		{"memory=3900;reserve=none;architecture=x86_64", "m.large m.2xlarge g.gpu"},
		{"architecture=arm64", "a.large"},
		{"cpu_allocation=burstable", "t.small"},
		{"cpu=3", "m.2xlarge g.gpu"},
		{"vcpus_min=8", "m.2xlarge"},
		{"vcpus_max=3;vendor=aws", "t.small a.large m.large"},
		{"vendor=GCP", "g.gpu"},
		{"vendor=aws;vendor=gcp;limit=2;page=2", "m.large m.2xlarge"},
		{"region=there", "m.large"},
		{"regions=aws~2", "m.large"},
		{"vendor_regions=aws~there", "m.large"},
		{"country=de", "m.large"},
		{"continent=europe", "m.large"},
		{"compliance_framework=soc2t2", "g.gpu"},
		{"storage_size=50;storage_type=SSD", "m.2xlarge"},
		{"allocation=spot", "m.large"},
		{"include=m", "m.large m.2xlarge"},
		{"exclude=aws~m;vendor=aws", "t.small a.large"},
		{"currency=ars", "cx"},
		/* No price is in euros, but a rate of the euro is compiled in. */
		{"currency=eur;include=m.large", "m.large"},
		{"objective=efficiency;vendor=aws", "t.small a.large m.2xlarge m.large"},
	};
	char ids[256];

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = ask(table[i].words, 200);

		ids_of(o, ids, sizeof ids);
		if (strcmp(ids, table[i].servers) != 0)
			fail_msg("%s: %s, not %s", table[i].words, ids, table[i].servers);
		json_decref(o);
	}
}

static void what_is_not_known_is_named_with_what_is(void **state)
{
	static const struct {
		const char *words, *parameter, *accepted;
	} table[] = {
		{"vendor=azur", "vendor", "gcp"},
		{"region=nowhere", "\"region: ", "1000"},
		{"country=FR", "\"country: ", "DE"},
		{"countries=DE;country=XX", "\"country: \\\"XX", "accepted"},
		{"continent=Asia", "\"continent: ", "Europe"},
		{"compliance_framework=iso", "compliance_framework", "hipaa"},
		{"gpu_model=A100", "gpu_model", "L4"},
		{"storage_type=tape", "storage_type", "ssd"},
		{"currency=ZZZ", "currency", "ARS"},
		{"currency=ZZZ", "currency", "\"EUR\""}, /* its rate is compiled in */
		{"currency=ZZZ", "currency", "\"ZAR\""},
		{"include=m.huge", "include", "m.large"},
		{"exclude=x1", "exclude", "t.small"},
		{"benchmark=speed", "benchmark", "stress_ng:best1"},
		{"objective=benchmark", "objective", "/benchmarks"},
		{"objective=deadline", "objective", "seconds"},
		{"cpu=1;memory=1000;max_cost=1", "max_cost", "max_cost needs duration"},
		{"cpu=1;deadline=60", "deadline", "deadline needs duration"},
		{"vcpus_min=8;vcpus_max=4", "vcpus_min", "8 is more than vcpus_max, 4"},
		{"memory_max=1;memory_min=1.5", "memory_min", "1.5 is more than memory_max, 1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = ask(table[i].words, 400);
		char *text = json_dumps(o, 0);

		assert_string_equal(text_of(json_object_get(o, "error"), "code"), "bad_parameter");
		if (!strstr(text, table[i].parameter) || !strstr(text, table[i].accepted))
			fail_msg("%s: %s", table[i].words, text);
		free(text);
		json_decref(o);
	}
}

static void an_answer_explains_itself(void **state)
{
	json_t *o =
		ask("cpu=1;memory=100;duration=3600;objective=cost;vendor=aws;limit=2;ipv4=1", 200);
	const json_t *first = json_array_get(json_object_get(o, "servers"), 0);
	const json_t *filtered = json_object_get(o, "filtered"),
		     *c = json_object_get(o, "catalogue");

	assert_string_equal(text_of(o, "objective"), "cost");
	assert_string_equal(text_of(first, "region_id"), "1");
	assert_string_equal(text_of(first, "allocation"), "ondemand");
	assert_true(number_of(first, "price") == 0.01 && number_of(first, "forecast_cost") == 0.01);
	assert_string_equal(text_of(first, "forecast_basis"), "assumed_same_speed");
	assert_non_null(strstr(text_of(first, "why"), "4 fit"));
	/* The job needs an IPv4 address, whose price is unknown. */
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_object_get(first,
										     "cost"),
								     "lacks"),
				    0)),
		"ipv4");
	assert_non_null(strstr(text_of(json_array_get(json_object_get(o, "servers"), 1), "why"),
		"more per run"));
	assert_true(number_of(filtered, "vendor") == 2);
	assert_string_equal(text_of(c, "source"), servers_world.path);
	assert_string_equal(text_of(c, "as_of"), "2026-10-01");
	assert_true(number_of(c, "age_seconds") > 0);
	json_decref(o);
}

static void notes_say_what_is_missing_and_how_to_bring_it_in(void **state)
{
	static const struct {
		const char *words, *says[3];
	} table[] = {
		{"", {"servers priced in ARS were skipped: no exchange rate to USD.",
			     "--catalogue.rate=ARS=DOLLARS", "with currency set to ARS."}},
		{"currency=ARS",
			{"were skipped: no exchange rate to ARS.", "--catalogue.rate=ARS=DOLLARS"}},
		{"cpu=100", {"None of the ", "have too few vCPUs",
				    "The job needs 100 vCPUs, and the largest server has "}},
		{"memory=9999999", {"have too little memory", "The job needs 9766 GiB of memory"}},
		{"memory=99999999",
			{"The job needs 97656 GiB of memory, and the largest server has 32 GiB"}},
		{"vcpus_min=2;vcpus_max=3;gpu_min=9", {"too many vCPUs", "too few GPUs"}},
		/* The only spot price is known, but the run is too long to end between two
		 * interruptions, so its cost cannot be computed. */
		{"duration=46800;allocation=spot;spot_interruptions=60;objective=cost;include=m."
		 "large",
			{"None of the ",
				"1 would cost more than max_cost, or than can be counted"}},
		{"duration=3600;include=a.large;ipv4=1",
			{"The cost of the first server is without a public address: its price is "
			 "unknown."}},
		{"duration=3600;include=a.large;ipv4=1;disk=5",
			{"The cost of the first server is without storage and a public address: "
			 "their prices are unknown."}},
		{"duration=3600;include=a.large", {NULL}},
		{"page=99", {"Page 99 is past the last of the "}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = ask(table[i].words, 200);
		char *notes = json_dumps(json_object_get(o, "notes"), 0);

		for (size_t k = 0; k < 3 && table[i].says[k]; k++)
			if (!strstr(notes, table[i].says[k]))
				fail_msg("%s: no \"%s\" in %s", table[i].words, table[i].says[k],
					notes);
		assert_null(strstr(notes, "(null)"));
		if (strstr(table[i].words, "include="))
			assert_null(strstr(notes, "exchange rate"));
		if (!strstr(table[i].words, "ipv4"))
			assert_null(strstr(notes, "The cost of the first server is without"));
		free(notes);
		json_decref(o);
	}
}

/* An exchange rate from the user brings servers in that currency back. */
static void a_rate_makes_currencies_comparable(void **state)
{
	const char *rate[] = {"ARS=1.5"}, *wrong[] = {"ARSO=1.5"};
	struct err e = {0};
	struct options *options = &servers_world.options;
	struct app *app = &servers_world.app;
	char ids[256];

	options->catalogue_rates = (struct text_list){1, rate};
	json_t *o = ask("vcpus_max=2", 200);
	const json_t *cx = json_array_get(json_object_get(o, "servers"), 1);

	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "t.small cx a.large m.large");
	assert_double_equal(number_of(cx, "price"), 0.03, 1e-12);
	assert_double_equal(number_of(cx, "min_price_ondemand"), 0.03, 1e-12);
	assert_true(json_is_null(json_object_get(cx, "min_price_spot")));
	json_decref(o);
	o = ask("currency=ARS;include=m.large", 200);

	const json_t *large = json_array_get(json_object_get(o, "servers"), 0);

	assert_string_equal(text_of(large, "currency"), "ARS");
	assert_double_equal(number_of(large, "min_price_ondemand"), 0.0533333, 1e-12);
	assert_double_equal(number_of(large, "min_price_spot"), 0.02, 1e-12);
	json_decref(o);

	app_caches_done(app);
	*app = APP_INIT;
	app->options = options;
	options->catalogue_rates.text = wrong;
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	const struct route *route = query_route("servers");

	arguments_begin(&a, route->parameters);
	assert_int_equal(arguments_finish(&a, &e), 0);
	assert_int_equal(route->answer(app, &a, &r, &e), 0);
	assert_int_equal(r.status, 503);
	assert_non_null(strstr(buf_text(&r.body), "--catalogue.rate=ARSO=1.5"));
	buf_done(&r.body);
}

/* A job with busy CPUs gets no burstable or shared CPUs unless they are requested. */
static void busy_jobs_get_cpus_of_their_own(void **state)
{
	char ids[256];

	json_t *o = ask("job_name=etl/load;architecture=any", 200);

	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "a.large m.large m.2xlarge g.gpu");
	json_decref(o);
	/* Explicit parameters win over the job's own demand. */
	o = ask("job_name=etl/load;architecture=any;cpu=7", 200);
	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "m.2xlarge");
	json_decref(o);
}

/* Servers for a job that uses a core for a day. Three prices are lower, but under a condition: spot,
 * arm64, burstable. The region of the last server has a number and no name. */
static const char conditions[] =
	"vendor_id,server_id,cpu_architecture,cpu_allocation,vcpus,memory_amount,region_id,allocation,price,currency\n"
	"aws,m.large,x86_64,Dedicated,2,4096,us-east-1,ondemand,0.10,USD\n"
	"aws,m.large,,,,,us-east-1,spot,0.03,USD\n"
	"aws,a.large,arm64,Dedicated,2,4096,us-east-1,ondemand,0.05,USD\n"
	"aws,t.large,x86_64,Burstable,2,4096,,ondemand,0.02,USD\n"
	"gcp,n.large,x86_64,Dedicated,2,4096,1000,ondemand,0.20,USD\n";

static const json_t *alternative(const json_t *o, const char *condition)
{
	const json_t *all = json_object_get(o, "alternatives");

	for (size_t i = 0; i < json_array_size(all); i++)
		if (strcmp(text_of(json_array_get(all, i), "condition"), condition) == 0)
			return json_array_get(all, i);
	return NULL;
}

static bool has_note(const json_t *o, const char *beginning)
{
	const json_t *notes = json_object_get(o, "notes"), *note;
	bool found = false;
	size_t i;

	json_array_foreach(notes, i, note) found =
		found || strncmp(json_string_value(note), beginning, strlen(beginning)) == 0;
	return found;
}

static void conditions_and_regions_are_told(void **state)
{
	servers_world_catalogue(conditions);
	fake_machine = (struct machine){
		"gcp", "n.large", "1000", "", MACHINE_ONDEMAND, "option", "node-1"};
	json_t *o = ask("job_name=etl/load;duration=3600", 200);
	const json_t *best = json_object_get(o, "best"), *servers = json_object_get(o, "servers"),
		     *large = json_array_get(servers, 0), *here = json_array_get(servers, 1);

	assert_string_equal(text_of(large, "api_reference"), "m.large");
	assert_string_equal(text_of(large, "region"), "us-east-1");
	assert_true(json_is_null(json_object_get(here, "region")));
	assert_string_equal(text_of(here, "region_id"), "1000");
	assert_double_equal(number_of(large, "saving"), 0.10, 1e-9);
	assert_double_equal(number_of(here, "saving"), 0, 1e-9);
	assert_double_equal(number_of(here, "more_than_first"), 0.10, 1e-9);
	assert_string_equal(text_of(best, "api_reference"), "m.large");
	assert_false(has_note(o, "No server is called the best"));
	assert_true(json_is_false(json_object_get(best, "is_current")));
	assert_double_equal(number_of(best, "saving_percent"), 50, 1e-9);
	assert_double_equal(number_of(alternative(o, "arm64"), "saving"), 0.05, 1e-9);
	assert_string_equal(text_of(alternative(o, "arm64"), "asks"),
		"needs programs built for arm64");
	assert_string_equal(text_of(alternative(o, "spot"), "api_reference"), "m.large");
	assert_string_equal(text_of(alternative(o, "burstable"), "price_note"),
		"lowest known price, region unknown");
	assert_true(json_is_null(json_object_get(alternative(o, "burstable"), "region_id")));
	json_decref(o);
	/* With architecture=x86_64, arm64 is not offered. Burstable CPUs are allowed already. */
	o = ask("job_name=etl/load;duration=3600;architecture=x86_64;cpu_allocation=any", 200);
	assert_null(alternative(o, "arm64"));
	assert_null(alternative(o, "burstable"));
	assert_string_equal(text_of(json_object_get(o, "best"), "api_reference"), "t.large");
	assert_null(alternative(o, "spot")); /* the spot server costs 0.03, the best 0.02 */
	json_decref(o);
}

/* If the catalogue does not have the data, the answer says so. An answer with 0 servers would be
 * wrong. */
static void what_the_catalogue_does_not_know_is_told(void **state)
{
	static const struct {
		const char *catalogue, *words;
		int status;
		const char *says;
	} table[] = {
		{"vendor_id,server_id,vcpus,memory_amount,price\naws,m.large,2,4096,1\n",
			"countries=US", 400, "--catalogue.region="},
		{"vendor_id,server_id,vcpus,memory_amount,price\naws,m.large,2,4096,1\n",
			"compliance_framework=hipaa", 400, "does not say with which frameworks"},
		{"vendor_id,server_id,vcpus,memory_amount,price,compliance\n"
		 "aws,m.large,2,4096,1,hipaa\ngcp,n.large,2,4096,1,\n",
			"compliance_framework=hipaa", 200,
			"1 vendor is skipped: the catalogue does not know"},
		{"vendor_id,server_id,vcpus,memory_amount,price\naws,m.large,2,4096,1\n", "", 200,
			"The duration of a run is unknown"},
		{"vendor_id,server_id,vcpus,memory_amount,price,allocation,estimated\n"
		 "aws,m.large,2,4096,1,spot,true\naws,l.large,2,4096,1,ondemand,\n",
			"allocation=spot", 200,
			"No server is called the best, because the price of the first cannot be "
			"relied on: estimated"},
		{"vendor_id,server_id,vcpus,memory_amount,price,min_price_spot\n"
		 "aws,m.large,2,4096,1,2\n",
			"", 200,
			"No server is called the best, because the price of the first cannot be "
			"relied on: lowest known price"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		servers_world_catalogue(table[i].catalogue);
		app_caches_done(&servers_world.app);
		servers_world.app = APP_INIT;
		servers_world.app.options = &servers_world.options;
		json_t *o = ask(table[i].words, table[i].status);
		char *text = json_dumps(o, JSON_ENCODE_ANY);

		if (!strstr(text, table[i].says))
			fail_msg("%s: %s", table[i].words, text);
		free(text);
		json_decref(o);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, servers_world_fresh, servers_world_done)

/* The cost of the first server, and a note where its vendor bills much more time than a run uses. */
static void a_bill_that_is_mostly_rounding_is_explained(void **state)
{
	static const struct {
		const char *words, *note; /* NULL = no note about the bill */
	} table[] = {
		{"duration=1.2;include=m.large",
			"aws bills at least 60 s: the first server is billed for 60 s, and a run "
			"uses 1.2 s of it."},
		{"duration=49;include=m.large", NULL},
		{"duration=4000;include=cx;currency=ARS;cpu_allocation=any",
			"hcloud bills in steps of 60.0 min: the first server is billed for 2.0 h, "
			"and a run uses 66.7 min of it."},
		{"duration=7000;include=cx;currency=ARS;cpu_allocation=any", NULL},
		{"include=m.large", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = ask(table[i].words, 200);
		const json_t *note;
		const char *found = NULL;
		size_t k;

		json_array_foreach(json_object_get(o, "notes"), k,
			note) if (strstr(json_string_value(note), " bills ")) found =
			json_string_value(note);
		if (table[i].note)
			assert_string_equal(found ? found : "no note", table[i].note);
		else
			assert_null(found);
		json_decref(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_asked_decides_which_servers_answer),
		TEST(what_is_not_known_is_named_with_what_is),
		TEST(a_bill_that_is_mostly_rounding_is_explained),
		TEST(an_answer_explains_itself),
		TEST(a_rate_makes_currencies_comparable),
		TEST(notes_say_what_is_missing_and_how_to_bring_it_in),
		TEST(busy_jobs_get_cpus_of_their_own),
		TEST(conditions_and_regions_are_told),
		TEST(what_the_catalogue_does_not_know_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
