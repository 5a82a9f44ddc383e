/* A run message is read back unchanged. The refusal of any other message names what is wrong. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "exporter/forward/run_message.h"
#include "recommender/kept_statistics.h"
#include "tests/support/sample_runs.h"

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void same_number(double a, double b)
{
	if (!isnan(a) || !isnan(b))
		assert_double_equal(a, b, 0);
}

/* Compares the sent run `a` with the received run `b`, which has the kept statistics alone. */
static void same_columns(const struct run *a, const struct run *b)
{
	size_t sent = 0;

	for (size_t i = 0; i < kept_columns_n; i++) {
		const struct distribution *x = run_column(a, kept_columns[i].column);
		const struct distribution *y = run_column(b, kept_columns[i].column);

		assert_int_equal(x != NULL, y != NULL);
		sent += y != NULL;
		for (unsigned s = 0; y && s < STATISTIC_COUNT; s++)
			same_number(statistic_get(x, s),
				kept_columns[i].statistics & STATISTIC_BIT(s) ?
					statistic_get(y, s) :
					(double)NAN);
	}
	assert_int_equal(a->n_stats, sent);
	assert_true(sent > 0 || b->n_stats == 0);
}

static void same_run(const struct run *a, const struct run *b)
{
	same_text(a->run_id, b->run_id);
	same_text(a->job_name, b->job_name);
	same_number(a->started_at, b->started_at);
	same_number(a->ended_at, b->ended_at);
	same_number(a->duration_seconds, b->duration_seconds);
	assert_int_equal(a->outcome, b->outcome);
	same_number(a->exit_code, b->exit_code);
	same_number(a->exit_signal, b->exit_signal);
	same_text(a->host, b->host);
	same_text(a->cpu_source, b->cpu_source);
	same_text(a->network_source, b->network_source);
	same_text(a->cpu_level, b->cpu_level);
	same_text(a->gpu_manufacturer, b->gpu_manufacturer);
	same_text(a->gpu_model, b->gpu_model);
	same_text(a->vendor_id, b->vendor_id);
	same_text(a->instance_type, b->instance_type);
	same_text(a->region, b->region);
	same_text(a->zone, b->zone);
	same_text(a->allocation, b->allocation);
	assert_int_equal(a->architecture, b->architecture);
	same_text(a->memory_source, b->memory_source);
	assert_int_equal(a->samples, b->samples);
	same_number(a->interval_seconds, b->interval_seconds);
	same_number(a->requested_cpu_cores, b->requested_cpu_cores);
	same_number(a->requested_memory_bytes, b->requested_memory_bytes);
	same_number(a->memory_limit_bytes, b->memory_limit_bytes);
	same_number(a->input_bytes, b->input_bytes);
	same_number(a->attempt, b->attempt);
	same_number(a->cpu_missed_seconds, b->cpu_missed_seconds);
	same_number(a->address_limit_bytes, b->address_limit_bytes);
	same_number(a->address_peak_bytes, b->address_peak_bytes);
	same_text(a->end_reason, b->end_reason);
	same_text(a->network_source, b->network_source);
	assert_int_equal(a->architecture, b->architecture);
	same_text(a->vendor_id, b->vendor_id);
	same_text(a->instance_type, b->instance_type);
	same_text(a->region, b->region);
	same_text(a->zone, b->zone);
	same_text(a->allocation, b->allocation);
	same_columns(a, b);
}

static void what_is_told_is_read(void **state)
{
	struct runs runs = sample_runs();

	for (size_t i = 0; i < runs.n; i++) {
		AUTO(arena_done) struct arena arena = {0};
		AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
		struct run got;
		struct err e = {0};

		if (runs.run[i].outcome == OUTCOME_RUNNING)
			continue;
		runs.run[i].vendor_id = "aws";
		runs.run[i].instance_type = "m7g.large";
		runs.run[i].architecture = ARCHITECTURE_ARM64;
		runs.run[i].cpu_level = "x86-64-v3";
		runs.run[i].gpu_manufacturer = "AMD";
		runs.run[i].gpu_model = "AMD Instinct MI300X";
		runs.run[i].address_limit_bytes = 3e9;
		runs.run[i].address_peak_bytes = 2e9;
		runs.run[i].end_reason = "Evicted";
		json_t *told = run_message(&runs.run[i]);

		json_write(&text, told);
		json_decref(told);
		if (run_message_read(&got, buf_text(&text), text.len, &arena, &e))
			fail_msg("%s: %s", buf_text(&text), e.text);
		same_run(&got, &runs.run[i]);
	}
}

