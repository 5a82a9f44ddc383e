/* recommender/sizing/warning.c, run_warnings.c, mixed_jobs.c, recommender/run_labels.c: each warning
 * is given when it should be, and not otherwise. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "recommender/run_labels.h"
#include "recommender/sizing/run_warnings.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

static const struct sizing_options defaults;

static const char *text_of(const struct warnings *w, enum warning_code code)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->at[i].code == code)
			return w->at[i].text;
	return NULL;
}

/* Sizes with the default strategy. Returns the warning with this code, or NULL. */
static const char *told(const struct test_runs *t, const struct sizing_options *o,
	enum warning_code code, struct arena *arena)
{
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategies[0].size(&t->runs, o, arena, &s, &e), 0);
	return text_of(&s.warnings, code);
}

static void tells(const struct test_runs *t, const struct sizing_options *o, enum warning_code code,
	const char *expected)
{
	AUTO(arena_done) struct arena arena = {0};
	const char *text = told(t, o, code, &arena);

	if (!expected && text)
		fail_msg("%s is given: %s", warning_rows[code].code, text);
	if (!expected)
		return;
	if (!text)
		fail_msg("%s is not given", warning_rows[code].code);
	assert_string_equal(text, expected);
}

static void set_total(struct run *r, const char *column, double total)
{
	test_run_column(r, column, total / 10, total); /* the sum of a column is 10 x its mean */
}

static void every_warning_has_a_row(void **state)
{
	for (unsigned i = 0; i < WARNING_CODES; i++) {
		const struct warning_row *r = &warning_rows[i];

		assert_true(r->code && r->help);
		assert_int_equal(strspn(r->code, "abcdefghijklmnopqrstuvwxyz_"), strlen(r->code));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(r->code, warning_rows[k].code);
	}
}

static void codes_tell_the_same_as_the_warnings(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct warnings w = {0};

	assert_int_equal(warnings_codes(&w), 0);
	assert_int_equal(warnings_from_codes(0).n, 0);
	warnings_add(&w, &arena, WARNING_FEW_RUNS, 1, "info");
	warnings_add(&w, &arena, WARNING_NOT_SIZED, 0, "the last one");
	warnings_add(&w, &arena, WARNING_KILLED_AGAIN, 1, "critical");
	uint32_t codes = warnings_codes(&w);

	assert_int_equal(codes,
		1u << WARNING_FEW_RUNS | 1u << WARNING_NOT_SIZED | 1u << WARNING_KILLED_AGAIN);
	struct warnings again = warnings_from_codes(codes);

	assert_int_equal(again.n, 3);
	for (size_t i = 0; i < again.n; i++) {
		assert_int_equal(again.at[i].code, w.at[i].code); /* in the same order */
		assert_string_equal(again.at[i].text, "");
	}
	assert_int_equal(warnings_codes(&again), codes);
}

static void the_most_severe_is_first_and_each_is_there_once(void **state)
{
	AUTO(arena_done) struct arena arena = {0};
	struct warnings w = {0};

	assert_true(warnings_allow_apply(&w));
	warnings_add(&w, &arena, WARNING_RECLAIMABLE_MEMORY, 1, "info");
	warnings_add(&w, &arena, WARNING_WAITS_FOR_CPU, 1, "warning");
	assert_true(warnings_allow_apply(&w));
	warnings_add(&w, &arena, WARNING_KILLED_AGAIN, 1, "critical");
	warnings_add(&w, &arena, WARNING_WAITS_FOR_CPU, 2, "warning %d", 2);
	assert_false(warnings_allow_apply(&w));
	assert_int_equal(w.n, 3);
	assert_string_equal(w.at[0].text, "critical");
	assert_string_equal(w.at[1].text, "warning 2");
	assert_int_equal(w.at[1].runs, 2);
	assert_string_equal(w.at[2].text, "info");
	assert_true(warnings_have(&w, WARNING_KILLED_AGAIN));
	assert_false(warnings_have(&w, WARNING_FEW_RUNS));
}

static void steady_runs_give_no_warning(void **state)
{
	static struct test_runs t;

	test_runs_steady(&t, 20, 1000);
	for (const struct strategy *s = strategies; s->name; s++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing sized = {0};
		struct err e;

		assert_int_equal(s->size(&t.runs, &defaults, &arena, &sized, &e), 0);
		assert_int_equal(sized.warnings.n, 0);
	}
}

