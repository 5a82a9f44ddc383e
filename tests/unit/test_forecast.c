/* Tests recommender/servers/forecast.c and the memory that the operating system reserves:
 * durations, bills, and what is left for a job on a server. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/catalogue/billing.h"
#include "recommender/catalogue/build.h"
#include "recommender/servers/forecast.h"
#include "recommender/servers/system_reserve.h"

FREEP(catalogue)

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9 * (1 + fabs(b))))
		fail_msg("%.15g, not %.15g", a, b);
}

/* a: slow, 2 CPUs; b: twice as fast per CPU, 2 CPUs; c: like a, 8 CPUs; x: unknown speed; g, h:
 * GPUs; z: scores of zero. */
static const char servers[] =
	"# rate: EUR 1.25\n"
	"vendor_id,server_id,vcpus,memory_amount,score1,score,gpu_count,gpu_model,storage_size,region_id,price,currency,allocation,billing_increment_seconds,minimum_billing_seconds,storage_price_gb_month,outbound_price_gb,ipv4_price_hour,average_time_to_start\n"
	"s,a,2,1024,1000,2000,,,10,r,3.6,USD,,1,60,0.073,0.1,0.005,\n"
	"s,b,2,1024,2000,4000,,,,r,7.2,USD,,,,,,,\n"
	"s,c,8,1024,1000,8000,,,,r,14.4,USD,,,,,,,\n"
	"s,t,8,1024,1000,5000,,,,r,14.4,USD,,,,,,,\n"
	"h,x,2,1024,,,,,,,3.6,EUR,,3600,3600,,,,\n"
	"s,g,2,1024,1000,2000,1,A10,,r,3.6,USD,spot,,,,,,30\n"
	"s,h,2,1024,1000,2000,1,L4,,r,3.6,USD,,,,,,,\n"
	"s,z,2,1024,0,0,1,T4,,r,3.6,USD,,,,,,,\n"
	"n,y,2,1024,1000,2000,1,A10,,r,3.6,USD,,,,,,,\n";

static struct catalogue *catalogue(bool with_llm)
{
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	struct err e = {0};
	const struct benchmark llm = {.benchmark_id = "llm_speed:prompt_processing",
		.name = "",
		.category = "",
		.unit = "",
		.higher_is_better = true};

	if (catalogue_read_csv(b, servers, strlen(servers), &e))
		fail_msg("%s", e.text);
	if (with_llm) {
		assert_int_equal(catalogue_add_benchmark(b, &llm, &e), 0);
		catalogue_add_score(b, "s", "g", llm.benchmark_id, 100);
		catalogue_add_score(b, "s", "h", llm.benchmark_id, 200);
		catalogue_add_score(b, "s", "z", llm.benchmark_id, 0);
	}
	catalogue_finish(b, "test", &c);
	catalogue_builder_free(b);
	return c;
}