static void a_time_limit_is_told_as_outcome_or_as_reason(void **state)
{
	static const struct {
		const char *told, *reason;
		enum outcome outcome;
	} table[] = {
		{"\"outcome\":\"DeadlineExceeded\"", "DeadlineExceeded", OUTCOME_FAILED},
		{"\"outcome\":\"DeadlineExceeded\",\"end_reason\":\"too long\"", "too long",
			OUTCOME_FAILED},
		{"\"outcome\":\"failed\",\"end_reason\":\"DeadlineExceeded\"", "DeadlineExceeded",
			OUTCOME_FAILED},
		{"\"outcome\":\"unknown\",\"end_reason\":\"DeadlineExceeded\"", "DeadlineExceeded",
			OUTCOME_FAILED},
		{"\"outcome\":\"unknown\",\"end_reason\":\"Error\"", "Error", OUTCOME_UNKNOWN},
		{"\"outcome\":\"oom_killed\",\"end_reason\":\"DeadlineExceeded\"",
			"DeadlineExceeded", OUTCOME_OOM_KILLED},
		{"\"outcome\":\"failed\"", NULL, OUTCOME_FAILED},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
		struct run got;
		struct err e = {0};

		buf_addf(&text,
			"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":1,\"ended_at\":2,"
			"\"duration_seconds\":1,%s,\"columns\":{}}",
			table[i].told);
		if (run_message_read(&got, buf_text(&text), text.len, &arena, &e))
			fail_msg("%s: %s", table[i].told, e.text);
		assert_int_equal(got.outcome, table[i].outcome);
		same_text(got.end_reason, table[i].reason);
	}
}

#define RUN                                                                                        \
	"\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":1,\"ended_at\":2,"                     \
	"\"duration_seconds\":1,"
#define GOOD RUN "\"outcome\":\"failed\",\"columns\":{}"

