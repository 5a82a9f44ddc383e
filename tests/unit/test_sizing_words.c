/* Sentences of a sizing that are not about sizes of memory and CPU: disk, sources of numbers, the
 * summary. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

#define GIB (1024 * MIB)

static const struct sizing_options defaults;

static struct sizing size_with(const char *name, const struct test_runs *t,
	const struct sizing_options *o, struct arena *arena)
{
	struct sizing s = {0};
	struct err e = {0};

	assert_int_equal(strategy_find(name)->size(&t->runs, o, arena, &s, &e), 0);
	return s;
}

static const char *explained(const struct sizing *s, const char *part)
{
	for (size_t i = 0; i < s->n_explain; i++)
		if (strstr(s->explain[i], part))
			return s->explain[i];
	return NULL;
}

static void disk_is_what_was_written_or_what_the_file_systems_grew_by(void **state)
{
	const struct {
		double written, grown; /* GiB; NaN = unknown */
		double least, most;    /* demand, GiB */
	} table[] = {
		{10, NAN, 10, 14},
		{10, 4, 4, 5.6}, /* the run overwrote or deleted data */
		{4, 10, 4, 5.6}, /* other processes wrote, too */
		{NAN, 10, NAN, NAN},
		{0, 10, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (size_t k = 0; k < 8; k++) {
			struct run *r = test_run_succeeded(&t, 1, GIB);

			if (!isnan(table[i].written)) /* the sum is ten times the mean */
				test_run_column(r, "disk_written_bytes",
					table[i].written * GIB / 10, table[i].written * GIB);
			if (!isnan(table[i].grown)) /* grows from 0 */
				test_run_column(r, "system_disk_space_used_bytes", GIB,
					table[i].grown * GIB);
		}
		struct sizing s = size_with("auto", &t, &defaults, &arena);

		if (isnan(table[i].least)) {
			assert_true(isnan(s.demand.disk_bytes));
			assert_null(explained(&s, "disk: "));
			continue;
		}
		assert_true(s.demand.disk_bytes >= table[i].least * GIB);
		assert_true(s.demand.disk_bytes <= table[i].most * GIB);
	}
}

static void two_sentences_say_it_all(void **state)
{
	static const struct {
		const char *what;
		size_t runs, attempt;
		enum outcome newest;
		const char *words[3];
	} table[] = {
		{"one", 1, 1, OUTCOME_SUCCEEDED,
			{"Request 1 CPU and 1.", ". One run says little: about 1 run in ",
				" may need more memory."}},
		{"many", 20, 1, OUTCOME_SUCCEEDED,
			{"Request 1 CPU and 1.", ". About 1 run in ", " may need more memory."}},
		{"retry", 20, 2, OUTCOME_SUCCEEDED,
			{"Request 1 CPU and ", ". This is for attempt 2, after ", "too small."}},
		{"killed", 20, 1, OUTCOME_OOM_KILLED,
			{"Request 1 CPU and ",
				". The newest run was killed for memory at 2.00 GiB.", ""}},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		struct sizing_options o = {.attempt = table[i].attempt};

		t = (struct test_runs){0};
		for (size_t k = 0; k < table[i].runs; k++)
			test_run_succeeded(&t, 1, GIB)->memory_source = "vmhwm";
		t.run[0].outcome = table[i].newest;
		t.run[0].memory_limit_bytes = 2 * GIB;
		/* The collectors record the limit as the peak of a killed run. */
		if (table[i].newest == OUTCOME_OOM_KILLED)
			test_run_peak(&t.run[0], 2 * GIB);
		struct sizing s = size_with("auto", &t, &o, &arena);

		for (size_t k = 0; k < 3; k++)
			if (!strstr(s.summary, table[i].words[k]))
				fail_msg("%s: no \"%s\" in \"%s\"", table[i].what,
					table[i].words[k], s.summary);
		assert_int_equal(s.summary[strlen(s.summary) - 1], '.');
		assert_true(strlen(s.summary) < 200);
		assert_string_equal(s.memory_source, "vmhwm");
	}
}

static void measures_that_differ_are_mixed(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};

	test_run_succeeded(&t, 1, GIB)->memory_source = "vmhwm";
	test_run_succeeded(&t, 1, GIB); /* unknown source */
	assert_string_equal(size_with("max", &t, &defaults, &arena).memory_source, "vmhwm");
	test_run_succeeded(&t, 1, GIB)->memory_source = "cgroup";
	assert_string_equal(size_with("max", &t, &defaults, &arena).memory_source, "mixed");
}

