/* recommender/sizing/evidence.h, follower.h and endings.h: what the outcome of a run says about the
 * memory and the time that the job needs. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "collectors/base/units.h"
#include "collectors/naming/heap_options.h"
#include "recommender/sizing/endings.h"
#include "recommender/sizing/evidence.h"
#include "recommender/sizing/follower.h"
#include "recommender/sizing/strategy.h"
#include "tests/support/test_runs.h"

#define GIB (1024 * MIB)

static struct run *add_run(struct test_runs *t, enum outcome o, double peak, double limit)
{
	struct run *r = test_run_add(t, o);

	r->memory_limit_bytes = limit;
	if (!isnan(peak))
		test_run_column(r, "memory_peak_bytes", peak, peak);
	return r;
}

static void a_run_tells_a_peak_or_a_bound(void **state)
{
	static const struct {
		const char *what;
		enum outcome outcome;
		double peak, limit, files, oom_kills, max_events, anonymous;
		enum memory_evidence memory;
		bool killed;
	} table[] = {
		{"success", OUTCOME_SUCCEEDED, 900, 1000, 0, 0, 0, 0, MEMORY_PEAK, false},
		{"success near its limit", OUTCOME_SUCCEEDED, 990, 1000, 0, 0, 0, 0, MEMORY_PEAK,
			false},
		{"success whose child was killed", OUTCOME_SUCCEEDED, 900, 1000, 0, 1, 0, 0,
			MEMORY_AT_LEAST, true},
		{"success that met its limit", OUTCOME_SUCCEEDED, 1000, 1000, 0, 0, 9, 980,
			MEMORY_AT_LEAST, false},
		{"success whose files met the limit", OUTCOME_SUCCEEDED, 1000, 1000, 600, 0, 9, 400,
			MEMORY_PEAK, false},
		{"killed", OUTCOME_OOM_KILLED, 950, 1000, 0, 1, 0, 0, MEMORY_AT_LEAST, true},
		{"killed without a limit", OUTCOME_OOM_KILLED, 950, NAN, 0, 1, 0, 0,
			MEMORY_AT_LEAST, true},
		{"failed at its limit", OUTCOME_FAILED, 975, 1000, 0, 0, 0, 0, MEMORY_AT_LEAST,
			false},
		{"failed below its limit", OUTCOME_FAILED, 960, 1000, 0, 0, 0, 0, MEMORY_TRIED,
			false},
		{"failed with files at its limit", OUTCOME_FAILED, 1000, 1000, 300, 0, 0, 0,
			MEMORY_TRIED, false},
		{"unknown at its limit", OUTCOME_UNKNOWN, 1000, 1000, 0, 0, 0, 0, MEMORY_AT_LEAST,
			false},
		{"failed without a limit", OUTCOME_FAILED, 1000, NAN, 0, 0, 0, 0, MEMORY_TRIED,
			false},
		{"interrupted", OUTCOME_INTERRUPTED, 1000, 1000, 0, 0, 0, 0, MEMORY_UNKNOWN, false},
		{"running", OUTCOME_RUNNING, 1000, 1000, 0, 0, 0, 0, MEMORY_UNKNOWN, false},
		{"not measured", OUTCOME_SUCCEEDED, NAN, 1000, 0, 0, 0, 0, MEMORY_UNKNOWN, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		struct run *r;

		memset(&t, 0, sizeof t);
		r = add_run(&t, table[i].outcome, table[i].peak * MIB, table[i].limit * MIB);
		test_run_column(r, "memory_file_bytes", table[i].files * MIB, table[i].files * MIB);
		test_run_column(r, "memory_anonymous_bytes", table[i].anonymous * MIB,
			table[i].anonymous * MIB);
		test_run_column(r, "oom_kills", table[i].oom_kills, table[i].oom_kills);
		test_run_column(r, "memory_max_events", table[i].max_events, table[i].max_events);
		for (size_t c = 0; c < r->n_stats; c++)
			r->stats[c].d.sum = r->stats[c].d.max;

		struct evidence e = evidence_of(r);

		if (e.memory != table[i].memory || e.killed != table[i].killed)
			fail_msg("%s: evidence %d, killed %d", table[i].what, (int)e.memory,
				e.killed);
		if (e.memory == MEMORY_AT_LEAST && !isnan(table[i].limit))
			assert_true(e.at_least >= table[i].limit * MIB);
		assert_int_equal(e.memory == MEMORY_AT_LEAST, e.at_least > 0);
	}
}

static void a_run_that_was_ended_from_outside_is_cut(void **state)
{
	static const struct {
		double code, signal;
		bool cut;
		const char *reason;
	} table[] = {{0, NAN, false}, {1, NAN, false}, {124, NAN, true}, {140, NAN, true},
		{143, NAN, true}, {152, NAN, true}, {NAN, SIGTERM, true}, {NAN, SIGXCPU, true},
		{137, NAN, false}, {NAN, SIGSEGV, false}, {NAN, NAN, false},
		/* The first job outlived SIGTERM, and the second caught it. Only the reason shows
		 * the time limit. */
		{137, NAN, true, "DeadlineExceeded"}, {1, NAN, true, "DeadlineExceeded"},
		{NAN, NAN, true, "TIMEOUT"}, {1, NAN, false, "Error"}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		struct run *r;

		memset(&t, 0, sizeof t);
		r = add_run(&t, OUTCOME_FAILED, GIB, 4 * GIB);
		r->exit_code = table[i].code;
		r->exit_signal = table[i].signal;
		r->end_reason = table[i].reason;
		if (evidence_of(r).cut != table[i].cut)
			fail_msg("exit code %g, signal %g", table[i].code, table[i].signal);
	}
}