static void durations_scale_with_the_share_that_the_cpu_limits(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = catalogue(false);
	/* Each row: the server; the one on which a job took 100 s; its CPU time and cores there; its
	 * expected duration on the first server; and the basis of the forecast. */
	static const struct {
		const char *on, *ran_on;
		double cpu_seconds, cores, expected;
		enum forecast_basis basis;
	} table[] = {
		{"a", "a", 100, 1, 100, FORECAST_SAME},
		/* one CPU, always busy: half the duration on a CPU twice as fast */
		{"b", "a", 100, 1, 50, FORECAST_MEASURED},
		/* the job waits half of the time, and only the other half gets shorter */
		{"b", "a", 50, 1, 75, FORECAST_MEASURED},
		{"b", "a", 0, 1, 100, FORECAST_MEASURED},
		/* two CPUs, both always busy: half the duration */
		{"b", "a", 200, 2, 50, FORECAST_MEASURED},
		/* more CPUs do not help a job that uses two */
		{"c", "a", 200, 2, 100, FORECAST_MEASURED},
		/* the job used four CPUs, and this server has only two of twice the speed */
		{"b", "c", 400, 4, 100, FORECAST_MEASURED},
		/* four busy threads have a core each on both; eight share the cores of "t" */
		{"t", "c", 400, 4, 100, FORECAST_MEASURED},
		{"t", "c", 800, 8, 160, FORECAST_MEASURED},
		{"c", "t", 800, 8, 62.5, FORECAST_MEASURED},
		{"x", "a", 100, 1, 100, FORECAST_ASSUMED},
		/* the speed is unknown, but the server has fewer CPUs than the job used */
		{"x", "a", 800, 8, 400, FORECAST_ASSUMED},
		{"b", "a", NAN, NAN, 100, FORECAST_ASSUMED},
		/* CPU time beyond duration x cores is measurement noise */
		{"b", "a", 120, 1, 50, FORECAST_MEASURED},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct job_profile p = forecast_profile(100);

		p.duration_low = 90;
		p.duration_high = 130;
		p.cpu_seconds = table[i].cpu_seconds;
		p.cores = table[i].cores;
		p.reference = catalogue_find(c, "s", table[i].ran_on);
		const char *vendor = strcmp(table[i].on, "x") == 0 ? "h" : "s";
		struct forecast f = forecast_on(c, &p, catalogue_find(c, vendor, table[i].on));

		if (f.basis != table[i].basis || fabs(f.seconds - table[i].expected) > 1e-9)
			fail_msg("row %zu: %g s, %s", i, f.seconds, forecast_basis_name[f.basis]);
		near(f.low, 0.9 * f.seconds);
		near(f.high, 1.3 * f.seconds);
	}
}

static void without_a_reference_the_same_speed_is_assumed(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = catalogue(false);
	struct job_profile p = forecast_profile(100);
	struct forecast f = forecast_on(c, &p, catalogue_find(c, "s", "b"));

	assert_int_equal(f.basis, FORECAST_ASSUMED);
	assert_true(f.seconds == 100 && isnan(f.low) && isnan(f.high));
	p.duration_seconds = NAN;
	f = forecast_on(c, &p, catalogue_find(c, "s", "b"));
	assert_int_equal(f.basis, FORECAST_NONE);
	assert_true(isnan(f.seconds));
}

static void a_score_of_zero_was_not_measured(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = catalogue(true);
	static const struct {
		const char *from, *to;
		double cpu_seconds, cores, gpu_seconds;
	} table[] = {{"z", "a", 100, 1, 0}, {"a", "z", 100, 1, 0}, {"z", "a", 200, 2, 0},
		{"a", "z", 200, 2, 0}, {"z", "h", 0, 1, 100}, {"h", "z", 0, 1, 100}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct job_profile p = forecast_profile(100);

		p.cpu_seconds = table[i].cpu_seconds;
		p.cores = table[i].cores;
		p.gpu_seconds = table[i].gpu_seconds;
		p.gpus = p.gpu_seconds > 0;
		p.reference = catalogue_find(c, "s", table[i].from);
		struct forecast f = forecast_on(c, &p, catalogue_find(c, "s", table[i].to));

		if (f.basis != FORECAST_ASSUMED || f.seconds != 100)
			fail_msg("row %zu: %g s, %s", i, f.seconds, forecast_basis_name[f.basis]);
	}
}

