/* exporter/remote: runs as series of a Prometheus-compatible store. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/answers/sizing_json.h"
#include "exporter/client/download.h"
#include "exporter/core/json.h"
#include "exporter/forward/run_message.h"
#include "exporter/remote/run_series.h"
#include "exporter/remote/sample_times.h"
#include "exporter/remote/snappy.h"
#include "exporter/remote/to_store.h"
#include "exporter/remote/varint.h"
#include "exporter/remote/write_request.h"

#define GIB (1024 * 1048576.0)

/* ---- the same recommendation ---- */

static double share(void)
{
	return (double)rand() / ((double)RAND_MAX + 1);
}

/* Returns a random number that a key or column of this name may have. */
static double number_for(const char *name)
{
	if (share() < 0.1)
		return NAN;
	if (share() < 0.15)
		return 0;
	if (strstr(name, "bytes"))
		return 4096 * floor(share() * 4 * GIB / 4096);
	if (strstr(name, "seconds"))
		return 100 * share();
	if (strstr(name, "exit") || strstr(name, "attempt"))
		return floor(3 * share());
	if (strstr(name, "cores") || strstr(name, "cpus") || strstr(name, "gpu"))
		return 8 * share();
	return floor(200 * share());
}

/* Gives every number that a run message has a random value, so that a new one is tested, too. */
static void set_numbers(struct run *r)
{
	for (const struct json_key *k = run_message_keys; k->name; k++)
		if ((k->kind == KEY_NUMBER || k->kind == KEY_WHOLE) && k->offset < sizeof *r)
			*(double *)(void *)((char *)r + k->offset) = number_for(k->name);
	r->duration_seconds = 50 + 100 * share();
	r->machine_cpus = 8;
	r->machine_memory_bytes = 64 * GIB;
}

/* Gives every kept column random values in their order. */
static void set_columns(struct run *r, struct column_stats *stats)
{
	r->stats = stats;
	for (size_t i = 0; i < kept_columns_n; i++) {
		struct column_stats *c = &stats[r->n_stats];
		double most = number_for(kept_columns[i].column);

		if (isnan(most) && strcmp(kept_columns[i].column, "memory_peak_bytes") != 0)
			continue;
		most = isnan(most) ? GIB : most;
		*c = (struct column_stats){kept_columns[i].column,
			{1, 0.3 * most, 0.1 * most, most, 0.2 * most, 0.8 * most, 0.9 * most,
				share() < 0.5 ? 0 : most}};
		r->n_stats++;
	}
}

static const char *one_of(const char *const *texts, size_t n)
{
	return texts[(size_t)(share() * (double)n)];
}

static void set_texts(struct run *r)
{
	static const char *const memory[] = {"cgroup", "vmhwm", "samples", "limit"},
				 *const disk[] = {NULL, "filesystem", "written", "shared"},
				 *const types[] = {NULL, "m5.large", "m5.xlarge"},
				 *const reasons[] = {NULL, NULL, NULL, "TIMEOUT", "Evicted"};

	r->memory_source = one_of(memory, ARRAY_LEN(memory));
	r->disk_source = one_of(disk, ARRAY_LEN(disk));
	r->cpu_source = "proc";
	r->vendor_id = "aws";
	r->instance_type = one_of(types, ARRAY_LEN(types));
	r->end_reason = one_of(reasons, ARRAY_LEN(reasons));
	r->not_measured = share() < 0.05 ? "no process was seen" : NULL;
	r->architecture = share() < 0.5 ? ARCHITECTURE_X86_64 : ARCHITECTURE_ARM64;
	r->cpu_level = "x86-64-v3";
	r->gpu_manufacturer = r->disk_source ? "NVIDIA" : NULL;
	r->gpu_model = r->gpu_manufacturer ? "NVIDIA H200" : NULL;
}

#define JOBS 200
#define RUNS 24

struct job_of_test {
	struct run run[RUNS];
	struct column_stats stats[RUNS][64];
};

static void invent(struct job_of_test *t)
{
	static const enum outcome outcomes[] = {OUTCOME_SUCCEEDED, OUTCOME_SUCCEEDED,
		OUTCOME_SUCCEEDED, OUTCOME_FAILED, OUTCOME_OOM_KILLED, OUTCOME_INTERRUPTED};

	for (size_t i = 0; i < RUNS; i++) {
		struct run *r = &t->run[i];

		*r = (struct run){.run_id = "r", .job_name = "load"};
		set_numbers(r);
		r->started_at = 1.7e9 - 1000 * (double)i;
		r->ended_at = r->started_at + r->duration_seconds;
		r->outcome = outcomes[(size_t)(share() * ARRAY_LEN(outcomes))];
		r->samples = (uint64_t)(100 * share());
		set_texts(r);
		set_columns(r, t->stats[i]);
	}
}