static void one_or_two_runs_are_few(void **state)
{
	static const char *const words[] = {
		"Only 1 successful run was measured. Check the request until there are 3.",
		"Only 2 successful runs were measured. Check the request until there are 3.",
		NULL,
	};
	static struct test_runs t, killed;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		test_run_succeeded(&t, 1, 100 * MIB);
		tells(&t, &defaults, WARNING_FEW_RUNS, words[i]);
	}
	test_run_add(&killed, OUTCOME_OOM_KILLED)->memory_limit_bytes = 1024 * MIB;
	tells(&killed, &defaults, WARNING_FEW_RUNS,
		"No successful run was measured yet. Check the request until there are 3.");
}

static void runs_without_numbers_are_told_while_they_are_recent(void **state)
{
	static struct test_runs t, old;

	for (size_t i = 0; i < 12; i++) {
		test_run_succeeded(&t, 1, 100 * MIB)->not_measured =
			i == 3 || i == 9 ? "no reading was possible" : NULL;
		test_run_succeeded(&old, 1, 100 * MIB)->not_measured =
			i == 10 ? "no reading was possible" : NULL;
	}
	tells(&t, &defaults, WARNING_NOT_MEASURED,
		"2 of the newest 10 successful runs have no numbers: no reading was possible. The "
		"request follows from the other runs.");
	tells(&old, &defaults, WARNING_NOT_MEASURED, NULL);
}

/* ---- a change ---- */

/* Adds runs with these peaks, newest first. */
static void add_peaks(struct test_runs *t, size_t n, const double mib[])
{
	*t = (struct test_runs){0};
	for (size_t i = 0; i < n; i++)
		test_run_succeeded(t, 1, mib[i] * MIB);
}

static void the_newest_runs_that_differ_are_an_unsettled_change(void **state)
{
	static const struct {
		size_t n;
		double mib[16];
		const char *words;
	} cases[] = {
		{8, {111, 100, 99, 100, 100, 101, 100, 99}, NULL}, /* the change is below 10 % */
		{8, {112, 100, 99, 100, 100, 101, 100, 99},
			"The newest run peaked at 112 MiB, the 7 before at 99 MiB to 101 MiB. The older runs count until there are 5 such runs. To leave them out now, ask with runs=1."},
		{8, {60, 62, 61, 100, 100, 101, 100, 99},
			"The newest 3 runs peaked at 60 MiB to 62 MiB, the 5 before at 99 MiB to 101 MiB. The older runs count until there are 5 such runs. To leave them out now, ask with runs=3."},
		{8, {60, 62, 99, 100, 100, 101, 61, 99}, NULL}, /* an earlier run was as low */
		{3, {200, 100, 100}, NULL},                     /* too few earlier runs */
		{4, {200, 100, 100, 100},
			"The newest run peaked at 200 MiB, the 3 before at 100 MiB. The older runs count until there are 5 such runs. To leave them out now, ask with runs=1."},
		/* Five new runs: the change is lasting. */
		{10, {200, 200, 200, 200, 200, 100, 100, 100, 100, 100}, NULL},
		/* The earlier peaks differ by a factor of four. Only a peak above twice the largest
		 * counts as a change. */
		{8, {790, 100, 200, 400, 150, 300, 250, 350}, NULL},
		{8, {810, 100, 200, 400, 150, 300, 250, 350},
			"The newest run peaked at 810 MiB, the 7 before at 100 MiB to 400 MiB. The older runs count until there are 5 such runs. To leave them out now, ask with runs=1."},
	};
	static struct test_runs t;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		add_peaks(&t, cases[i].n, cases[i].mib);
		tells(&t, &defaults, WARNING_CHANGE_NOT_SETTLED, cases[i].words);
	}
}

static void a_new_input_is_no_change(void **state)
{
	static const double mib[] = {200, 100, 100, 100, 100};
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	add_peaks(&t, ARRAY_LEN(mib), mib);
	for (size_t i = 0; i < ARRAY_LEN(mib); i++)
		t.run[i].input_bytes = i ? 1e9 + 1e6 * (double)i : 2e9;
	tells(&t, &defaults, WARNING_CHANGE_NOT_SETTLED, NULL);
	t.run[0].input_bytes = 1002e6;
	assert_non_null(told(&t, &defaults, WARNING_CHANGE_NOT_SETTLED, &arena));
}

