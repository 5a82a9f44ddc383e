/*
 * /servers from end to end of the program's own part: what is asked, as text, and which servers answer, with what
 * it costs today. The picking itself is in test_pick_property.c.
 */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/app.h"
#include "exporter/query.h"
#include "exporter/route.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "tests/support/sample_runs.h"

/* Six servers, of which small is the cheapest, and the last one can only be had in euros. */
static const char catalogue_text[] =
	"# as_of: 2026-10-01\n"
	"vendor_id,server_id,api_reference,family,cpu_architecture,cpu_allocation,vcpus,memory_"
	"amount,"
	"memory_amount_actual,gpu_count,gpu_model,gpu_memory_min,gpu_memory_total,storage_size,"
	"storage_type,"
	"score1,score,region_id,aliases,country_id,continent,allocation,price,currency,"
	"billing_increment_seconds,minimum_billing_seconds,compliance\n"
	"aws,t.small,,t,x86_64,Burstable,2,512,,0,,,,0,,1000,1500,1,here,US,North "
	"America,ondemand,0.01,USD,1,60,hipaa\n"
	"aws,m.large,,m,x86_64,Dedicated,2,4096,3900,0,,,,0,,1000,2000,1,here,,,ondemand,0.10,USD,,"
	",\n"
	"aws,m.large,,,,,,,,,,,,,,,,2,there,DE,Europe,ondemand,0.08,USD,,,\n"
	"aws,m.large,,,,,,,,,,,,,,,,1,here,,,spot,0.03,USD,,,\n"
	"aws,m.2xlarge,,m,x86_64,Dedicated,8,32768,,0,,,,100,ssd,2000,16000,1,here,,,ondemand,0.40,"
	"USD,,,\n"
	"aws,a.large,,a,arm64,Dedicated,2,4096,,0,,,,0,,1000,2000,1,here,,,ondemand,0.05,USD,,,\n"
	"gcp,g.gpu,,g,x86_64,Dedicated,4,16384,,1,L4,8192,8192,0,,1000,4000,1000,gc,US,North "
	"America,ondemand,0.70,USD,,,soc2t2\n"
	"hcloud,cx,,cx,x86_64,Shared,2,4096,,0,,,,40,ssd,,,f,fsn,DE,Europe,ondemand,0.02,EUR,3600,"
	"3600,\n";

static struct options options;
static struct app app;
static char path[64];

static struct run placed[8];

/* The sample runs, of which it is not known where they ran. */
static struct runs unplaced_runs(void)
{
	struct runs all = sample_runs();

	assert_true(all.n <= ARRAY_LEN(placed));
	for (size_t i = 0; i < all.n; i++) {
		placed[i] = all.run[i];
		placed[i].vendor_id = placed[i].instance_type = placed[i].region = NULL;
		placed[i].zone = placed[i].allocation = NULL;
	}
	return (struct runs){all.n, placed};
}

static int fresh(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/test_servers_XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, catalogue_text, sizeof catalogue_text - 1),
		(ssize_t)sizeof catalogue_text - 1);
	close(fd);
	options = (struct options){.catalogue_path = path};
	app = APP_INIT;
	app.options = &options;
	app.history_path = "some/history.db";
	fake_history = (struct fake_history){.runs = unplaced_runs()};
	fake_machine = (struct machine){0};
	return 0;
}

static int done(void **state)
{
	(void)state;
	assert_int_equal(fake_history.open, 0);
	app_done(&app);
	unlink(path);
	return 0;
}