static const struct {
	const char *text, *refused_for; /* NULL = accepted */
} cases[] = {
	{"{" GOOD "}", NULL},
	{"{" GOOD ",\"of_a_newer_exporter\":[1]}", NULL},
	{"", "one run as a JSON object, or an array of 1 to 1024 runs: the body is empty"},
	{"[]", "runs: the array is empty"},
	{"7", "runs: '[' or '{' expected near '7'"},
	{"[{" GOOD "}]", "one run as a JSON object"},
	{"{" GOOD, "one run as a JSON object"},
	{"{" GOOD ",\"run_id\":\"twice\"}", "one run as a JSON object"},
	{"{\"job_name\":\"j\"}",
		"run_id is missing: accepted is a text of 1 to 39 bytes without control characters"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\"}",
		"started_at is missing: accepted is a number of seconds since 1970 UTC from 0 to"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":\"2026-11-26T10:00:00\"}",
		"started_at: accepted is a number of seconds since 1970 UTC from 0 to "
		"9.00719925474099e+15, or a time such as \"2026-11-21T08:45:12.123Z\", not "
		"\"2026-11-26T10:00:00\""},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":\"2026-13-26T10:00:00Z\"}",
		"started_at: accepted is a number"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":\"\"}",
		"started_at: accepted is a number"},
	{"{\"runs\":[{" GOOD "}]}", "one run as a JSON object"},
	{"{\"runs\":[]}", "runs: the array is empty"},
	{"{\"runs\":7}", "run_id is missing"},
	{"{" RUN "\"columns\":{}}", "outcome is missing: accepted is succeeded, failed, "},
	{"{" RUN "\"outcome\":\"running\",\"columns\":{}}", "outcome: accepted is succeeded"},
	{"{" RUN "\"outcome\":\"Evicted\",\"columns\":{}}", "outcome: accepted is succeeded"},
	{"{" GOOD ",\"end_reason\":\"\\u0007\"}", "end_reason: accepted is a text"},
	{"{" GOOD ",\"end_reason\":\"\"}", "end_reason: accepted is a text of 1 to 63 bytes"},
	{"{" RUN "\"outcome\":\"failed\"}", "columns is missing: accepted is"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":[]}", "columns: accepted is"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"a b\":{\"n\":1}}}", "column a b: accepted"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{}}}", "column cpu: n is missing"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{\"n\":1.5}}}",
		"column cpu: n: accepted"},
	{"{" RUN "\"outcome\":\"failed\",\"columns\":{\"cpu\":{\"n\":1,\"mean\":\"1\"}}}",
		"column cpu: mean: accepted is a number"},
	{"{" GOOD ",\"host\":\"a\\nb\"}", "host: accepted is a text"},
	{"{" GOOD ",\"host\":\"\"}", "host: accepted is a text of 1 to"},
	{"{" GOOD ",\"samples\":-1}", "samples: accepted is a whole number"},
	{"{\"run_id\":\"0123456789012345678901234567890123456789\"}",
		"run_id: accepted is a text of 1 to 39"},
	{"{\"run_id\":\"r\\u0000s\"}", "run_id: accepted is a text of 1 to 39 bytes"},
	{"{\"run_id\":\"r\\ud800\"}", "run_id: accepted is a text of 1 to 39 bytes"},
	{"{\"run_id\":\"r\xff\"}", "run_id: accepted is a text of 1 to 39 bytes"},
	{"{" GOOD ",\"samples\":18446744073709551615}", "samples: accepted is a whole number"},
	{"{" GOOD ",\"machine_cpus\":1e999}", "machine_cpus: accepted is a number"},
	{"{" GOOD ",\"a\":{\"b\":1,\"b\":1}}", "two members of one name, here b"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":-1,\"ended_at\":2,"
	 "\"duration_seconds\":1,\"outcome\":\"failed\",\"columns\":{}}",
		"started_at: accepted is a number of seconds since 1970 UTC from 0 to "
		"9.00719925474099e+15, or a time such as \"2026-11-21T08:45:12.123Z\", not -1"},
	{"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":1,\"ended_at\":2,"
	 "\"duration_seconds\":-1,\"outcome\":\"failed\",\"columns\":{}}",
		"duration_seconds: accepted"},
};

static void what_is_no_run_is_refused_with_the_reason(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct run got = {.run_id = "untouched"};
		struct err e = {0};
		int code = run_message_read(&got, cases[i].text, strlen(cases[i].text), &arena, &e);

		if (!cases[i].refused_for && code)
			fail_msg("%s: %s", cases[i].text, e.text);
		if (cases[i].refused_for &&
			(code != -EINVAL || !strstr(e.text, cases[i].refused_for) ||
				strcmp(got.run_id, "untouched") != 0))
			fail_msg("%s: %d %s", cases[i].text, code, e.text);
	}
}

static void a_time_may_be_a_text(void **state)
{
	static const char text[] =
		"{\"runs\":[{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":\"2026-11-26T10:00:00.125Z\","
		"\"ended_at\":\"2026-11-26T11:00:01.5+01:00\",\"duration_seconds\":1.375,"
		"\"outcome\":\"failed\",\"columns\":{}},7],\"job_name\":\"j\"}";
	AUTO(arena_done) struct arena arena = {0};
	struct run_batch batch;

	assert_int_equal(run_batch_read(&batch, text, sizeof text - 1, &arena, NULL), 0);
	assert_int_equal(batch.n, 2);
	assert_true(batch.is_list);
	assert_int_equal(batch.told[0].wrong.code, 0);
	assert_double_equal(batch.told[0].run.started_at, 1795687200.125, 1e-6);
	assert_double_equal(batch.told[0].run.ended_at, 1795687201.5, 1e-6);
	assert_int_equal(batch.told[1].wrong.code, -EINVAL);
}