static void inputs_outside_of_all_earlier_ones_are_told(void **state)
{
	static const struct {
		double input;
		const char *words;
	} cases[] = {
		{10.9 * 1024 * MIB, NULL},
		{11.1 * 1024 * MIB,
			"The announced input of 11.1 GiB is above all 10 earlier inputs (1.00 GiB to 10.0 GiB). The numbers are extrapolated. Check how this run goes."},
		{940 * MIB, NULL},
		{920 * MIB,
			"The announced input of 920 MiB is below all 10 earlier inputs (1.00 GiB to 10.0 GiB). The numbers are extrapolated. Check how this run goes."},
		{0, "The announced input of 0.00 MiB is below all 10 earlier inputs (1.00 GiB to 10.0 GiB). The numbers are extrapolated. Check how this run goes."},
	};
	static struct test_runs t, unknown;

	for (size_t i = 0; i < 10; i++) {
		test_run_succeeded(&unknown, 1, 100 * MIB);
		test_run_succeeded(&t, 1, 100 * MIB)->input_bytes = (double)(i + 1) * 1024 * MIB;
	}
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sizing_options o = {.input_bytes = cases[i].input, .input_given = true};

		tells(&t, &o, WARNING_INPUT_BEYOND_SEEN, cases[i].words);
		tells(&unknown, &o, WARNING_INPUT_BEYOND_SEEN, NULL);
	}
	tells(&t, &defaults, WARNING_INPUT_BEYOND_SEEN, NULL);
}

/* ---- CPU, tasks, GPUs, files ---- */

/* Adds `n` steady runs, and gives each run one column. */
static void add_columns(struct test_runs *t, size_t n, const char *column, double total)
{
	*t = (struct test_runs){0};
	for (size_t i = 0; i < n; i++)
		set_total(test_run_succeeded(t, 1, 100 * MIB), column, total);
}

static void cpu_time_in_doubt_is_told(void **state)
{
	static struct test_runs t;

	add_columns(&t, 12, "cpu_seconds", 100);
	for (size_t i = 0; i < t.runs.n; i++)
		t.run[i].cpu_foreign_seconds = 30;
	tells(&t, &defaults, WARNING_UNCERTAIN_CPU,
		"In the newest 10 runs, the CPU time is uncertain. 1000 s of CPU time were measured. Up to 300 s of it may be of other processes. 10 of 10 runs are too uncertain to size cores. Check the number of CPUs, or start the job with \"rightsize-exporter run\", which counts more exactly.");
	for (size_t i = 0; i < 10; i++)
		t.run[i].cpu_foreign_seconds = 4;
	tells(&t, &defaults, WARNING_UNCERTAIN_CPU, NULL);
}

static void waits_for_a_cpu_are_told(void **state)
{
	static struct test_runs t;

	add_columns(&t, 5, "cpu_seconds", 80);
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "cpu_wait_seconds", 20);
	tells(&t, &defaults, WARNING_WAITS_FOR_CPU,
		"In the newest 5 runs, threads waited 100 s for a CPU, 20 % of the time that they "
		"could have run. Give the job more cores, or a less busy machine.");
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "cpu_throttled_seconds", 10);
	tells(&t, &defaults, WARNING_WAITS_FOR_CPU,
		"In the newest 5 runs, threads waited 100 s for a CPU, 20 % of the time that they could have run. A CPU limit held them back for 50 s. Raise or remove it.");
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "cpu_wait_seconds", 120);
	tells(&t, &defaults, WARNING_BUSY_MACHINE, NULL); /* a limit can be raised */
	add_columns(&t, 5, "cpu_seconds", 80);
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "cpu_wait_seconds", 120);
	tells(&t, &defaults, WARNING_WAITS_FOR_CPU, NULL);
	tells(&t, &defaults, WARNING_BUSY_MACHINE,
		"In the newest 5 runs, threads waited 10.0 min for a CPU, 60 % of the time that they could have run. The job may use more cores on a less busy machine.");
	add_columns(&t, 5, "cpu_seconds", 80);
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "cpu_wait_seconds", 8);
	tells(&t, &defaults, WARNING_WAITS_FOR_CPU, NULL);
}