static void it_says_which_peak_is_sized_from(void **state)
{
	static const struct {
		const char *newer, *older; /* memory sources of two newer and two older runs */
		double group;              /* the control group's peak in GiB; NaN = unknown */
		const char *says[3];
	} table[] = {
		{"vmhwm", "vmhwm", NAN,
			{"the kernel's high-water mark of one process plus the other processes"}},
		{"samples", "samples", NAN,
			{"The peak of a run is the largest sum of its processes at one sample."}},
		{"taskstats", "taskstats", NAN, {"ended between two samples."}},
		{"rusage", "rusage", NAN, {"the high-water mark of its largest process"}},
		{"samples", "rusage", NAN,
			{"In 2 of 4 runs, the peak of a run is the largest sum",
				"In 2 of 4 runs, the peak of a run is the high-water mark of its largest"}},
		{"vmhwm", "vmhwm", 3,
			{"The peak of the control group, up to 3.00 GiB, is not used",
				"page cache"}},
		{NULL, NULL, 3, {NULL}},
		{"of another version", NULL, NAN, {NULL}},
	};
	static const char *const names[] = {"auto", "baseline", "max"};

	for (size_t i = 0; i < ARRAY_LEN(table) * ARRAY_LEN(names); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		const char *name = names[i % ARRAY_LEN(names)];
		size_t row = i / ARRAY_LEN(names);

		t = (struct test_runs){0};
		for (size_t k = 0; k < 4; k++) {
			struct run *r = test_run_succeeded(&t, 1, GIB);

			r->memory_source = k < 2 ? table[row].newer : table[row].older;
			test_run_column(r, "memory_peak_process_bytes", GIB / 2, GIB / 2);
			if (!isnan(table[row].group))
				test_run_column(r, "memory_cgroup_peak_bytes",
					table[row].group * GIB, table[row].group * GIB);
		}
		struct sizing s = size_with(name, &t, &defaults, &arena);
		bool said = table[row].says[0] != NULL;

		assert_int_equal(explained(&s, "he peak of a run is ") != NULL, said);
		assert_int_equal(explained(&s, "The largest single process had 512 MiB.") != NULL,
			said);
		for (size_t k = 0; k < 3 && table[row].says[k]; k++)
			if (!explained(&s, table[row].says[k]))
				fail_msg("%s, row %zu: no \"%s\"", name, row, table[row].says[k]);
		assert_int_equal(explained(&s, "The peak of the control group") != NULL,
			said && !isnan(table[row].group));
	}
}

static void tmpfs_is_counted_where_it_is_known_and_said_where_not(void **state)
{
	static const struct {
		double tmpfs, group_shmem, mapped, group_peak, expected; /* GiB */
		const char *says;
	} table[] = {
		{NAN, NAN, NAN, NAN, 1,
			"Files in tmpfs such as /dev/shm come on top: 1 successful run had no own control group"},
		{0, 0, 0, NAN, 1, NULL},
		{4, 5, 1, NAN, 5,
			"The peaks include files in tmpfs such as /dev/shm, up to 4.00 GiB."},
		/* The group's peak shows that tmpfs and processes did not peak together. */
		{4, 5, 1, 4.5, 4.5,
			"The peaks include files in tmpfs such as /dev/shm, up to 4.00 GiB."},
		/* The group was not charged for all memory of its processes. */
		{4, 5, 1, 0.5, 1,
			"The peaks include files in tmpfs such as /dev/shm, up to 4.00 GiB."},
		/* A version without the tmpfs column recorded these runs. */
		{NAN, 4, NAN, NAN, 5,
			"The peaks include files in tmpfs such as /dev/shm, up to 4.00 GiB."},
		{NAN, 4, 1, NAN, 4,
			"The peaks include files in tmpfs such as /dev/shm, up to 3.00 GiB."},
		{NAN, 1, 4, NAN, 1, NULL},
	};
	static const char *const names[] = {"auto", "baseline", "max"};

	for (size_t i = 0; i < ARRAY_LEN(table) * ARRAY_LEN(names); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		size_t row = i / ARRAY_LEN(names);
		const struct {
			const char *column;
			double gib;
		} columns[] = {
			{"memory_tmpfs_bytes", table[row].tmpfs},
			{"memory_cgroup_shmem_bytes", table[row].group_shmem},
			{"memory_shmem_bytes", table[row].mapped},
			{"memory_cgroup_peak_bytes", table[row].group_peak},
		};

		t = (struct test_runs){0};
		struct run *r = test_run_succeeded(&t, 1, GIB);

		for (size_t k = 0; k < ARRAY_LEN(columns); k++)
			if (!isnan(columns[k].gib))
				test_run_column(r, columns[k].column, 0, columns[k].gib * GIB);
		assert_double_equal(run_needs_memory(r), table[row].expected * GIB, 1);
		struct sizing s = size_with(names[i % ARRAY_LEN(names)], &t, &defaults, &arena);
		const char *said = explained(&s, "in tmpfs such as");

		assert_true(s.demand.memory_bytes >= table[row].expected * GIB);
		if ((said != NULL) != (table[row].says != NULL) ||
			(said && !strstr(said, table[row].says)))
			fail_msg("row %zu: \"%s\"", row, said ? said : "");
	}
}