/* The job has a heap that is a fixed share of its memory limit. Each request becomes the next
 * limit. */
static void a_heap_that_follows_its_limit_is_held(void **state)
{
	static const double shares[] = {0.7, 0.8, 0.9, 0.93, 0.98};

	for (size_t k = 0; k < ARRAY_LEN(shares); k++) {
		static struct test_runs newest, all;
		double limit[21] = {600 * MIB};

		for (size_t n = 1; n <= 20; n++) {
			AUTO(arena_done) struct arena arena = {0};
			struct sizing s = {0};
			struct err e;

			memset(&all, 0, sizeof all);
			memset(&newest, 0, sizeof newest);
			for (size_t i = n; i-- > 0;)
				add_run(&newest, OUTCOME_SUCCEEDED, shares[k] * limit[i], limit[i]);
			assert_int_equal(strategies[0].size(&newest.runs,
						 &(struct sizing_options){0}, &arena, &s, &e),
				0);
			limit[n] = s.demand.memory_bytes;
			if (n >= 3 && (limit[n] < 0.9 * 600 * MIB || limit[n] > 1.1 * 600 * MIB))
				fail_msg("share %g, after %zu runs: %g MiB", shares[k], n,
					limit[n] / MIB);
		}
	}
}

static struct limit_follower follower_from(const double (*peak_and_limit)[2], size_t n,
	enum outcome oldest)
{
	static struct test_runs t;

	memset(&t, 0, sizeof t);
	for (size_t i = 0; i < n; i++)
		add_run(&t, i == n - 1 ? oldest : OUTCOME_SUCCEEDED, peak_and_limit[i][0] * MIB,
			peak_and_limit[i][1] * MIB);
	return follower_of(&t.runs);
}