static void refused_tasks_are_told_while_they_are_recent(void **state)
{
	static struct test_runs t;

	add_columns(&t, 12, "pids_limit", 100);
	for (size_t i = 0; i < t.runs.n; i++)
		set_total(&t.run[i], "pids_refused", i > 9 ? 7 : 0);
	tells(&t, &defaults, WARNING_TASKS_REFUSED, NULL);
	add_columns(&t, 3, "pids_limit", 100);
	set_total(&t.run[1], "pids_refused", 7);
	tells(&t, &defaults, WARNING_TASKS_REFUSED,
		"The limit of 100 tasks refused 7 forks in 1 of the newest runs. Other jobs in the control group may be the cause. Raise it (pids.max, TasksMax), or let the job start fewer processes and threads.");
	/* The peak counts only if the run had the group for itself. */
	set_total(&t.run[1], "pids_peak", 100);
	tells(&t, &defaults, WARNING_TASKS_REFUSED,
		"The limit of 100 tasks refused 7 forks in 1 of the newest runs. Raise it "
		"(pids.max, TasksMax), or let the job start fewer processes and threads.");
	add_columns(&t, 1, "pids_refused", 1);
	set_total(&t.run[0], "pids_peak", 3);
	tells(&t, &defaults, WARNING_TASKS_REFUSED,
		"A limit of tasks refused 1 fork in 1 of the newest runs. Raise it (pids.max, "
		"TasksMax), or let the job start fewer processes and threads.");
}

static void idle_gpus_are_told(void **state)
{
	/* Each row: mean number of busy GPUs; number of GPUs; GPU memory; and the warning, NULL =
	 * none. NaN = unknown. */
	static const struct {
		double usage, gpus, vram;
		const char *words;
	} cases[] = {
		{0.3, 1, 4096 * MIB,
			"4 runs used 0.30 of 1 GPU on average (30 %), and up to 4.00 GiB of GPU memory. Request a smaller GPU, or share it with other jobs."},
		{0.51, 1, 4096 * MIB, NULL},
		{1.2, 4, NAN,
			"4 runs used 1.20 of 4 GPUs on average (30 %). Request fewer GPUs, or share them with other jobs."},
		{2.1, 4, NAN, NULL}, {NAN, 1, 4096 * MIB, NULL}, /* use is above half; unknown */
		{0, 0, NAN, NULL},                               /* the runs had no GPU */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		static struct test_runs t;

		t = (struct test_runs){0};
		for (size_t k = 0; k < 4; k++) {
			struct run *r = test_run_succeeded(&t, 1, 100 * MIB);

			test_run_column(r, "gpus_used", cases[i].gpus, cases[i].gpus);
			if (!isnan(cases[i].usage))
				test_run_column(r, "gpu_usage", cases[i].usage, 1);
			if (!isnan(cases[i].vram))
				test_run_column(r, "vram_bytes", cases[i].vram, cases[i].vram);
		}
		tells(&t, &defaults, WARNING_GPU_HARDLY_USED, cases[i].words);
	}
}

static void mapped_files_in_the_peak_are_told(void **state)
{
	/* Each row, in MiB: the run's peak; the largest amounts of anonymous memory, shared memory
	 * and mapped files; and the warning, NULL = none. NaN = unknown. */
	static const struct {
		double peak, anonymous, shmem, file;
		const char *words;
	} cases[] = {
		{520, 110, 0, 400,
			"At least 400 MiB of the largest peak, 520 MiB, are mapped files. The kernel can reclaim this memory. With less memory, the job reads these files again."},
		/* At the peak, at least 520 - 300 MiB of the files were mapped. */
		{520, 300, 0, 400,
			"At least 220 MiB of the largest peak, 520 MiB, are mapped files. The kernel can reclaim this memory. With less memory, the job reads these files again."},
		{520, 110, 300, 400, NULL}, /* 520 - 410 MiB is less than a quarter */
		{2000, 1550, 0, 400, NULL}, /* 400 MiB is less than a quarter of 2000 */
		{90, 30, 0, 60, NULL},      /* the files are libraries of a small job */
		{520, NAN, 0, 400, NULL},   /* the anonymous memory is unknown */
		{520, 110, 0, NAN, NULL},   /* the mapped files are unknown */
		{520, 110, NAN, 400,        /* the shared memory is unknown */
			"At least 400 MiB of the largest peak, 520 MiB, are mapped files. The kernel can reclaim this memory. With less memory, the job reads these files again."},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct {
			const char *column;
			double mib;
		} columns[] = {
			{"memory_anonymous_bytes", cases[i].anonymous},
			{"memory_shmem_bytes", cases[i].shmem},
			{"memory_file_bytes", cases[i].file},
		};
		static struct test_runs t;

		t = (struct test_runs){0};
		test_runs_steady(&t, 3, 50);
		struct run *r = test_run_succeeded(&t, 1, cases[i].peak * MIB);

		for (size_t k = 0; k < ARRAY_LEN(columns); k++)
			if (!isnan(columns[k].mib))
				test_run_column(r, columns[k].column, columns[k].mib * MIB,
					columns[k].mib * MIB);
		tells(&t, &defaults, WARNING_RECLAIMABLE_MEMORY, cases[i].words);
	}
}