static void one_run_is_no_reason_to_be_sure(void **state)
{
	static const struct {
		size_t runs;
		double least, most; /* chance */
		/* true = the range of the next peak is stated; with fewer runs it would be too
		 * narrow. */
		bool range;
	} table[] = {{1, 0.05, 0.1, false}, {2, 0.03, 0.08, false}, {3, 0.02, 0.06, true},
		{9, 0.005, 0.03, true}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (size_t k = 0; k < table[i].runs; k++)
			test_run_succeeded(&t, 1, GIB);
		struct sizing s = size_with("auto", &t, &defaults, &arena);

		if (!(s.memory_too_small > table[i].least && s.memory_too_small < table[i].most))
			fail_msg("%zu runs: %g", table[i].runs, s.memory_too_small);
		assert_non_null(strstr(s.summary, " may need more memory."));
		assert_int_equal(isnan(s.memory_low), !table[i].range);
		assert_int_equal(explained(&s, "memory: 4 of 5") != NULL, table[i].range);
	}
}

static void a_share_is_never_certain(void **state)
{
	static const struct {
		double share;
		const char *words;
	} table[] = {
		{0, "less than 0.1 %"},
		{0.0009, "less than 0.1 %"},
		{0.0013, "0.1 %"},
		{0.045, "4.5 %"},
		{0.25, "25 %"},
		{0.99, "99 %"},
		{0.999, "more than 99 %"},
		{1, "more than 99 %"},
	};
	char words[WORDING_MAX];

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_string_equal(wording_share(words, table[i].share), table[i].words);
}

/* An absurd duration in a history is treated as unknown. */
static void an_absurd_duration_is_none(void **state)
{
	static const double absurd[] = {1e308, 3.2e9, -5, INFINITY, -INFINITY, NAN};
	static const char *const names[] = {"auto", "baseline", "max"};

	for (size_t i = 0; i < ARRAY_LEN(absurd) * ARRAY_LEN(names); i++) {
		static struct test_runs t, known;
		AUTO(arena_done) struct arena arena = {0};
		double duration = absurd[i / ARRAY_LEN(names)];
		const char *name = names[i % ARRAY_LEN(names)];

		t = known = (struct test_runs){0};
		for (size_t k = 0; k < 12; k++) {
			bool odd = k % 3 == 1;
			struct run *r = test_run_succeeded(&t, 1, GIB);

			r->duration_seconds = odd ? duration : 100;
			assert_true(isnan(run_duration(r)) == odd);
			test_run_succeeded(&known, 1, GIB)->duration_seconds =
				odd ? (double)NAN : 100;
		}
		struct sizing s = size_with(name, &t, &defaults, &arena);
		struct sizing as = size_with(name, &known, &defaults, &arena);

		assert_string_equal(s.summary, as.summary);
		assert_null(strstr(s.summary, "nan"));
		assert_null(strstr(s.summary, "inf"));
		assert_double_equal(s.demand.duration_seconds, 100, 5);
		assert_int_equal(s.n_explain, as.n_explain);
		for (size_t k = 0; k < s.n_explain; k++)
			assert_string_equal(s.explain[k], as.explain[k]);
	}
}