static void gpu_jobs_are_scaled_by_gpu_model(void **state)
{
	struct catalogue *plain = catalogue(false), *llm = catalogue(true);
	struct job_profile p = forecast_profile(100);

	p.cpu_seconds = 20;
	p.cores = 1;
	p.gpus = 1;
	p.gpu_seconds = 80;
	p.reference = catalogue_find(plain, "s", "g");
	struct forecast same_model = forecast_on(plain, &p, catalogue_find(plain, "n", "y"));
	struct forecast other_model = forecast_on(plain, &p, catalogue_find(plain, "s", "h"));

	assert_int_equal(same_model.basis, FORECAST_MEASURED);
	near(same_model.seconds, 100);
	assert_int_equal(other_model.basis, FORECAST_ASSUMED);

	/* The benchmark says that this GPU is twice as fast. The 80 s on the GPU become 40 s, and the
	 * other 20 s stay. */
	p.reference = catalogue_find(llm, "s", "g");
	other_model = forecast_on(llm, &p, catalogue_find(llm, "s", "h"));
	assert_int_equal(other_model.basis, FORECAST_MEASURED);
	near(other_model.seconds, 60);

	p.gpu_seconds = NAN;
	assert_int_equal(forecast_on(llm, &p, catalogue_find(llm, "s", "h")).basis,
		FORECAST_ASSUMED);
	assert_int_equal(forecast_on(llm, &p, catalogue_find(llm, "n", "y")).basis,
		FORECAST_MEASURED);
	catalogue_free(plain);
	catalogue_free(llm);
}