static char *recommended(const struct run *run, const struct strategy *strategy)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct runs runs = {RUNS, (struct run *)(uintptr_t)run};
	struct sizing s = {0};
	struct err e = {0};
	json_t *o = json_object();

	if (strategy->size(&runs, &(struct sizing_options){0}, &arena, &s, &e) == 0) {
		sizing_json_put(o, &s, true);
		sizing_json_put_warnings(o, &s.warnings);
	}
	char *ret = json_dumps(o, JSON_SORT_KEYS);

	json_decref(o);
	return ret;
}

/* Makes the runs again from their series. The series `without` is left out. */
static void read_back(const struct job_of_test *job, struct run again[RUNS], size_t without,
	struct arena *arena)
{
	for (size_t k = 0; k < RUNS; k++) {
		struct run_values v;
		const struct run *r = &job->run[k];

		run_values_of(r, &v);
		if (without < run_series_n)
			v.number[without] = NAN;
		again[k] = (struct run){
			.run_id = r->run_id, .job_name = r->job_name, .outcome = r->outcome};
		run_values_set(&v, &again[k], arena);
		again[k].ended_at = r->ended_at;
	}
}

static void series_carry_all_that_a_recommendation_reads(void **state)
{
	static struct job_of_test job;
	size_t told = 0;

	srand(1);
	for (size_t i = 0; i < JOBS; i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct run again[RUNS];

		job = (struct job_of_test){0};
		invent(&job);
		read_back(&job, again, SIZE_MAX, &arena);
		for (size_t k = 0; k < RUNS; k++) {
			assert_ptr_equal(again[k].gpu_manufacturer, job.run[k].gpu_manufacturer);
			assert_ptr_equal(again[k].gpu_model, job.run[k].gpu_model);
		}
		for (const struct strategy *s = strategies; s->name; s++) {
			AUTO(freep) char *before = recommended(job.run, s);
			AUTO(freep) char *after = recommended(again, s);

			if (strcmp(before, after) != 0)
				fail_msg("%s of job %zu:\n%s\n%s", s->name, i, before, after);
			told += strlen(before) > 2;
		}
	}
	assert_true(told > JOBS);
}

/* Returns true when a recommendation of one of the jobs needs the series. */
static bool is_needed(size_t series)
{
	static struct job_of_test job;

	srand(1);
	for (size_t i = 0; i < JOBS; i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct run again[RUNS];

		job = (struct job_of_test){0};
		invent(&job);
		read_back(&job, again, series, &arena);
		AUTO(freep) char *before = recommended(job.run, strategies);
		AUTO(freep) char *after = recommended(again, strategies);

		if (strcmp(before, after) != 0)
			return true;
	}
	return false;
}

/* Each series takes memory of the store, so it must have a use. Returns true for a series that no
 * recommendation of a size needs, but another answer: the exact end, the comparison with the request, the cost of
 * traffic, the tables of runs, input sizes that were not announced, or waits on kernels without
 * delay accounting. */
static bool is_for_others(const char *name)
{
	static const char *const names[] = {"end_time_seconds", "requested_cpu_cores",
		"requested_memory_bytes", "attempt", "machine_cpus", "machine_memory_bytes",
		"io_pressure_seconds", "network_received_bytes", "network_sent_bytes",
		"read_chars"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void no_series_is_for_nothing(void **state)
{
	for (size_t i = 0; i < run_series_n; i++)
		if (!is_for_others(run_series[i].name) && !is_needed(i))
			fail_msg("no recommendation needs %s", run_series[i].name);
}

/* VictoriaMetrics keeps twelve digits of a number. */
static double cut_off(double v)
{
	double unit = v > 0 ? pow(10, floor(log10(v)) - 11) : 1;

	return floor(v / unit) * unit;
}

static void a_float_survives_a_store_that_cuts_digits_off(void **state)
{
	srand(3);
	for (int i = 0; i < 1000; i++) {
		AUTO(arena_done) struct arena arena = {0};
		double most = 20 * share() + 0.01, p95 = (double)(float)(0.9 * most);
		struct column_stats stats = {"cpu_cores", {9, p95, p95, most, p95, p95, p95, NAN}};
		struct run r = {.stats = &stats, .n_stats = 1}, again = {0};
		struct run_values v;

		run_values_of(&r, &v);
		for (size_t k = 0; k < run_series_n; k++)
			v.number[k] = cut_off(v.number[k]);
		run_values_set(&v, &again, &arena);
		const struct distribution *d = run_column(&again, "cpu_cores");

		assert_true(d->p95 >= p95 && d->p95 <= p95);
		assert_true(d->max <= most && d->max >= most * (1 - 1e-11));
	}
}

static void a_reason_with_a_number_is_no_series_of_its_own(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct run r = {.not_measured = "column x: max is 12; possible is 0 to 7"}, again = {0};
	struct run_values v;

	run_values_of(&r, &v);
	run_values_set(&v, &again, &arena);
	assert_string_equal(again.not_measured, "its numbers are impossible");
	r.not_measured = "no process was seen";
	run_values_of(&r, &v);
	run_values_set(&v, &again, &arena);
	assert_string_equal(again.not_measured, "no process was seen");
}

/* ---- snappy ---- */

static uint64_t take_varint(const uint8_t **at)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		v |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return v;
	}
}

