/* exporter/sampling/self_metrics.c and counters_http_add(): the exporter's own metrics. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/history/historian.h"
#include "exporter/core/counters.h"
#include "exporter/sampling/self_metrics.h"
#include "exporter/core/version.h"
#include "tests/support/test_tree.h"

static const struct collector *const collectors[] = {&collector_self, NULL};

/* Reads once from `proc`, with `sources`, which may be NULL. The caller drops the snapshot and
 * frees the pool. */
static struct snapshot *collect_from(struct tree *proc, const struct self_sources *sources,
	struct snapshot_pool **pool)
{
	static char scratch[HOST_SCRATCH_SIZE];
	struct host host = {
		.proc = proc,
		.now = {{1}, {1795250712500000000}},
		.ticks_per_second = 100,
		.page_size = 4096,
		.scratch = scratch,
		.scratch_size = sizeof scratch,
	};
	void *self = NULL;

	*pool = snapshot_pool_new(collectors);
	struct snapshot *s = snapshot_take(*pool);

	assert_int_equal(collector_self.start(&self, &host, NULL), 0);
	if (sources)
		self_metrics_watch(self, sources);
	assert_int_equal(collector_self.collect(self, &host, &s->blocks[0], NULL), 0);
	collector_self.stop(self);
	return s;
}

static struct snapshot *collect(struct tree *proc, struct snapshot_pool **pool)
{
	return collect_from(proc, NULL, pool);
}

static const struct point *first_point(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < collector_self.n_metrics; i++)
		if (strcmp(collector_self.metrics[i].name, name) == 0)
			return s->blocks[0].points[i].first;
	fail_msg("no metric %s", name);
	return NULL;
}

/* Returns the metric's value; NaN = it has no point. */
static double value(const struct snapshot *s, const char *name)
{
	const struct point *p = first_point(s, name);

	return p ? p->value : NAN;
}

static void what_proc_tells_is_read(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct snapshot_pool *pool;

	memory_tree_text(proc, "stat", "cpu 1 2 3\nbtime 1795000000\nprocesses 5\n");
	memory_tree_text(proc, "self/stat",
		"77 (a) b) c) S 1 77 77 0 -1 4194560 100 0 0 0 10 20 0 0 20 0 7 0 12345 9000000 "
		"500 18446744073709551615");
	memory_tree_text(proc, "self/statm", "2000 500 300 10 0 100 0\n");
	memory_tree_text(proc, "self/fd/0", "");
	memory_tree_text(proc, "self/fd/1", "");
	memory_tree_text(proc, "self/fd/17", "");
	struct snapshot *s = collect(proc, &pool);

	assert_true(value(s, "process_threads") == 7);
	assert_true(value(s, "process_start_time_seconds") == 1795000000 + 123.45);
	assert_true(value(s, "process_virtual_memory_bytes") == 2000 * 4096);
	assert_true(value(s, "process_resident_memory_bytes") == 500 * 4096);
	assert_true(value(s, "process_open_fds") == 3);
	assert_true(value(s, "rightsize_snapshot_timestamp_seconds") == 1795250712.5);
	assert_true(value(s, "process_cpu_seconds") > 0);
	assert_true(value(s, "process_max_fds") > 0);
	assert_true(value(s, "process_virtual_memory_max_bytes") > 0);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

static void what_cannot_be_read_is_absent(void **state)
{
	static const char *const broken[] = {
		"", "77", "77 (", "77 (x)", "77 (x) S 1 2 3", ")", "77 (x) S 1 77 77 0 -1 x"};
	static const char *const absent[] = {"process_threads", "process_start_time_seconds",
		"process_virtual_memory_bytes", "process_resident_memory_bytes",
		"process_open_fds"};

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		AUTO(tree_freep) struct tree *proc = memory_tree();
		struct snapshot_pool *pool;

		memory_tree_text(proc, "stat", i % 2 ? "btime\n" : "btime 1795000000\n");
		memory_tree_text(proc, "self/stat", broken[i]);
		memory_tree_text(proc, "self/statm", i % 2 ? "2000" : "x y");
		struct snapshot *s = collect(proc, &pool);

		for (size_t k = 0; k < ARRAY_LEN(absent); k++)
			assert_true(isnan(value(s, absent[k])));
		assert_true(value(s, "process_cpu_seconds") > 0);
		shared_drop(&s->shared);
		snapshot_pool_free(pool);
	}
}