static void only_a_constant_share_is_a_follower(void **state)
{
	static const double heap[][2] = {{720, 900}, {640, 800}, {480, 600}},
			    steady[][2] = {{500, 1000}, {501, 800}, {499, 600}},
			    growing[][2] = {{581, 600}, {528, 672}, {480, 600}},
			    one_limit[][2] = {{480, 600}, {482, 600}, {478, 600}},
			    broken[][2] = {{700, 1000}, {640, 800}, {480, 600}},
			    doubled[][2] = {{1600, 2000}, {1600, 2000}, {800, 1000}, {800, 1000}};
	struct limit_follower f = follower_from(heap, 3, OUTCOME_SUCCEEDED);

	assert_int_equal(f.runs, 3);
	assert_true(fabs(f.enough - 600 * MIB) < 1);
	assert_true(f.share_low > 0.79 && f.share_high < 0.81);
	assert_int_equal(follower_from(steady, 3, OUTCOME_SUCCEEDED).runs, 0);
	assert_int_equal(follower_from(growing, 3, OUTCOME_SUCCEEDED).runs, 0);
	assert_int_equal(follower_from(one_limit, 3, OUTCOME_SUCCEEDED).runs, 0);
	assert_int_equal(follower_from(broken, 3, OUTCOME_SUCCEEDED).runs, 0);
	/* The killed run shows that the job needs more than it got, so the job is no follower. */
	assert_int_equal(follower_from(heap, 3, OUTCOME_OOM_KILLED).runs, 0);
	/* Here memory and limit doubled together. This looks like a job that follows its limit, but
	 * the limit must not be halved. */
	f = follower_from(doubled, 4, OUTCOME_SUCCEEDED);
	assert_true(f.runs == 0 || f.enough > 1999 * MIB);
}

static void add_success(struct test_runs *t, double peak, double limit)
{
	test_run_succeeded(t, 1, peak)->memory_limit_bytes = limit;
}

/* While the request of a follower stays unchanged, all its limits are equal. The run under another
 * limit is older than all runs that the estimators read. */
static void a_held_follower_stays_held(void **state)
{
	static struct test_runs t;

	for (int proven = 0; proven < 2; proven++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};
		struct err e;

		memset(&t, 0, sizeof t);
		for (size_t i = 0; i < PEAKS_SEEN_MAX + 50; i++)
			add_success(&t, 0.9 * GIB, GIB);
		add_success(&t, (proven ? 0.9 : 0.7) * 1.3 * GIB, 1.3 * GIB);
		strategies[0].size(&t.runs, &(struct sizing_options){0}, &arena, &s, &e);
		assert_int_equal(s.demand.memory_bytes == GIB, proven);
		assert_int_equal(warnings_have(&s.warnings, WARNING_MEMORY_FOLLOWS_LIMIT), proven);
		assert_true(warnings_allow_apply(&s.warnings));
	}
}

/* The runs have a limit of 1300 MiB first, then 1 GiB. The request is the smaller limit. */
static void a_held_limit_is_applied_once_three_runs_proved_it(void **state)
{
	static struct test_runs t;

	for (size_t held = 1; held <= 4; held++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};
		struct err e;

		memset(&t, 0, sizeof t);
		for (size_t i = 0; i < held; i++)
			add_success(&t, 0.8 * GIB, i ? GIB : 1.005 * GIB);
		for (size_t i = 0; i < 3; i++)
			add_success(&t, 0.8 * 1300 * MIB, 1300 * MIB);
		strategies[0].size(&t.runs, &(struct sizing_options){0}, &arena, &s, &e);
		assert_true(warnings_have(&s.warnings, WARNING_MEMORY_FOLLOWS_LIMIT));
		assert_int_equal(warnings_have(&s.warnings, WARNING_LIMIT_NOT_PROVEN), held < 3);
		assert_int_equal(warnings_allow_apply(&s.warnings), held >= 3);
	}
	/* A run that was much slower under the limit was disturbed by it. */
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};
	struct err e;

	t.run[0].duration_seconds *= 2;
	t.run[1].duration_seconds *= 2;
	strategies[0].size(&t.runs, &(struct sizing_options){0}, &arena, &s, &e);
	assert_true(warnings_have(&s.warnings, WARNING_LIMIT_NOT_PROVEN));
}

/* If the command line sets the heap as a percentage of the limit, one run is enough to recognise a
 * follower. A fixed heap size (-Xmx) makes no follower. */