/* ---- two jobs under one name ---- */

#define GROUPS                                                                                     \
	"These runs fall in two groups: 10 peaked at up to 518 MiB, and 10 at 3.91 GiB or more. No single request fits both: the best would waste 77 %. "

/* Adds 20 runs. Every second run, the newest first, needs 4000 MiB, the others about 500 MiB. */
static void add_groups(struct test_runs *t)
{
	*t = (struct test_runs){0};
	for (size_t i = 0; i < 20; i++)
		test_run_succeeded(t, 1, (i % 2 ? 4000 : 500 + (double)i) * MIB);
}

static void set_host(struct run *r, bool large, size_t i)
{
	(void)i;
	r->host = large ? "big-1" : "small-1";
}

static void set_instance_type(struct run *r, bool large, size_t i)
{
	set_host(r, large, i);
	r->instance_type = large ? "m7i.4xlarge" : "m7i.large";
}

static void set_attempt(struct run *r, bool large, size_t i)
{
	set_instance_type(r, large, i);
	r->attempt = large ? 2 : 1;
}

static void set_label(struct run *r, bool large, size_t i)
{
	static const char *const all[] = {
		"{\"run\":\"a\",\"of\":\"x\",\"customer\":\"acme \\\"one\\\"\"}",
		"{\"run\":\"b\",\"of\":\"x\",\"customer\":\"zoo\"}"};

	set_attempt(r, large, i);
	r->labels = all[large];
}

/* A client of POST /runs can send any text. */
static void set_odd_label(struct run *r, bool large, size_t i)
{
	static const char *const all[] = {"{\"of\":\"\x1b[31m\"}",
		"{\"of\":\"a text that is longer than what a sentence has room to show of it\"}"};

	(void)i;
	r->labels = all[large];
}

/* Sets the host for 8 of 10 runs of each group. A property tells the groups apart only from 9 of 10
 * runs on. */
static void set_most_hosts(struct run *r, bool large, size_t i)
{
	set_host(r, i < 4 ? !large : large, i);
}

/* Sets a label whose value differs in every run. Such a label cannot tell the groups apart. */
static void set_run_labels(struct run *r, bool large, size_t i)
{
	static char text[20][40];

	snprintf(text[i], sizeof text[i], "{\"run_id\":\"%s%zu\"}", large ? "l" : "s", i);
	r->labels = text[i];
}

static void what_tells_the_groups_apart_is_told(void **state)
{
	static const char nothing[] = GROUPS
		"Neither input size, labels, attempt, instance type nor host tells them apart. Give them their own job names.";
	static const struct {
		void (*set)(struct run *r, bool large, size_t i);
		const char *words;
	} cases[] = {
		{NULL, nothing},
		{set_host, GROUPS
			"The host tells them apart (such as \"small-1\" below, \"big-1\" above). Size the job for each host, or look for the difference."},
		{set_instance_type, GROUPS
			"The instance type tells them apart (such as \"m7i.large\" below, \"m7i.4xlarge\" above). Size the job for each type, or use one type."},
		{set_attempt, GROUPS
			"The attempt tells them apart (such as \"first attempt\" below, \"retry\" above). Give them their own job names."},
		{set_label, GROUPS
			"The label \"run\" tells them apart (such as \"a\" below, \"b\" above). Give them their own job names."},
		{set_odd_label, GROUPS
			"The label \"of\" tells them apart (such as \"?[31m\" below, \"a text that is longer than what a sent~4dc84c45\" above). Give them their own job names."},
		{set_most_hosts, nothing},
		{set_run_labels, nothing},
	};
	static struct test_runs t;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		add_groups(&t);
		for (size_t k = 0; cases[i].set && k < t.runs.n; k++)
			cases[i].set(&t.run[k], k % 2, k);
		tells(&t, &defaults, WARNING_MIXED_JOBS, cases[i].words);
	}
}