static void vendors_bill_minimum_and_increment(void **state)
{
	static const struct {
		double increment, minimum, seconds, billed;
	} table[] = {
		{1, 60, 10, 60},
		{1, 60, 60, 60},
		{1, 60, 61.5, 62},
		{3600, 3600, 1, 3600},
		{3600, 3600, 3600.001, 7200},
		{NAN, NAN, 12.5, 12.5},
		{NAN, 60, 12.5, 60},
		{60, NAN, 61, 120},
		{0, 0, 12.5, 12.5},
		{1, 60, NAN, NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct vendor v = {.vendor_id = "own",
			.billing_increment_seconds = table[i].increment,
			.minimum_billing_seconds = table[i].minimum};
		struct server s = {.vcpus = 2};
		struct billing b = billing_of(&v, &s);
		double billed = billing_seconds(&b, table[i].seconds);

		assert_true(isnan(table[i].billed) ? isnan(billed) : billed == table[i].billed);
	}
}

static void vendors_have_rules_of_their_own(void **state)
{
	static const struct {
		const char *vendor;
		double vcpus, gpus, increment, minimum, seconds, billed;
	} table[] = {
		{"aws", 2, 0, NAN, NAN, 12.5, 60},
		{"aws", 2, 0, NAN, NAN, 60.5, 61},
		/* the increment in the catalogue counts, and not the vendor's usual one */
		{"aws", 2, 0, 3600, NAN, 61, 3600},
		{"gcp", 2, 0, NAN, NAN, 1, 60},
		{"azure", 2, 0, NAN, NAN, 299, 300},
		{"azure", 2, 0, NAN, NAN, 301, 301},
		{"hcloud", 2, 0, NAN, NAN, 3601, 7200},
		{"hcloud", 2, 0, NAN, NAN, 624 * 3600, 624 * 3600},
		{"hcloud", 2, 0, NAN, NAN, 700 * 3600, 624 * 3600},
		{"vultr", 2, 0, NAN, NAN, 700 * 3600, 672 * 3600},
		{"vultr", 2, 1, NAN, NAN, 700 * 3600, 700 * 3600},
		{"vultr", 2, 1, NAN, NAN, 800 * 3600, 800 * 3600},
		{"vultr", 2, 0, NAN, NAN, 800 * 3600, (672 + 70) * 3600},
		/* Each hour that began is billed, and there is no monthly limit. */
		{"ovh", 2, 0, NAN, NAN, 61, 3600},
		{"ovh", 2, 0, NAN, NAN, 3600.5, 7200},
		{"ovh", 2, 0, NAN, NAN, 730 * 3600, 730 * 3600},
		{"upcloud", 2, 0, NAN, NAN, 1, 3600},
		{"upcloud", 2, 0, NAN, NAN, 3600, 3600},
		{"upcloud", 2, 0, NAN, NAN, 730 * 3600, 730 * 3600},
		{"gcp", 2, 0, NAN, NAN, 60.001, 61},
		{"azure", 2, 0, NAN, NAN, 300, 300},
		{"own", 2, 0, NAN, NAN, 12.5, 12.5},
		/* The minimum applies to the last hour of the clock in which the server runs. The
		 * mean over all starts then grows by at most minimum² / 7200. */
		{"alicloud", 1, 0, 1, 600, 3601, 3601 + 600 * 600 / 7200.0},
		{"alicloud", 2, 0, 1, 600, 3601, 3601 + 300 * 300 / 7200.0},
		{"alicloud", 4, 0, 1, 600, 3601, 3601 + 120 * 120 / 7200.0},
		{"alicloud", 64, 0, NAN, NAN, 3601, 3601 + 120 * 120 / 7200.0},
		{"alicloud", 1, 0, NAN, NAN, 60, 600 + 60 * 60 / 7200.0},
		{"alicloud", 3, 0, NAN, NAN, 60, 300 + 60 * 60 / 7200.0},
		/* the number of vCPUs is unknown */
		{"hcloud", NAN, NAN, NAN, NAN, 61, 3600},
		{"alicloud", NAN, NAN, NAN, NAN, 60, 600 + 60 * 60 / 7200.0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct vendor v = {.vendor_id = table[i].vendor,
			.billing_increment_seconds = table[i].increment,
			.minimum_billing_seconds = table[i].minimum};
		struct server s = {.vcpus = table[i].vcpus, .gpu_count = table[i].gpus};
		struct billing b = billing_of(&v, &s);
		double billed = billing_seconds(&b, table[i].seconds);

		if (fabs(billed - table[i].billed) > 1e-9)
			fail_msg("row %zu: %.12g, not %.12g", i, billed, table[i].billed);
	}
}

/* Bills one run for each second of the hour in which the run can start. */
static void the_mean_over_the_clock_is_what_single_starts_come_to(void **state)
{
	static const double runs[] = {1, 60, 599, 600, 601, 3000, 3600, 3601, 4000, 7199, 10000};
	const struct billing rule = {1, 600, true, NAN};

	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		double sum = 0;

		for (unsigned start = 0; start < 3600; start++) {
			double end = start + 0.5 + runs[i], last = fmod(end, 3600);
			double in_last = end < 3600 ? runs[i] : last;

			sum += runs[i] + fmax(600 - in_last, 0);
		}
		if (fabs(sum / 3600 - billing_seconds(&rule, runs[i])) > 0.1)
			fail_msg("%g s: %g, not %g", runs[i], billing_seconds(&rule, runs[i]),
				sum / 3600);
	}
}

static void interruptions_cost_rework(void **state)
{
	near(forecast_with_rework(3600, 0), 3600);
	near(forecast_with_rework(3600, NAN), 3600);
	near(forecast_with_rework(3600, 1), 3600 * (exp(1) - 1));
	/* The run is short compared with the time between interruptions, so it is interrupted at
	 * most once. An interruption loses half of the run on average. */
	assert_true(fabs(forecast_with_rework(360, 0.1) - 360 * (1 + 0.1 * 0.1 / 2)) < 0.05);
	assert_true(isnan(forecast_with_rework(NAN, 1)));
}

static struct cost cost_on(const struct catalogue *c, const char *vendor, const char *server,
	double seconds, struct demand d, struct job_profile p, const char *currency)
{
	const struct server *s = catalogue_find(c, vendor, server);
	struct forecast f = {seconds * 0.5, seconds, seconds * 2, FORECAST_SAME};
	struct cost_terms terms = {.spot_interruptions_per_hour = 1, .ipv4 = true};
	const struct price *price = &c->price[s->first_price];
	struct run_bill bill =
		forecast_bill(c, s, price->allocation == ALLOCATION_SPOT, &f, &d, &p, &terms);
	struct cost cost = forecast_cost_of(c, price, &bill, catalogue_currency(c, currency));

	assert_true(cost.amount == forecast_cost_amount(c, price, &bill,
					   catalogue_currency(c, currency)) ||
		    isnan(cost.amount));
	return cost;
}

static void costs_have_parts_and_name_what_they_lack(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = catalogue(false);
	struct demand d = {NAN, NAN, NAN, NAN, NAN, NAN};
	struct job_profile p = forecast_profile(NAN);
	struct cost cost = cost_on(c, "s", "a", 1000, d, p, "USD");

	/* The range is 500 to 2000 s: 0.3 x 500 + 0.4 x 1000 + 0.3 x 2000 s are expected. */
	near(cost.billed_seconds, 1000);
	near(cost.compute, 1.0);
	near(cost.ipv4, 0.005 * 1000 / 3600);
	near(cost.spread, 0.15 + 0.005 * 150 / 3600);
	near(cost.amount, cost.compute + cost.ipv4 + cost.spread);
	near(cost.low, 0.5 + 0.005 * 500 / 3600);
	near(cost.high, 2.0 + 0.005 * 2000 / 3600);
	assert_int_equal(cost.lacks, 0);

	d.disk_bytes = 110e9; /* 100 GB more than the server's disk */
	p.sent_bytes = 3e9;
	cost = cost_on(c, "s", "a", 3600, d, p, "EUR");
	near(cost.compute, 3.6 / 1.25);
	near(cost.storage, 100 * 0.073 / 730 / 1.25);
	near(cost.outbound, 0.3 / 1.25);

	/* Vendor h bills by the hour, in euros. Its prices of storage, traffic and addresses are
	 * unknown. */
	cost = cost_on(c, "h", "x", 10, d, p, "USD");
	near(cost.compute, 3.6 * 1.25);
	near(cost.amount, cost.compute);
	assert_int_equal(cost.lacks, COST_LACKS_STORAGE | COST_LACKS_OUTBOUND | COST_LACKS_IPV4);

	/* A spot server is interrupted once per hour, and takes 30 s to start again. */
	d.disk_bytes = p.sent_bytes = NAN;
	cost = cost_on(c, "s", "g", 3600, d, p, "USD");
	double spread = 0.3 * ceil(3600 * (exp(0.5) - 1) + 30) +
			0.4 * ceil(3600 * (exp(1) - 1) + 30) + 0.3 * ceil(3600 * (exp(2) - 1) + 30);

	near(cost.compute, ceil(3600 * (exp(1) - 1) + 30) / 1000);
	near(cost.amount, spread / 1000 + 0.005 * spread / 3600); /* and an address */

	cost = cost_on(c, "n", "y", 36, d, p, "USD");
	near(cost.compute, 0.036);
	near(cost.amount, 0.036 * 1.15);
	assert_true(cost.lacks & COST_LACKS_BILLING);

	cost = cost_on(c, "s", "a", NAN, d, p, "USD");
	assert_true(isnan(cost.amount) && isnan(cost.low) && isnan(cost.high));
}

static void steps_of_a_bill_count_with_their_chance(void **state)
{
	AUTO(catalogue_freep) struct catalogue *c = catalogue(false);
	static const struct {
		double low, seconds, high, hours;
	} table[] = {
		{3000, 3300, 3500, 1},
		{3000, 3300, 3700, 0.7 * 1 + 0.3 * 2},
		{3000, 3700, 7000, 0.3 * 1 + 0.7 * 2},
		{3000, 3700, 7300, 0.3 * 1 + 0.4 * 2 + 0.3 * 3},
		{NAN, 3700, NAN, 2},
	};
	const struct server *s = catalogue_find(c, "h", "x");
	const struct cost_terms terms = {0};
	const struct demand d = {NAN, NAN, NAN, NAN, NAN, NAN};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct job_profile p = forecast_profile(table[i].seconds);
		struct forecast f = {table[i].low, table[i].seconds, table[i].high, FORECAST_SAME};
		struct run_bill bill = forecast_bill(c, s, false, &f, &d, &p, &terms);
		struct cost cost = forecast_cost_of(c, &c->price[s->first_price], &bill,
			catalogue_currency(c, "EUR"));

		near(cost.billed_seconds, 3600 * ceil(table[i].seconds / 3600));
		near(cost.amount, 3.6 * table[i].hours);
		if (!isnan(table[i].low))
			assert_true(cost.low <= cost.amount && cost.amount <= cost.high);
	}
}