static void too_many_runs_are_refused_with_their_number(void **state)
{
	AUTO(buf_done) struct buf text = BUF_MAX(1 << 16);
	AUTO(arena_done) struct arena arena = {0};
	struct run_batch batch;
	struct err e = {0};

	buf_adds(&text, "[{}");
	for (int i = 0; i < RUN_BATCH_MAX; i++)
		buf_adds(&text, ",{}");
	buf_adds(&text, "]");
	assert_int_equal(run_batch_read(&batch, text.data, text.len, &arena, &e), -EINVAL);
	assert_string_equal(e.text,
		"accepted is one run as a JSON object, or an array of 1 to 1024 runs: "
		"this array has 1025");
}

/* ---- numbers that a run can have, and the next that it cannot ---- */

struct posted {
	double started_at, ended_at, duration; /* 0 = 1110 for `ended_at`, 10 for `duration` */
	const char *outcome;                   /* NULL = succeeded */
	const char *more;                      /* members of the run */
	const char *column, *numbers;          /* NULL = no column */
	const char *refused_for;               /* NULL = accepted */
};

#define MACHINE ",\"machine_cpus\":4,\"machine_memory_bytes\":8589934592,\"interval_seconds\":1"
#define CPU_TIME                                                                                   \
	"column cpu_seconds: sum is 48.1; possible is 0 to 48 (4 CPUs for 10 s, plus 10 % and 1 s)"