/* Reads a block by the format's description: literals of any length, and copies with two bytes of offset. */
static void unpack(const struct buf *block, struct buf *ret)
{
	const uint8_t *at = (const void *)block->data, *end = at + block->len;
	uint64_t size = take_varint(&at);

	while (at < end) {
		unsigned tag = *at++;
		size_t len = (tag >> 2) + 1;

		if ((tag & 3) == 0) {
			unsigned bytes = len > 60 ? (unsigned)len - 60 : 0;

			len = bytes ? 1 : len;
			for (unsigned i = 0; i < bytes; i++)
				len += (size_t)*at++ << (8 * i);
			buf_add(ret, at, len);
			at += len;
			continue;
		}
		assert_int_equal(tag & 3, 2);
		size_t offset = at[0] | (size_t)at[1] << 8;

		at += 2;
		assert_in_range(offset, 1, ret->len);
		for (size_t i = 0; i < len; i++)
			buf_addc(ret, ret->data[ret->len - offset]);
	}
	assert_int_equal(ret->len, size);
}

static void a_block_is_read_back(void **state)
{
	static const size_t sizes[] = {0, 1, 3, 4, 60, 61, 256, 257, 65535, 65536, 70000, 300000};

	srand(2);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (int few = 0; few < 2; few++) {
			AUTO(buf_done) struct buf data = BUF_MAX(1 << 20);
			AUTO(buf_done) struct buf block = BUF_MAX(1 << 20);
			AUTO(buf_done) struct buf back = BUF_MAX(1 << 20);

			for (size_t k = 0; k < sizes[i]; k++)
				buf_addc(&data, (char)(few ? rand() % 3 / 2 : rand()));
			snappy_write(&block, data.data, data.len);
			unpack(&block, &back);
			assert_int_equal(back.len, data.len);
			if (data.len)
				assert_memory_equal(back.data, data.data, data.len);
			if (few && sizes[i] > 1000)
				assert_true(block.len < data.len);
		}
}

/* ---- the request ---- */

static void a_request_has_the_bytes_of_the_message(void **state)
{
	const struct run r = {.run_id = "r",
		.job_name = "load\x1f"
			    "etl",
		.outcome = OUTCOME_SUCCEEDED,
		.duration_seconds = 1.5,
		.started_at = NAN};
	AUTO(buf_done) struct buf b = BUF_MAX(WRITE_REQUEST_RUN_MAX);

	write_request_add(&b, &r, 1700000000123);
	/* TimeSeries, then the labels in their order, then the value and the time of the sample. */
	static const char first[] = "\n\x78"
				    "\n*\n\x08__name__\x12\x1erightsize_run_duration_seconds"
				    "\n\x10\n\x08job_name\x12\x04load"
				    "\n\x10\n\tnamespace\x12\x03"
				    "etl"
				    "\n\x14\n\x07outcome\x12\tsucceeded"
				    "\x12\x10\t\0\0\0\0\0\0\xf8\x3f\x10\xfb\xd0\x95\xff\xbc\x31";

	assert_true(b.len > sizeof first);
	assert_memory_equal(b.data, first, sizeof first - 1);
	assert_null(memmem(b.data, b.len, "cluster", 7));
	assert_non_null(memmem(b.data, b.len, "rightsize_run_info", 18));
	assert_null(memmem(b.data, b.len, "start_time", 10));
}