static void runs_by_input(struct test_runs *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double size = 1 + (double)(i * 7 % 10);

		test_run_succeeded(t, 1, (100 + 300 * size) * MIB)->input_bytes = 1e9 * size;
	}
}

static void a_name_is_mixed_if_a_split_would_help(void **state)
{
	static struct test_runs by_input, wild, few;
	AUTO(arena_done) struct arena arena = {0};
	const char *text;

	runs_by_input(&by_input, 30);
	text = told(&by_input, &defaults, WARNING_MIXED_JOBS, &arena);
	assert_non_null(text);
	assert_non_null(strstr(text, "The input size explains"));
	/* The next input size is given, so the warning is not needed. */
	tells(&by_input, &(struct sizing_options){.input_bytes = 1e9}, WARNING_MIXED_JOBS, NULL);
	for (size_t i = 0; i < 20; i++)
		test_run_succeeded(&wild, 1, exp2((double)(i * 7 % 20) / 4) * 100 * MIB);
	tells(&wild, &defaults, WARNING_MIXED_JOBS, NULL); /* there are no groups */
	add_groups(&few);
	few.runs.n = 9;
	tells(&few, &defaults, WARNING_MIXED_JOBS, NULL);
}

static void labels_are_read(void **state)
{
	static const struct {
		const char *labels, *name, *value; /* value NULL: there is no such label */
	} cases[] = {
		{"{\"a\":\"1\",\"b\":\"2\"}", "b", "2"},
		{"{ \"a\" : \"1\" , \"b\" : \"2\" }", "b", "2"},
		{"{\"a\":\"x\\\"y\\\\\",\"b\":\"2\"}", "a", "x\\\"y\\\\"},
		{"{\"a\":\"x\\\"y\\\\\",\"b\":\"2\"}", "b", "2"},
		{"{\"a\":\"\"}", "a", ""},
		{"{}", "a", NULL},
		{"{\"a\":1,\"b\":\"2\"}", "b", NULL},
		{"{\"a\":\"1", "a", NULL},
		{"{\"a\":\"1\\", "a", NULL},
		{"{\"a", "a", NULL},
		{"", "a", NULL},
		{NULL, "a", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct slice v = run_labels_find(cases[i].labels,
			(struct slice){cases[i].name, strlen(cases[i].name)});

		if (cases[i].value ? !v.data || !slice_is(v, cases[i].value) : v.data != NULL)
			fail_msg("%s: %.*s", cases[i].labels, (int)v.len, v.data ? v.data : "");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_warning_has_a_row),
		cmocka_unit_test(codes_tell_the_same_as_the_warnings),
		cmocka_unit_test(the_most_severe_is_first_and_each_is_there_once),
		cmocka_unit_test(steady_runs_give_no_warning),
		cmocka_unit_test(one_or_two_runs_are_few),
		cmocka_unit_test(runs_without_numbers_are_told_while_they_are_recent),
		cmocka_unit_test(the_newest_runs_that_differ_are_an_unsettled_change),
		cmocka_unit_test(a_new_input_is_no_change),
		cmocka_unit_test(inputs_outside_of_all_earlier_ones_are_told),
		cmocka_unit_test(cpu_time_in_doubt_is_told),
		cmocka_unit_test(waits_for_a_cpu_are_told),
		cmocka_unit_test(refused_tasks_are_told_while_they_are_recent),
		cmocka_unit_test(idle_gpus_are_told),
		cmocka_unit_test(mapped_files_in_the_peak_are_told),
		cmocka_unit_test(what_tells_the_groups_apart_is_told),
		cmocka_unit_test(a_name_is_mixed_if_a_split_would_help),
		cmocka_unit_test(labels_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