static const struct posted posted[] = {
	/* The accepted maximum is 48 s: 4 CPUs for 10 s, plus 10 %, plus 1 s for each CPU. */
	{.more = MACHINE, .column = "cpu_seconds", .numbers = "\"sum\":48"},
	{.more = MACHINE,
		.column = "cpu_seconds",
		.numbers = "\"sum\":48.1",
		.refused_for = CPU_TIME},
	{.more = MACHINE,
		.column = "cpu_user_seconds",
		.numbers = "\"sum\":48.1",
		.refused_for = "column cpu_user_seconds: sum"},
	{.more = MACHINE,
		.column = "cpu_system_seconds",
		.numbers = "\"sum\":48.1",
		.refused_for = "column cpu_system_seconds: sum"},
	{.more = MACHINE, .column = "cpu_wait_seconds", .numbers = "\"sum\":4800"},
	{.more = MACHINE,
		.column = "cpu_wait_seconds",
		.numbers = "\"sum\":-1",
		.refused_for = "column cpu_wait_seconds: sum: accepted is a number from 0 on"},
	/* The number of CPUs is unknown, so the maximum is for 16384 CPUs. */
	{.column = "cpu_seconds", .numbers = "\"sum\":196608"},
	{.column = "cpu_seconds",
		.numbers = "\"sum\":196609",
		.refused_for = "possible is 0 to 196608"},
	/* The recorded duration of an interrupted run is not its real duration. */
	{.outcome = "interrupted",
		.more = MACHINE,
		.column = "cpu_seconds",
		.numbers = "\"sum\":48.1"},
	{.outcome = "interrupted",
		.more = MACHINE,
		.column = "cpu_seconds",
		.numbers = "\"sum\":12623040000"}, /* 4 CPUs for a century */
	{.outcome = "interrupted",
		.more = MACHINE,
		.column = "cpu_seconds",
		.numbers = "\"sum\":12623040001",
		.refused_for =
			"column cpu_seconds: sum is 12623040001; possible is 0 to 12623040000"},
	{.column = "disk_grown_bytes", .numbers = "\"max\":18014398509481984"}, /* 16 PiB */
	{.column = "disk_grown_bytes",
		.numbers = "\"max\":18014398509481988",
		.refused_for = "column disk_grown_bytes: max"},
	{.column = "system_disk_space_used_bytes",
		.numbers = "\"max\":18014398509481988",
		.refused_for = "column system_disk_space_used_bytes: max"},
	/* The shortest reading is half of the interval of 1 s. The limit is (4 CPUs x 0.5 s + 10 %
	 * + 4 s) / 0.5 s = 12.4. */
	{.more = MACHINE, .column = "cpu_cores", .numbers = "\"mean\":3,\"max\":12.4"},
	{.more = MACHINE,
		.column = "cpu_cores",
		.numbers = "\"mean\":3,\"max\":12.5",
		.refused_for = "column cpu_cores: max is 12.5; possible is 0 to 12.4"},
	{.column = "cpu_cores", .numbers = "\"max\":16384"},
	/* Without an interval, it is at least that of --sample.interval. */
	{.more = ",\"machine_cpus\":2", .column = "cpu_cores", .numbers = "\"max\":42.2"},
	{.more = ",\"machine_cpus\":2",
		.column = "cpu_cores",
		.numbers = "\"max\":42.3",
		.refused_for = "column cpu_cores: max is 42.3; possible is 0 to 42.2"},
	{.column = "open_fds", .numbers = "\"max\":1e19"},
	{.column = "open_fds",
		.numbers = "\"max\":2e19",
		.refused_for =
			"column open_fds: max is 2e+19; possible is 0 to 1.84467440737096e+19"},
	{.column = "cpu_cores",
		.numbers = "\"max\":16385",
		.refused_for = "possible is 0 to 16384"},
	{.more = MACHINE, .column = "memory_peak_bytes", .numbers = "\"max\":8589934592"},
	{.more = MACHINE,
		.column = "memory_peak_bytes",
		.numbers = "\"max\":8589934593",
		.refused_for =
			"column memory_peak_bytes: max is 8589934593; possible is 0 to 8589934592 (the memory of the machine)"},
	{.more = MACHINE,
		.column = "memory_bytes",
		.numbers = "\"mean\":8589934593",
		.refused_for = "column memory_bytes: mean"},
	{.more = MACHINE,
		.column = "memory_cgroup_peak_bytes",
		.numbers = "\"max\":8589934593",
		.refused_for = "column memory_cgroup_peak_bytes: max"},
	{.more = MACHINE,
		.column = "memory_rss_bytes",
		/* Accepted, because RSS counts shared memory several times. */
		.numbers = "\"max\":8589934593"},
	{.more = MACHINE, .column = "memory_bytes", .numbers = "\"sum\":1e15"},
	{.column = "memory_peak_bytes", .numbers = "\"max\":140737488355328"},
	{.column = "memory_peak_bytes",
		.numbers = "\"max\":140737488355329",
		.refused_for = "(no machine has more)"},
	{.column = "memory_peak_bytes",
		.numbers = "\"max\":1e15",
		.refused_for = "(no machine has more)"},
	{.column = "vram_peak_bytes",
		.numbers = "\"max\":140737488355329",
		.refused_for = "column vram_peak_bytes"},
	{.column = "gpus_used", .numbers = "\"max\":1024"},
	{.column = "gpus_used", .numbers = "\"max\":1025", .refused_for = "column gpus_used: max"},
	{.column = "processes", .numbers = "\"max\":4194304"},
	{.column = "processes",
		.numbers = "\"max\":4194305",
		.refused_for = "column processes: max"},
	{.column = "network_sent_bytes", .numbers = "\"sum\":1152921504606846976"},
	{.column = "network_sent_bytes",
		.numbers = "\"sum\":1152921504606847232",
		.refused_for = "column network_sent_bytes: sum"},
	{.column = "disk_read_bytes",
		.numbers = "\"min\":-1",
		.refused_for = "column disk_read_bytes: min: accepted"},
	/* The values of a distribution must be in order. */
	{.column = "x",
		.numbers =
			"\"min\":1,\"mean\":1,\"max\":1,\"p50\":1,\"p95\":1,\"p99\":1,\"sum\":1"},
	{.column = "x",
		.numbers = "\"min\":2,\"mean\":1",
		.refused_for = "column x: accepted is min <= mean <= max"},
	{.column = "x",
		.numbers = "\"mean\":2,\"max\":1,\"sum\":1",
		.refused_for = "min <= mean <= max"},
	/* A column without a sum is a rate. The mean of a rate may be above its largest sample. */
	{.column = "x", .numbers = "\"mean\":2,\"max\":1"},
	{.column = "x", .numbers = "\"min\":2,\"max\":1", .refused_for = "min <= p50"},
	{.column = "x", .numbers = "\"min\":2,\"p50\":1", .refused_for = "min <= p50"},
	{.column = "x", .numbers = "\"p50\":2,\"p95\":1", .refused_for = "p50 <= p95"},
	{.column = "x", .numbers = "\"p95\":2,\"p99\":1", .refused_for = "p95 <= p99"},
	{.column = "x", .numbers = "\"p99\":2,\"max\":1", .refused_for = "p99 <= max"},
	/* times */
	{.started_at = 1100.5, .ended_at = 1100.5, .duration = 1},
	{.started_at = 1100.5,
		.ended_at = 1100.25,
		.duration = 1,
		.refused_for = "ended_at: accepted is started_at, 1100.5, or later"},
	{.started_at = 1100, .duration = 12}, /* the maximum is 10 s, plus 10 %, plus 1 s */
	{.started_at = 1100,
		.duration = 12.1,
		.refused_for =
			"duration_seconds: accepted is the time from started_at to ended_at, 10, give or take 10 % and 1 s, not 12.1"},
	{.started_at = 1098, .duration = 10},
	{.started_at = 1097.9, .duration = 10, .refused_for = "duration_seconds: accepted is"},
	{.started_at = 1097.9, .duration = 10, .outcome = "interrupted"},
	{.started_at = 1100,
		.duration = 12.1,
		.outcome = "interrupted",
		.refused_for = "duration_seconds: accepted is"},
	/* numbers of the run */
	{.more = ",\"exit_code\":255"},
	{.more = ",\"exit_code\":256",
		.refused_for = "exit_code: accepted is a whole number from 0 to 255, not 256"},
	{.more = ",\"exit_code\":1.5", .refused_for = "exit_code: accepted"},
	{.more = ",\"exit_signal\":127"},
	{.more = ",\"exit_signal\":128", .refused_for = "exit_signal: accepted"},
	{.more = ",\"attempt\":1000"},
	{.more = ",\"attempt\":1001", .refused_for = "attempt: accepted"},
	{.more = ",\"attempt\":0", .refused_for = "attempt: accepted"},
	{.more = ",\"requested_cpu_cores\":0", .refused_for = "requested_cpu_cores: accepted"},
	{.more = ",\"requested_memory_bytes\":0",
		.refused_for = "requested_memory_bytes: accepted"},
	{.more = ",\"machine_cpus\":16384"},
	{.more = ",\"machine_cpus\":16385", .refused_for = "machine_cpus: accepted"},
	{.more = ",\"machine_cpus\":0", .refused_for = "machine_cpus: accepted"},
	{.more = ",\"machine_memory_bytes\":140737488355329",
		.refused_for = "machine_memory_bytes: accepted"},
	{.more = ",\"requested_cpu_cores\":1000000"},
	{.more = ",\"requested_cpu_cores\":1000001",
		.refused_for = "requested_cpu_cores: accepted"},
	{.more = ",\"requested_memory_bytes\":1000000000000000000"},
	{.more = ",\"requested_memory_bytes\":1000000000000000128",
		.refused_for = "requested_memory_bytes: accepted"},
	{.more = ",\"cpu_missed_seconds\":-1", .refused_for = "cpu_missed_seconds: accepted"},
};