static void a_container_is_a_label_if_it_has_a_name(void **state)
{
	static const struct {
		const char *labels, *label; /* NULL = no label */
	} table[] = {
		{"{\"namespace\": \"a\", \"container\": \"main\"}",
			"\n\x11\n\tcontainer\x12\x04main\n\x10\n\x08job_name"},
		{"{\"container\": \"\"}", NULL},
		{"{\"container\": 7}", NULL},
		{"{\"container\": \"a\\u0020b\"}", NULL},
		/* the id of a container */
		{"{\"container\": \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}",
			NULL},
		{"container", NULL},
		{NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(buf_done) struct buf b = BUF_MAX(WRITE_REQUEST_RUN_MAX);
		struct run r = {.run_id = "r", .job_name = "load", .labels = table[i].labels};

		write_request_add(&b, &r, 1);
		assert_int_equal(memmem(b.data, b.len, "container", 9) != NULL,
			table[i].label != NULL);
		if (table[i].label)
			assert_non_null(memmem(b.data, b.len, table[i].label,
				strlen(table[i].label)));
	}
}

/* ---- times ---- */

static void two_runs_of_one_job_have_two_times(void **state)
{
	AUTO(sample_times_done) struct sample_times t = {0};
	struct run a = {.run_id = "a",
			   .job_name = "j",
			   .ended_at = 1000.5,
			   .outcome = OUTCOME_FAILED},
		   b = a, c = a, d = a;
	bool shifted = true;

	b.run_id = "b";
	c.outcome = OUTCOME_SUCCEEDED;
	d.labels = "{\"container\": \"main\"}";
	assert_int_equal(sample_times_of(&t, &a, &shifted), 1000500);
	assert_false(shifted);
	int64_t other = sample_times_of(&t, &b, &shifted);

	assert_true(shifted && other != 1000500);
	assert_in_range(other, 1000000, 1000999);
	assert_int_equal(sample_times_of(&t, &b, &shifted), other);
	assert_false(shifted);
	assert_int_equal(sample_times_of(&t, &c, NULL), 1000500);
	assert_int_equal(sample_times_of(&t, &d, NULL), 1000500);
	assert_int_equal(sample_times_of(&t, &a, NULL), 1000500);
	/* Another writer already has the time of run `a`. */
	sample_times_lose(&t, &a);
	assert_int_not_equal(sample_times_of(&t, &a, NULL), 1000500);
}

/* Two writers do not know the times of each other. */
static void rounded_ends_of_two_writers_differ(void **state)
{
	AUTO(sample_times_done) struct sample_times t = {0};
	AUTO(sample_times_done) struct sample_times other = {0};
	struct run a = {.run_id = "a", .job_name = "j", .ended_at = 1000}, b = a;
	bool shifted = true;

	b.run_id = "b";
	int64_t at = sample_times_of(&t, &a, &shifted);

	assert_false(shifted);
	assert_in_range(at, 1000000, 1000999);
	assert_int_not_equal(sample_times_of(&other, &b, NULL), at);
	/* A run that both have gets one time. */
	assert_int_equal(sample_times_of(&other, &a, NULL), at);
}

static void all_runs_of_a_second_have_their_times(void **state)
{
	AUTO(sample_times_done) struct sample_times t = {0};
	bool taken[1000] = {false};

	for (int i = 0; i < 100; i++) {
		char id[16];
		struct run r = {.run_id = id, .job_name = "j", .ended_at = 1000.25};

		snprintf(id, sizeof id, "run-%d", i);
		int64_t at = sample_times_of(&t, &r, NULL);

		assert_in_range(at, 1000000, 1000999);
		assert_false(taken[at - 1000000]);
		taken[at - 1000000] = true;
	}
}

/* ---- the answer ---- */

static void what_a_store_answers(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum run_verdict verdict;
		bool other_time;
		const char *help;
	} table[] = {
		{200, "", VERDICT_TAKEN, false, ""},
		{204, "", VERDICT_TAKEN, false, ""},
		{400, "out of bounds\n", VERDICT_REFUSED, false, "out_of_order_time_window"},
		{400, "out of bounds: timestamp is too far in the future\n", VERDICT_REFUSED, false,
			"clock"},
		{400, "out of order sample\n", VERDICT_REFUSED, false, "out_of_order_time_window"},
		{400, "too old sample\n", VERDICT_REFUSED, false, "out_of_order_time_window"},
		{400, "duplicate sample for timestamp\n", VERDICT_OPEN, true, ""},
		{400,
			"failed pushing to ingester: user=a: the sample has been rejected because another sample with a "
			"more recent timestamp has already been ingested and out-of-order samples are not "
			"allowed (err-mimir-sample-out-of-order)",
			VERDICT_REFUSED, false, "out_of_order_time_window"},
		{409,
			"forwarding request to endpoint addr: , capnp_addr: , az: : writing locally: add 33 samples: "
			"out of bounds\n",
			VERDICT_REFUSED, false, "tsdb.out-of-order.time-window of Thanos"},
		{409, "", VERDICT_OPEN, false, ""},
		{400, "The plain HTTP request was sent to HTTPS port", VERDICT_OPEN, false, ""},
		{401, "", VERDICT_OPEN, false, ""},
		{404, "404 page not found", VERDICT_OPEN, false, ""},
		{429, "out of bounds", VERDICT_OPEN, false, ""},
		{500, "out of bounds", VERDICT_OPEN, false, ""},
		{302, "", VERDICT_OPEN, false, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct http_response a = {.status = table[i].status, .body = BUF_MAX(1024)};

		buf_adds(&a.body, table[i].body);
		struct store_answer s = store_answer_of(&a);

		if (s.verdict != table[i].verdict || s.other_time != table[i].other_time ||
			!strstr(s.help, table[i].help))
			fail_msg("row %zu: %d %d %s", i, (int)s.verdict, s.other_time, s.help);
		buf_done(&a.body);
	}
}

/* Returns the place in the request of the samples of this time. */
static const char *place_of(const struct buf *request, int64_t at_ms)
{
	AUTO(buf_done) struct buf time = BUF_MAX(16);

	varint_add(&time, (uint64_t)at_ms);
	const char *ret = memmem(request->data, request->len, time.data, time.len);

	assert_non_null(ret);
	return ret;
}

/* A store without a window drops a run with an earlier time without a word if it comes after another
 * run of the same request. */
static void the_runs_of_a_request_are_in_the_order_of_their_times(void **state)
{
	const struct run first = {.run_id = "first", .job_name = "j", .ended_at = 2000.5},
			 earlier = {.run_id = "earlier", .job_name = "j", .ended_at = 2000.4},
			 last = {.run_id = "last", .job_name = "k", .ended_at = 2000.6};
	const struct run *const run[] = {&first, &earlier, &last};
	AUTO(buf_done) struct buf body = BUF_MAX(1 << 20);
	AUTO(buf_done) struct buf request = BUF_MAX(1 << 20);

	assert_int_equal(to_store.write(&body, run, ARRAY_LEN(run)), ARRAY_LEN(run));
	unpack(&body, &request);
	assert_true(place_of(&request, 2000400) < place_of(&request, 2000500));
	assert_true(place_of(&request, 2000500) < place_of(&request, 2000600));
}

static void a_refusal_of_several_runs_decides_about_none(void **state)
{
	const struct run one = {.run_id = "one", .job_name = "j", .ended_at = 3000.5},
			 other = {.run_id = "other", .job_name = "j", .ended_at = 3000.6};
	const struct run *const run[] = {&one, &other};
	AUTO(arena_done) struct arena arena = {0};
	struct http_response refused = {.status = 400, .body = BUF_MAX(1024)};
	enum run_verdict verdict[ARRAY_LEN(run)] = {VERDICT_OPEN, VERDICT_OPEN};

	buf_adds(&refused.body, "out of order sample");
	to_store.read(&refused, run, 2, verdict, &arena);
	/* The store may have taken one of the two. They are sent again, one at a time. */
	assert_int_equal(verdict[0], VERDICT_OPEN);
	assert_int_equal(verdict[1], VERDICT_OPEN);
	to_store.read(&refused, run, 1, verdict, &arena);
	assert_int_equal(verdict[0], VERDICT_REFUSED);
	buf_done(&refused.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(series_carry_all_that_a_recommendation_reads),
		cmocka_unit_test(no_series_is_for_nothing),
		cmocka_unit_test(a_float_survives_a_store_that_cuts_digits_off),
		cmocka_unit_test(a_reason_with_a_number_is_no_series_of_its_own),
		cmocka_unit_test(a_block_is_read_back),
		cmocka_unit_test(a_request_has_the_bytes_of_the_message),
		cmocka_unit_test(a_container_is_a_label_if_it_has_a_name),
		cmocka_unit_test(two_runs_of_one_job_have_two_times),
		cmocka_unit_test(rounded_ends_of_two_writers_differ),
		cmocka_unit_test(all_runs_of_a_second_have_their_times),
		cmocka_unit_test(what_a_store_answers),
		cmocka_unit_test(the_runs_of_a_request_are_in_the_order_of_their_times),
		cmocka_unit_test(a_refusal_of_several_runs_decides_about_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