static void an_option_tells_a_follower_at_once(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};
	struct err e;

	memset(&t, 0, sizeof t);
	add_run(&t, OUTCOME_SUCCEEDED, 800 * MIB, 1000 * MIB)->labels =
		"{\"flow\":\"etl\",\"" HEAP_SHARE_LABEL "\":\"MaxRAMPercentage\"}";
	assert_int_equal(follower_of(&t.runs).runs, 1);
	assert_string_equal(follower_of(&t.runs).option, "MaxRAMPercentage");
	strategies[0].size(&t.runs, &(struct sizing_options){0}, &arena, &s, &e);
	assert_true(s.demand.memory_bytes == 1000 * MIB && s.memory_bytes_limit == 1000 * MIB);
	assert_true(warnings_have(&s.warnings, WARNING_MEMORY_FOLLOWS_LIMIT));
	t.run[0].labels = "{\"heap_size_option\":\"Xmx\"}";
	assert_int_equal(follower_of(&t.runs).runs, 0);
}

/* No attempt requests more than the largest machine has, as in the other strategies. */
static void attempts_of_a_follower_are_bounded(void **state)
{
	static struct test_runs t;

	for (size_t attempt = 1; attempt <= 10; attempt++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};
		struct err e;

		memset(&t, 0, sizeof t);
		add_run(&t, OUTCOME_SUCCEEDED, 0.8 * ALLOCATION_MAX / 3, ALLOCATION_MAX / 3)
			->labels = "{\"" HEAP_SHARE_LABEL "\":\"MaxRAMPercentage\"}";
		strategies[0].size(&t.runs, &(struct sizing_options){.attempt = attempt}, &arena,
			&s, &e);
		assert_true(warnings_have(&s.warnings, WARNING_MEMORY_FOLLOWS_LIMIT));
		assert_double_equal(s.demand.memory_bytes,
			attempt == 1 ? ALLOCATION_MAX / 3 :
			attempt == 2 ? ALLOCATION_MAX / 3 * 2 :
				       ALLOCATION_MAX,
			GIB);
		assert_true(s.memory_attempts[ATTEMPTS_TOLD - 1] <= ALLOCATION_MAX);
	}
}

/* A program that sizes itself by its limit fails without a kill when the limit is lowered. */
static void failures_under_a_smaller_limit_bring_the_old_one_back(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};
	struct err e;

	memset(&t, 0, sizeof t);
	for (int i = 0; i < 13; i++) {
		bool newest = i < 3;

		add_run(&t, newest ? OUTCOME_FAILED : OUTCOME_SUCCEEDED,
			newest ? 230 * MIB : 450 * MIB, newest ? 570 * MIB : 4 * GIB)
			->exit_code = newest;
	}
	strategies[0].size(&t.runs, &(struct sizing_options){0}, &arena, &s, &e);
	assert_true(s.demand.memory_bytes >= 4 * GIB && s.demand.memory_bytes < 4.1 * GIB);
	assert_true(warnings_have(&s.warnings, WARNING_NEWEST_RUNS_FAILED));
	assert_false(warnings_allow_apply(&s.warnings));
}

/* A kill far below the run's limit has another cause: the machine was full, or a child's group had
 * a smaller limit. */
static void a_kill_far_below_the_limit_is_a_bound_at_the_peak(void **state)
{
	static struct test_runs t;
	struct run *r;

	memset(&t, 0, sizeof t);
	r = add_run(&t, OUTCOME_OOM_KILLED, GIB, 8 * GIB);
	assert_true(evidence_of(r).at_least == GIB);
	test_run_column(r, "memory_max_events", 1, 1);
	for (size_t c = 0; c < r->n_stats; c++)
		r->stats[c].d.sum = r->stats[c].d.max;
	assert_true(evidence_of(r).at_least == 8 * GIB);
}

static double asked(const struct test_runs *t, struct sizing *s, struct arena *arena)
{
	struct err e;

	assert_int_equal(strategies[0].size(&t->runs, &(struct sizing_options){0}, arena, s, &e),
		0);
	return s->demand.memory_bytes / MIB;
}