/* What the command line would ask: "cpu=2 memory=1000". The document, or the text of a bad request. */
static json_t *ask(const char *words, int status)
{
	char text[512], *next = text, *word;
	const struct route *route = query_route("servers");
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct err e = {0};

	snprintf(text, sizeof text, "%s", words);
	arguments_begin(&a, route->parameters);
	while ((word = strsep(&next, ";"))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (arguments_add(&a, word, value, &e))
			fail_msg("%s: %s", words, e.text);
	}
	if (arguments_finish(&a, &e) || route->answer(&app, &a, &r, &e))
		fail_msg("%s: %s", words, e.text);
	json_t *o = json_loadb(buf_text(&r.body), r.body.len, 0, NULL);

	assert_non_null(o);
	if (r.status != status)
		fail_msg("%s: %d %s", words, r.status, buf_text(&r.body));
	buf_done(&r.body);
	return o;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* "t.small m.large": the ids in their order. */
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
		/* MiB of need and GB as sold are not mixed up, and nothing is rounded away. */
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
		/* What the system keeps is not the job's: 4,096 MiB are not there for it. */
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
		{"currency=eur", "cx"},
		{"objective=efficiency;vendor=aws", "t.small a.large m.2xlarge m.large"},
	};
	char ids[256];

	(void)state;
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
		{"region=nowhere", "region", "1000"},
		{"country=FR", "country", "DE"},
		{"continent=Asia", "continent", "Europe"},
		{"compliance_framework=iso", "compliance_framework", "hipaa"},
		{"gpu_model=A100", "gpu_model", "L4"},
		{"storage_type=tape", "storage_type", "ssd"},
		{"currency=GBP", "currency", "EUR"},
		{"include=m.huge", "include", "m.large"},
		{"exclude=x1", "exclude", "t.small"},
		{"benchmark=speed", "benchmark", "stress_ng:best1"},
		{"objective=benchmark", "objective", "/benchmarks"},
		{"objective=deadline", "objective", "seconds"},
		{"vcpus_min=8;vcpus_max=4", "vcpus_min", "8 is more than vcpus_max, 4"},
		{"memory_max=1;memory_min=1.5", "memory_min", "1.5 is more than memory_max, 1"},
	};

	(void)state;
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

	(void)state;
	assert_string_equal(text_of(o, "objective"), "cost");
	assert_string_equal(text_of(first, "region_id"), "1");
	assert_string_equal(text_of(first, "allocation"), "ondemand");
	assert_true(number_of(first, "price") == 0.01 && number_of(first, "forecast_cost") == 0.01);
	assert_string_equal(text_of(first, "forecast_basis"), "assumed_same_speed");
	assert_non_null(strstr(text_of(first, "why"), "4 fit"));
	/* The address is wanted, and its price is not known. */
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_object_get(first,
										     "cost"),
								     "lacks"),
				    0)),
		"ipv4");
	assert_non_null(strstr(text_of(json_array_get(json_object_get(o, "servers"), 1), "why"),
		"more per run"));
	assert_true(number_of(filtered, "vendor") == 2);
	assert_string_equal(text_of(c, "source"), path);
	assert_string_equal(text_of(c, "as_of"), "2026-10-01");
	assert_true(number_of(c, "age_seconds") > 0);
	json_decref(o);
}

static void notes_say_what_is_missing_and_how_to_bring_it_in(void **state)
{
	static const struct {
		const char *words, *says[3];
	} table[] = {
		{"", {"servers are left out, for there is no exchange rate to USD for their prices "
		      "in EUR",
			     "--catalogue.rate=EUR=DOLLARS", "currency=EUR"}},
		{"currency=EUR", {"no exchange rate to EUR", "--catalogue.rate=EUR=DOLLARS"}},
		{"cpu=100", {"none of the ", "have too few vCPUs",
				    "100 vCPUs are needed, and none has more than "}},
		{"memory=9999999", {"have too little memory", "9766 GiB of memory are needed"}},
		{"vcpus_min=2;vcpus_max=3;gpu_min=9", {"too many vCPUs", "too few GPUs"}},
		{"page=99", {"page 99 is past the last of the "}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		json_t *o = ask(table[i].words, 200);
		char *notes = json_dumps(json_object_get(o, "notes"), 0);

		for (size_t k = 0; k < 3 && table[i].says[k]; k++)
			if (!strstr(notes, table[i].says[k]))
				fail_msg("%s: no \"%s\" in %s", table[i].words, table[i].says[k],
					notes);
		assert_null(strstr(notes, "(null)"));
		free(notes);
		json_decref(o);
	}
}

/* A rate of one's own brings the servers in that currency back. */
static void a_rate_makes_currencies_comparable(void **state)
{
	const char *rate[] = {"EUR=1.5"}, *wrong[] = {"EURO=1.5"};
	struct err e = {0};
	char ids[256];

	(void)state;
	options.catalogue_rates = (struct texts){1, rate, false};
	json_t *o = ask("vcpus_max=2", 200);

	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "t.small cx a.large m.large");
	assert_true(fabs(number_of(json_array_get(json_object_get(o, "servers"), 1), "price") -
			    0.03) < 1e-12);
	json_decref(o);

	app_done(&app);
	app = APP_INIT;
	app.options = &options;
	options.catalogue_rates.text = wrong;
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	const struct route *route = query_route("servers");

	arguments_begin(&a, route->parameters);
	assert_int_equal(arguments_finish(&a, &e), 0);
	assert_true(route->answer(&app, &a, &r, &e) < 0);
	assert_non_null(strstr(e.text, "--catalogue.rate=EURO=1.5"));
}