static void the_score_that_a_job_can_use(void **state)
{
	static const struct {
		double vcpus, score1, score, cores, usable;
	} table[] = {
		{32, 1000, 30000, 1, 1000},
		{32, 1000, 30000, 0.5, 1000},
		{32, 1000, 32000, 4, 4000},
		{32, 1000, 20000, 4, 4000},
		{32, 1000, 20000, 24, 20000},
		{32, NAN, 20000, 8, 5000},
		{32, 1000, NAN, 8, NAN},
		{2, 1000, 1800, 4, 1800},
		{4, 1000, 3600, 4, 3600},
		{32, 1000, 30000, NAN, 30000},
		{32, NAN, 30000, 1, NAN},
		{32, 1000, 0, 4, NAN},
		{32, 1000, NAN, NAN, NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct server s = {.vcpus = table[i].vcpus,
			.score1 = table[i].score1,
			.score = table[i].score};
		double usable = forecast_usable_score(&s, table[i].cores);

		if (isnan(table[i].usable) ? !isnan(usable) : usable != table[i].usable)
			fail_msg("row %zu: %g", i, usable);
	}
}

static void the_system_keeps_its_share(void **state)
{
	static const struct {
		const char *reserve;
		double amount, actual, left;
	} table[] = {
		{"none", 1024, NAN, 1024},
		{"none", 1024, 960, 960},
		{"system", 1024, NAN, 1024 - 16 - 100},
		{"system", 1024, 960, 860},
		{"system", NAN, NAN, NAN},
		{"kubernetes", 1024, 1000, 1000 - 255 - 100},
		{"kubernetes", 300, NAN, 0}, /* the rest is never less than 0 */
		{"kubernetes", 8192, 8000, 8000 - 1024 - 0.2 * (8000 - 4096) - 100},
		{"kubernetes", 262144, 262144,
			262144 - 1024 - 819.2 - 819.2 - 0.06 * 114688 - 0.02 * 131072 - 100},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct server s = {
			.memory_amount = table[i].amount, .memory_amount_actual = table[i].actual};
		double left = system_reserve_find(table[i].reserve)->memory(&s);

		if (isnan(table[i].left))
			assert_true(isnan(left));
		else
			near(left, table[i].left);
	}
	struct server s = {.vcpus = 8};

	near(system_reserve_find("kubernetes")->cpus(&s), 8 - 0.06 - 0.01 - 0.01 - 0.01);
	assert_true(system_reserve_find("system")->cpus(&s) == 8);
	assert_null(system_reserve_find("windows"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_scale_with_the_share_that_the_cpu_limits),
		cmocka_unit_test(without_a_reference_the_same_speed_is_assumed),
		cmocka_unit_test(a_score_of_zero_was_not_measured),
		cmocka_unit_test(gpu_jobs_are_scaled_by_gpu_model),
		cmocka_unit_test(vendors_bill_minimum_and_increment),
		cmocka_unit_test(vendors_have_rules_of_their_own),
		cmocka_unit_test(the_mean_over_the_clock_is_what_single_starts_come_to),
		cmocka_unit_test(interruptions_cost_rework),
		cmocka_unit_test(costs_have_parts_and_name_what_they_lack),
		cmocka_unit_test(steps_of_a_bill_count_with_their_chance),
		cmocka_unit_test(the_score_that_a_job_can_use),
		cmocka_unit_test(the_system_keeps_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