static void failures_at_the_limit_raise_the_request_once(void **state)
{
	static struct test_runs t;
	double limit[7] = {2048};

	for (unsigned n = 1; n < ARRAY_LEN(limit); n++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};

		memset(&t, 0, sizeof t);
		for (unsigned i = n; i-- > 0;)
			add_run(&t, i % 2 ? OUTCOME_FAILED : OUTCOME_UNKNOWN, limit[i] * MIB,
				limit[i] * MIB);
		limit[n] = asked(&t, &s, &arena);
		assert_true(limit[1] > 2100 && limit[1] < 4096);
		if (!(limit[n] >= limit[1] && limit[n] < 1.02 * limit[1]))
			fail_msg("after %u runs: %g MiB, first %g MiB", n, limit[n], limit[1]);
		assert_true(warnings_have(&s.warnings, WARNING_FAILED_AT_MEMORY_LIMIT));
		assert_int_equal(warnings_have(&s.warnings, WARNING_FAILS_AT_ANY_LIMIT), n > 1);
	}
}

/* The request is raised once, although successful runs come between the failures. Only a successful
 * run that needed more allows another raise. */
static void a_fault_that_comes_and_goes_raises_the_request_once(void **state)
{
	static struct test_runs t;
	double limit[14] = {2048};

	for (unsigned n = 1; n < ARRAY_LEN(limit); n++) {
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};

		memset(&t, 0, sizeof t);
		for (unsigned i = n; i-- > 0;)
			add_run(&t, i % 2 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED,
				(i % 2 ? 1024 : limit[i]) * MIB, limit[i] * MIB);
		limit[n] = asked(&t, &s, &arena);
		assert_true(limit[n] < 4096);
		assert_int_equal(warnings_have(&s.warnings, WARNING_FAILS_AT_ANY_LIMIT), n > 4);
	}
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};

	memset(&t, 0, sizeof t);
	add_run(&t, OUTCOME_FAILED, 3 * GIB, 3 * GIB);
	add_run(&t, OUTCOME_SUCCEEDED, 2.5 * GIB, 3 * GIB);
	add_run(&t, OUTCOME_FAILED, 2 * GIB, 2 * GIB);
	assert_true(asked(&t, &s, &arena) > 1.15 * 3072);
	assert_false(warnings_have(&s.warnings, WARNING_FAILS_AT_ANY_LIMIT));
	assert_non_null(strstr(s.summary, "met its memory limit, first at 3.00 GiB"));
}

static void equal_durations_of_failed_runs_are_a_time_limit(void **state)
{
	static const struct {
		double seconds[3]; /* durations of the failed runs */
		double longest;    /* duration of a successful run; 0 = there is none */
		size_t cut;        /* number of runs that a time limit has ended */
	} table[] = {
		{{3600, 3602, 3598}, 1000, 3}, {{3600, 3602, 3300}, 1000, 0},
		/* A successful run took as long, so there is no time limit. */
		{{3600, 3602, 3598}, 3590, 0},
		{{3600, 3602, 3598}, 0,
			0}, /* it may be a fault that always comes late in the run */
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;

		memset(&t, 0, sizeof t);
		for (size_t k = 0; k < 3; k++)
			add_run(&t, OUTCOME_FAILED, GIB, NAN)->duration_seconds =
				table[i].seconds[k];
		if (table[i].longest > 0)
			add_run(&t, OUTCOME_SUCCEEDED, GIB, NAN)->duration_seconds =
				table[i].longest;
		struct endings e = endings_of(&t.runs);

		assert_int_equal(e.cut, table[i].cut);
		assert_int_equal(e.cut_seconds > 0, table[i].cut > 0);
	}
}

static void a_limit_of_addresses_is_met_earlier(void **state)
{
	static const struct {
		enum outcome outcome;
		double peak, addresses; /* MiB; the limit is 300 MiB */
		enum memory_evidence memory;
	} table[] = {
		{OUTCOME_FAILED, 100, 290, MEMORY_AT_LEAST},
		{OUTCOME_FAILED, 100, 260, MEMORY_TRIED},
		{OUTCOME_FAILED, 280, NAN, MEMORY_AT_LEAST},
		{OUTCOME_FAILED, 260, NAN, MEMORY_TRIED},
		{OUTCOME_UNKNOWN, 280, 290, MEMORY_AT_LEAST},
		{OUTCOME_SUCCEEDED, 280, 290, MEMORY_PEAK},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static struct test_runs t;
		struct run *r;

		memset(&t, 0, sizeof t);
		r = add_run(&t, table[i].outcome, table[i].peak * MIB, NAN);
		r->address_limit_bytes = 300 * MIB;
		r->address_peak_bytes = table[i].addresses * MIB;
		struct evidence e = evidence_of(r);

		if (e.memory != table[i].memory)
			fail_msg("row %zu", i);
		assert_true(e.memory != MEMORY_AT_LEAST || e.at_least == 300 * MIB);
	}
}