static void reads_that_fail_harm_nothing(void **state)
{
	struct tree *proc;

	assert_int_equal(tree_open(&proc, "/proc", NULL), 0);
	for (int n = 0;; n++) {
		int countdown = n;
		struct tree *failing = failing_tree(proc, &countdown, -EIO);
		struct snapshot_pool *pool;
		struct snapshot *s = collect(failing, &pool);
		bool untouched = countdown >= 0;

		assert_true(value(s, "process_cpu_seconds") > 0);
		if (untouched)
			assert_true(value(s, "process_threads") >= 1 &&
				    value(s, "process_open_fds") >= 3);
		shared_drop(&s->shared);
		snapshot_pool_free(pool);
		tree_free(failing);
		if (untouched)
			break;
	}
	tree_free(proc);
}

static void build_info_is_complete(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct snapshot_pool *pool;
	struct snapshot *s = collect(proc, &pool);
	const struct point *p = first_point(s, "rightsize_build");

	assert_true(p->value == 1);
	assert_string_equal(p->labels[0], version.version);
	for (int i = 0; i < 6; i++)
		assert_true(p->labels[i][0] != '\0');
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

static void requests_are_counted_by_path_and_code(void **state)
{
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct snapshot_pool *pool;
	unsigned found = 0;

	for (int i = 0; i < 3; i++)
		counters_http_add("/metrics", 200);
	counters_http_add("/metrics", 400);
	counters_http_add("other", 404);
	counters_http_add("other", 401);
	counters_http_add("other", 418); /* a status that the exporter never returns */
	struct snapshot *s = collect(proc, &pool);

	for (const struct point *p = first_point(s, "rightsize_http_requests"); p; p = p->next) {
		static const struct {
			const char *handler, *code;
			double n;
		} expected[] = {{"/metrics", "200", 3}, {"/metrics", "400", 1}, {"other", "404", 1},
			{"other", "401", 1}, {"other", "other", 1}};

		for (size_t i = 0; i < ARRAY_LEN(expected); i++)
			if (strcmp(p->labels[0], expected[i].handler) == 0 &&
				strcmp(p->labels[1], expected[i].code) == 0) {
				assert_true(p->value == expected[i].n);
				found |= 1U << i;
			}
	}
	assert_int_equal(found, 31);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

/* Links append a path to a URL, so the URL must not end with a slash. */
static void links_are_told_where_they_are_known(void **state)
{
	static const struct {
		const char *page, *grafana, *page_label, *grafana_label;
	} table[] = {
		{"https://jobs.example.org/n1//", NULL, "https://jobs.example.org/n1", ""},
		{NULL, "https://grafana.example.org", "", "https://grafana.example.org"},
		{NULL, NULL, NULL, NULL},
	};
	AUTO(tree_freep) struct tree *proc = memory_tree();

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct self_sources sources = {
			.external_url = table[i].page, .grafana_url = table[i].grafana};
		struct snapshot_pool *pool;
		struct snapshot *s = collect_from(proc, &sources, &pool);
		const struct point *p = first_point(s, "rightsize_links");

		assert_int_equal(p != NULL, table[i].page_label != NULL);
		if (p) {
			assert_string_equal(p->labels[0], table[i].page_label);
			assert_string_equal(p->labels[1], table[i].grafana_label);
		}
		shared_drop(&s->shared);
		snapshot_pool_free(pool);
	}
}

static void the_history_is_reported_where_there_is_one(void **state)
{
	static const char *const of_history[] = {"rightsize_history_samples_written",
		"rightsize_history_samples_dropped", "rightsize_history_samples_waiting",
		"rightsize_history_errors", "rightsize_history_runs_not_plausible"};
	struct columns columns;
	struct historian_config config = {.path = ":memory:", .columns = &columns};
	uint64_t missed = 7;
	AUTO(tree_freep) struct tree *proc = memory_tree();
	struct historian *h;

	columns_build(&columns);
	assert_int_equal(historian_start(&h, &config, NULL), 0);
	for (int with = 0; with < 2; with++) {
		struct snapshot_pool *pool;
		struct self_sources sources = {with ? h : NULL, &missed, NULL, NULL};
		struct snapshot *s = collect_from(proc, &sources, &pool);

		assert_true(value(s, "rightsize_history_samples_missed") == 7);
		for (size_t i = 0; i < ARRAY_LEN(of_history); i++) {
			double v = value(s, of_history[i]);

			assert_true(with ? v == 0 : isnan(v));
		}
		assert_int_equal(isnan(value(s, "rightsize_history_size_bytes")), !with);
		shared_drop(&s->shared);
		snapshot_pool_free(pool);
	}
	historian_stop(h);
	columns_done(&columns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_proc_tells_is_read),
		cmocka_unit_test(what_cannot_be_read_is_absent),
		cmocka_unit_test(reads_that_fail_harm_nothing),
		cmocka_unit_test(build_info_is_complete),
		cmocka_unit_test(requests_are_counted_by_path_and_code),
		cmocka_unit_test(links_are_told_where_they_are_known),
		cmocka_unit_test(the_history_is_reported_where_there_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