static void put_posted(struct buf *text, const struct posted *p)
{
	buf_addf(text,
		"{\"run_id\":\"r\",\"job_name\":\"j\",\"started_at\":%.10g,\"ended_at\":%.10g,"
		"\"duration_seconds\":%.10g,\"outcome\":\"%s\"%s,\"columns\":{",
		p->started_at > 0 ? p->started_at : 1100, p->ended_at > 0 ? p->ended_at : 1110,
		p->duration > 0 ? p->duration : 10, p->outcome ? p->outcome : "succeeded",
		p->more ? p->more : "");
	if (p->column)
		buf_addf(text, "\"%s\":{\"n\":1,%s}", p->column, p->numbers);
	buf_adds(text, "}}");
}

static void impossible_numbers_are_refused_at_their_bound(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(posted); i++) {
		AUTO(arena_done) struct arena arena = {0};
		AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
		const char *why = posted[i].refused_for;
		struct run got;
		struct err e = {0};

		put_posted(&text, &posted[i]);
		int code = run_message_read(&got, buf_text(&text), text.len, &arena, &e);

		if (why ? code != -EINVAL || !strstr(e.text, why) : code)
			fail_msg("%s: %d %s", buf_text(&text), code, e.text);
	}
}

static void a_run_is_neither_older_than_the_history_nor_of_the_future(void **state)
{
	static const struct {
		double started_at, ended_at, retention;
		const char *refused_for;
	} ages[] = {
		{9990, 10000, 100, NULL},
		{10300, 10300, 100, NULL},
		{10300.5, 10300.5, 100,
			"started_at: accepted is a time up to 300 s after now, 10000, not 10300.5"},
		{10400, 10500, 100, "now, 10000, not 10400"},
		{10300, 10300.5, 100, "ended_at: accepted is a time up to 300 s after now"},
		{1, 9900, 100, NULL}, /* the age of a run counts from its end */
		{1, 9899.5, 100, "ended_at: accepted is a time from 9900 on"},
		{1, 2, 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		const struct run r = {
			.started_at = ages[i].started_at, .ended_at = ages[i].ended_at};
		struct err e = {0};
		int code = run_message_check_age(&r, 10000, ages[i].retention, &e);

		if (ages[i].refused_for ? code != -EINVAL || !strstr(e.text, ages[i].refused_for) :
					  code)
			fail_msg("case %zu: %d %s", i, code, e.text);
	}
}

/* The wall clock steps during a run of 10 s that ends at 1110. */
static void a_stepped_clock_refuses_no_run(void **state)
{
	static const double started_at[] = {1100, 1, 2000};

	for (size_t i = 0; i < ARRAY_LEN(started_at); i++) {
		AUTO(arena_done) struct arena arena = {0};
		AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
		struct run r = sample_runs().run[2], got;
		struct err e = {0};

		r.started_at = started_at[i];
		r.ended_at = 1110;
		r.duration_seconds = 10;
		json_t *told = run_message(&r);

		json_write(&text, told);
		json_decref(told);
		if (run_message_read(&got, buf_text(&text), text.len, &arena, &e))
			fail_msg("start %g: %s", started_at[i], e.text);
		assert_double_equal(got.started_at, 1100, 0);
	}
}

/* Earlier versions stored requests and attempts of 0, and columns without a value. The receiver takes
 * none of these, and the rest of the run must not be lost. */
static void a_zero_that_is_no_value_is_not_told(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(buf_done) struct buf text = BUF_MAX(RUN_MESSAGE_MAX);
	struct run r = sample_runs().run[2], got;
	struct column_stats *columns = arena_alloc(&arena, r.n_stats * sizeof *columns);
	struct err e = {0};

	memcpy(columns, r.stats, r.n_stats * sizeof *columns);
	assert_true(r.n_stats > 1);
	columns[0].d.n = 0;
	r.stats = columns;
	r.requested_cpu_cores = r.requested_memory_bytes = r.attempt = r.exit_signal = 0;
	json_t *told = run_message(&r);

	json_write(&text, told);
	json_decref(told);
	if (run_message_read(&got, buf_text(&text), text.len, &arena, &e))
		fail_msg("%s", e.text);
	assert_true(isnan(got.requested_cpu_cores) && isnan(got.requested_memory_bytes));
	assert_true(isnan(got.attempt) && isnan(got.exit_signal));
	assert_null(run_column(&got, columns[0].column));
	assert_double_equal(got.duration_seconds, r.duration_seconds, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zero_that_is_no_value_is_not_told),
		cmocka_unit_test(what_is_told_is_read),
		cmocka_unit_test(a_time_limit_is_told_as_outcome_or_as_reason),
		cmocka_unit_test(what_is_no_run_is_refused_with_the_reason),
		cmocka_unit_test(a_time_may_be_a_text),
		cmocka_unit_test(too_many_runs_are_refused_with_their_number),
		cmocka_unit_test(impossible_numbers_are_refused_at_their_bound),
		cmocka_unit_test(a_run_is_neither_older_than_the_history_nor_of_the_future),
		cmocka_unit_test(a_stepped_clock_refuses_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