static void a_job_is_priced_where_it_runs(void **state)
{
	(void)state;
	fake_machine = (struct machine){"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option"};
	json_t *o = ask("job_name=etl/load;objective=cost;cpu_allocation=any", 200);
	const json_t *today = json_object_get(o, "today"),
		     *server = json_object_get(today, "server");
	const json_t *runs = json_object_get(today, "runs"),
		     *over = json_object_get(today, "overallocated"),
		     *first = json_array_get(json_object_get(o, "servers"), 0);
	double now = number_of(today, "cost_per_run");

	/* In its own region, not in the cheapest or the first. */
	assert_true(number_of(server, "price") == 0.08);
	assert_string_equal(text_of(server, "priced_in"), "2");
	/* A minute is billed at least; the run that is still running is not priced. */
	assert_int_equal(json_array_size(runs), 3);
	assert_true(fabs(number_of(json_array_get(runs, 0), "cost") - 0.08 / 60) < 1e-12);
	assert_true(fabs(now - 0.08 / 60) < 1e-12);
	/* Two cores were asked for. */
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

/* The same job for two hours is as busy as it was: faster servers are faster by as much. */
static void a_duration_that_is_said_is_what_is_forecast(void **state)
{
	static const char *const servers[] = {"m.large", "m.2xlarge", "g.gpu", "t.small"},
				 *const keys[] = {"forecast_duration_seconds",
					 "forecast_duration_low", "forecast_duration_high"};

	(void)state;
	fake_machine = (struct machine){"aws", "m.large", "there", "", MACHINE_ONDEMAND, "option"};
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
					    1) < 1e-9);
		assert_true(fabs(number_of(after, "forecast_cost") /
					    (number_of(after, "price") * number_of(after, keys[0]) /
						    3600) -
				    1) < 1e-9);
	}
	/* Where it runs today as well. */
	assert_true(fabs(number_of(json_object_get(said, "today"), "cost_per_run") - 0.16) < 1e-12);
	json_decref(usual);
	json_decref(said);
}

static void a_spot_machine_is_priced_as_one(void **state)
{
	(void)state;
	fake_machine = (struct machine){"aws", "m.large", "here", "", MACHINE_SPOT, "aws"};
	json_t *o = ask("job_name=etl/load", 200);
	const json_t *server = json_object_get(json_object_get(o, "today"), "server");

	assert_true(number_of(server, "price") == 0.03);
	assert_string_equal(text_of(server, "priced_as"), "spot");
	json_decref(o);
}

/* Not here, nor where others ran: a history may hold runs of many machines. */
static void a_run_is_priced_where_it_ran(void **state)
{
	(void)state;
	fake_machine = (struct machine){"gcp", "g.gpu", "gc", "", MACHINE_ONDEMAND, "gcp"};
	placed[0].vendor_id = placed[1].vendor_id = placed[2].vendor_id = "aws";
	placed[0].instance_type = placed[1].instance_type = placed[2].instance_type = "m.large";
	placed[0].region = placed[1].region = "there";
	placed[2].region = "here";
	placed[2].allocation = "spot";
	json_t *o = ask("job_name=etl/load", 200), *today = json_object_get(o, "today");
	const json_t *past = json_object_get(today, "runs"),
		     *server = json_object_get(today, "server");

	assert_string_equal(text_of(server, "api_reference"), "m.large");
	assert_string_equal(text_of(server, "known_from"), "history");
	assert_true(number_of(server, "price") == 0.08);
	/* On demand there, spot here, and one of which nothing is known: like the newest. */
	const double minute[] = {0.08 / 60, 0.03 / 60, 0.08 / 60};

	assert_int_equal(json_array_size(past), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(number_of(json_array_get(past, i), "cost") - minute[i]) < 1e-12);
	json_decref(o);
}

static void what_today_costs_says_why_it_is_not_known(void **state)
{
	static const struct {
		struct machine machine;
		const char *note;
		bool priced;
	} table[] = {
		{{"", "", "", "", 0, ""}, "not known", false},
		{{"aws", "m.huge", "here", "", 0, "aws"}, "not in the catalogue", false},
		{{"hcloud", "cx", "fsn", "", 0, "hcloud"}, "without an exchange rate", false},
		{{"aws", "a.large", "there", "", 0, "aws"}, "the lowest of all regions", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		fake_machine = table[i].machine;
		json_t *o = ask("job_name=etl/load", 200), *today = json_object_get(o, "today");

		assert_non_null(strstr(text_of(today, "note"), table[i].note));
		assert_int_equal(!isnan(number_of(today, "cost_per_run")), table[i].priced);
		assert_null(table[i].priced ?
				    NULL :
				    json_object_get(json_array_get(json_object_get(o, "servers"),
							    0),
					    "saving"));
		json_decref(o);
	}
}

/* A job that keeps its CPUs busy is kept off burstable and shared ones, unless they are asked for. */
static void busy_jobs_get_cpus_of_their_own(void **state)
{
	char ids[256];

	(void)state;
	json_t *o = ask("job_name=etl/load;architecture=any", 200);

	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "a.large m.large m.2xlarge g.gpu");
	json_decref(o);
	/* What is said wins over the job's own demand. */
	o = ask("job_name=etl/load;architecture=any;cpu=7", 200);
	ids_of(o, ids, sizeof ids);
	assert_string_equal(ids, "m.2xlarge");
	json_decref(o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_asked_decides_which_servers_answer),
		TEST(what_is_not_known_is_named_with_what_is),
		TEST(an_answer_explains_itself),
		TEST(a_rate_makes_currencies_comparable),
		TEST(notes_say_what_is_missing_and_how_to_bring_it_in),
		TEST(a_job_is_priced_where_it_runs),
		TEST(a_duration_that_is_said_is_what_is_forecast),
		TEST(a_spot_machine_is_priced_as_one),
		TEST(a_run_is_priced_where_it_ran),
		TEST(what_today_costs_says_why_it_is_not_known),
		TEST(busy_jobs_get_cpus_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