/* The summary has at most 200 characters, the room in a list of jobs. It contains only known
 * facts. */
static void the_summary_is_short_and_tells_only_what_is_known(void **state)
{
	static const struct {
		struct resources request;
		double chance, killed_at, seconds;
		size_t runs;
		const char *text;
		double input; /* bytes; 0 = none is announced */
	} table[] = {
		{{1, 0, 0, 0}, NAN, NAN, NAN, 9, "Request 1 CPU."},
		{{1, 0, 0, 0}, NAN, NAN, NAN, 1, "Request 1 CPU. One run says little."},
		{{0, 300, 0, 0}, 0.02, NAN, 60, 9,
			"Request 300 MiB for about 60 s. About 1 run in 50 may need more memory."},
		{{16, 65536, 8, 0}, 0.3, NAN, 90000, 9,
			"Request 16 CPUs, 64.0 GiB and 8 GPUs for about 25.0 h. 30 % of runs may need "
			"more memory."},
		{{1, 300, 0, 0}, 1e-9, NAN, NAN, 9,
			"Request 1 CPU and 300 MiB. Fewer than 1 run in 2000 may need more memory."},
		{{1, 300, 0, 0}, 0.02, 200 * MIB, NAN, 9,
			"Request 1 CPU and 300 MiB. The newest run was killed for memory at 200 MiB."},
		{{1, 300, 0, 0}, 0.02, NAN, 60, 9,
			"Request 1 CPU and 300 MiB for about 60 s and an input of 65 MiB. About 1 run in "
			"50 may need more memory.",
			65 * MIB},
		{{0, 300, 0, 0}, 0.02, NAN, NAN, 9,
			"Request 300 MiB for an input of 65 MiB. About 1 run in 50 may need more memory.",
			65 * MIB},
		{{1, 0, 0, 0}, 0.0004, NAN, NAN, 9,
			"Request 1 CPU. Fewer than 1 run in 2000 may need more memory."},
		{{1, 0, 0, 0}, 0.0144, NAN, NAN, 9,
			"Request 1 CPU. About 1 run in 69 may need more memory."},
		{{1, 0, 0, 0}, 0.19, NAN, NAN, 9,
			"Request 1 CPU. About 1 run in 5 may need more memory."},
		{{1, 0, 0, 0}, 0.38, NAN, NAN, 9,
			"Request 1 CPU. 38 % of runs may need more memory."},
		{{0, 0, 0, 0}, NAN, NAN, 60, 9,
			"Neither CPU nor memory was measured, so there is nothing to request."},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {.resources = table[i].request,
			.runs = table[i].runs,
			.demand.duration_seconds = table[i].seconds,
			.memory_killed_at = table[i].killed_at,
			.input_bytes = table[i].input > 0 ? table[i].input : NAN,
			.memory_too_small = table[i].chance,
			.hindsight = {4, 2, 0.1}};

		sizing_summary(&s, &defaults, &arena);
		assert_string_equal(s.summary, table[i].text);
		assert_true(strlen(s.summary) < 200);
	}
}

static void nothing_is_a_multiple_of_an_input_of_nothing(void **state)
{
	static struct test_runs t;
	const struct sizing_options o = {.input_bytes = 1e9};

	for (size_t largest = 0; largest < 2; largest++) {
		AUTO(arena_done) struct arena arena = {0};

		t = (struct test_runs){0};
		for (size_t k = 0; k < 6; k++)
			test_run_succeeded(&t, 1, GIB)->input_bytes = (double)largest;
		struct sizing s = size_with("auto", &t, &o, &arena);

		assert_true(!explained(&s, "times the largest earlier") == !largest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tmpfs_is_counted_where_it_is_known_and_said_where_not),
		cmocka_unit_test(one_run_is_no_reason_to_be_sure),
		cmocka_unit_test(disk_is_what_was_written_or_what_the_file_systems_grew_by),
		cmocka_unit_test(two_sentences_say_it_all),
		cmocka_unit_test(measures_that_differ_are_mixed),
		cmocka_unit_test(it_says_which_peak_is_sized_from),
		cmocka_unit_test(a_share_is_never_certain),
		cmocka_unit_test(an_absurd_duration_is_none),
		cmocka_unit_test(the_summary_is_short_and_tells_only_what_is_known),
		cmocka_unit_test(nothing_is_a_multiple_of_an_input_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