static void the_source_of_a_peak_tells_of_a_kill(void **state)
{
	static struct test_runs t;
	struct run *r;

	memset(&t, 0, sizeof t);
	r = add_run(&t, OUTCOME_SUCCEEDED, GIB, GIB);
	r->memory_source = "limit";
	assert_true(evidence_of(r).killed);
	assert_int_equal(evidence_of(r).memory, MEMORY_AT_LEAST);
	r->memory_source = "vmhwm";
	assert_int_equal(evidence_of(r).memory, MEMORY_PEAK);
}

static void every_strategy_tells_its_attempts(void **state)
{
	static struct test_runs t;

	memset(&t, 0, sizeof t);
	test_runs_steady(&t, 20, 1000);
	for (const struct strategy *st = strategies; st->name; st++)
		for (size_t i = 0; i < ATTEMPTS_TOLD; i++) {
			AUTO(arena_done) struct arena arena = {0};
			struct sizing first, s;
			struct err e;

			assert_int_equal(st->size(&t.runs, &(struct sizing_options){0}, &arena,
						 &first, &e),
				0);
			assert_int_equal(st->size(&t.runs,
						 &(struct sizing_options){.attempt = i + 1}, &arena,
						 &s, &e),
				0);
			assert_true(s.demand.memory_bytes == first.memory_attempts[i]);
			assert_true(i == 0 ||
				    first.memory_attempts[i] > first.memory_attempts[i - 1]);
		}
}

static void a_request_is_never_below_what_died_at_a_limit(void **state)
{
	static struct test_runs t;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0};
	double mib;

	memset(&t, 0, sizeof t);
	for (int i = 0; i < 20; i++) {
		struct run *r = add_run(&t, i % 2 ? OUTCOME_FAILED : OUTCOME_SUCCEEDED,
			i % 2 ? 3584 * MIB : GIB, 8 * GIB);

		r->exit_code = i % 2 ? 140 : 0;
		r->duration_seconds = i % 2 ? 4 * 3600 : 3600;
	}
	mib = asked(&t, &s, &arena);
	assert_true(mib >= 3584 && mib < 5000);
	assert_true(s.duration_high >= 4 * 3600);
	assert_int_equal(s.endings.cut, 10);
	assert_int_equal(s.endings.n_codes, 1);
	assert_int_equal(s.endings.code[0].code, 140);
	assert_int_equal(s.endings.code[0].runs, 10);
	assert_true(warnings_have(&s.warnings, WARNING_CUT_BY_TIME_LIMIT));
	assert_true(warnings_have(&s.warnings, WARNING_FAILED_RUNS_USED_MORE));
	assert_false(warnings_allow_apply(&s.warnings));
	assert_int_equal(s.confidence, CONFIDENCE_LOW);
}

/* An early failure with little memory is a fault of the job, and not of its memory limit. */
static void an_early_failure_changes_nothing(void **state)
{
	static struct test_runs t, without;
	AUTO(arena_done) struct arena arena = {0};
	struct sizing s = {0}, other = {0};

	memset(&t, 0, sizeof t);
	memset(&without, 0, sizeof without);
	for (int i = 0; i < 20; i++) {
		if (i % 2)
			add_run(&t, OUTCOME_FAILED, 50 * MIB, 8 * GIB)->exit_code = 1;
		else {
			add_run(&t, OUTCOME_SUCCEEDED, GIB, 8 * GIB);
			add_run(&without, OUTCOME_SUCCEEDED, GIB, 8 * GIB);
		}
	}
	assert_true(asked(&t, &s, &arena) == asked(&without, &other, &arena));
	assert_int_equal(s.warnings.n, 1); /* the CPU of these runs is unknown */
	assert_true(warnings_have(&s.warnings, WARNING_CPU_UNKNOWN));
	assert_int_equal(s.endings.failed, 10);
}

/* Random histories and options must never give NaN or infinity, neither as a number nor in a
 * text. */
static void nothing_is_ever_nan_or_infinite(void **state)
{
	unsigned seed = 1;

	for (unsigned n = 0; n < 3000; n++) {
		static struct test_runs t;
		AUTO(arena_done) struct arena arena = {0};
		struct sizing s = {0};
		struct err e;

		memset(&t, 0, sizeof t);
		for (unsigned i = 0, runs = n % 24; i < runs; i++) {
			double peak, limit;

			seed = seed * 1103515245 + 12345;
			peak = seed >> 28 == 0 ? (double)NAN : (double)(seed >> 8) * 256;
			limit = seed >> 27 & 1 ? (double)(seed >> 6) * 128 : (double)NAN;
			add_run(&t, (enum outcome)((seed >> 16) % OUTCOME_COUNT), peak, limit)
				->input_bytes = seed >> 25 & 1 ? (double)(seed >> 10) : (double)NAN;
			t.run[i].exit_code = (seed >> 12) % 3 ? (double)((seed >> 9) % 160) : NAN;
		}

		const struct sizing_options o = {
			.attempt = n % 11,
			.risk = (enum risk)(n % RISK_COUNT),
			.input_bytes = n % 5 ? 0 : n * 1e6,
			.input_given = n % 7 == 0,
		};

		if (strategies[n % 3].size(&t.runs, &o, &arena, &s, &e) < 0)
			continue;
		for (size_t i = 0; i < s.n_explain; i++)
			if (strstr(s.explain[i], "nan ") || strstr(s.explain[i], "inf "))
				fail_msg("history %u: %s", n, s.explain[i]);
		assert_null(strstr(s.summary, "nan "));
		for (size_t i = 0; i < s.warnings.n; i++)
			if (strstr(s.warnings.at[i].text, "nan "))
				fail_msg("history %u: %s", n, s.warnings.at[i].text);
		for (size_t i = 1; i < ATTEMPTS_TOLD; i++)
			assert_true(isnan(s.memory_attempts[i]) ||
				    s.memory_attempts[i] >= s.memory_attempts[i - 1]);
		assert_true(isnan(s.demand.memory_bytes) ||
			    (s.demand.memory_bytes > 0 && s.demand.memory_bytes <= ALLOCATION_MAX));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_tells_a_peak_or_a_bound),
		cmocka_unit_test(a_run_that_was_ended_from_outside_is_cut),
		cmocka_unit_test(a_heap_that_follows_its_limit_is_held),
		cmocka_unit_test(a_held_follower_stays_held),
		cmocka_unit_test(a_held_limit_is_applied_once_three_runs_proved_it),
		cmocka_unit_test(only_a_constant_share_is_a_follower),
		cmocka_unit_test(an_option_tells_a_follower_at_once),
		cmocka_unit_test(attempts_of_a_follower_are_bounded),
		cmocka_unit_test(failures_under_a_smaller_limit_bring_the_old_one_back),
		cmocka_unit_test(a_kill_far_below_the_limit_is_a_bound_at_the_peak),
		cmocka_unit_test(failures_at_the_limit_raise_the_request_once),
		cmocka_unit_test(a_fault_that_comes_and_goes_raises_the_request_once),
		cmocka_unit_test(equal_durations_of_failed_runs_are_a_time_limit),
		cmocka_unit_test(a_limit_of_addresses_is_met_earlier),
		cmocka_unit_test(the_source_of_a_peak_tells_of_a_kill),
		cmocka_unit_test(every_strategy_tells_its_attempts),
		cmocka_unit_test(a_request_is_never_below_what_died_at_a_limit),
		cmocka_unit_test(an_early_failure_changes_nothing),
		cmocka_unit_test(nothing_is_ever_nan_or_infinite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
