#include "tests/support/test_history.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test_main.h"
#include "recommender/plausible.h"

static const struct metric metrics[] = {
	[TEST_CPU_SECONDS] = {.unit = "seconds", .fold = FOLD_DELTA, .column = "cpu_seconds"},
	[TEST_MEMORY_BYTES] = {.unit = "bytes", .fold = FOLD_VALUE, .column = "memory_bytes"},
	[TEST_MEMORY_PEAK_BYTES] = {.unit = "bytes",
		.fold = FOLD_PEAK,
		.column = "memory_peak_bytes"},
	[TEST_DISK_READ_BYTES] = {.unit = "bytes", .fold = FOLD_DELTA, .column = "disk_read_bytes"},
	[TEST_LOAD] = {.fold = FOLD_VALUE, .column = "system_load1"},
};

static const struct metric *pointers[] = {
	&metrics[0], &metrics[1], &metrics[2], &metrics[3], &metrics[4]};

const struct columns test_columns = {TEST_COLUMNS, pointers};

void test_near(double got, double expected, double most, const char *file, int line)
{
	if (fabs(got - expected) <= most || (isnan(got) && isnan(expected)))
		return;
	print_error("%.17g is not %.17g\n", got, expected);
	_fail(file, line);
}

/* The folder is in memory if possible, so that fsync takes no time. */
void test_folder_make(struct test_folder *ret)
{
	const char *parent = getenv("TMPDIR");

	if (!parent)
		parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(ret->path, sizeof ret->path, "%.200s/rightsize-test-XXXXXX", parent);
	assert_non_null(mkdtemp(ret->path));
	snprintf(ret->file, sizeof ret->file, "%s/history.db", ret->path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void test_folder_remove(struct test_folder *f)
{
	assert_int_equal(nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int test_folder_set_up(void **state)
{
	static struct test_folder f;

	test_folder_make(&f);
	*state = &f;
	return 0;
}

int test_folder_tear_down(void **state)
{
	test_folder_remove(*state);
	return 0;
}

size_t test_folder_count(const struct test_folder *f)
{
	DIR *d = opendir(f->path);
	size_t n = 0;

	assert_non_null(d);
	for (const struct dirent *entry; (entry = readdir(d));)
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

size_t test_folder_aside(const struct test_folder *f, char *aside, size_t size)
{
	static const char prefix[] = "history.db.corrupt-";
	DIR *d = opendir(f->path);
	size_t n = 0;

	assert_non_null(d);
	for (const struct dirent *entry; (entry = readdir(d));) {
		const char *name = entry->d_name;

		if (strncmp(name, prefix, strlen(prefix)) != 0 || strstr(name, "-wal") ||
			strstr(name, "-shm"))
			continue;
		n++;
		if (aside)
			snprintf(aside, size, "%s/%s", f->path, name);
	}
	closedir(d);
	return n;
}

static void assert_ok(int code, const struct err *e)
{
	if (code < 0)
		fail_msg("%d: %s", code, e->text);
}

struct history *test_history(const char *path)
{
	struct history *h = NULL;
	struct err e = {0};

	assert_ok(history_open(&h, path, HISTORY_WRITE, &test_columns, NULL, &e), &e);
	return h;
}

struct run_begin test_begin(const char *run_id, const char *job_name, double started_at)
{
	return (struct run_begin){
		.run_id = run_id,
		.job_name = job_name,
		.host = "node-1",
		.started_at = started_at,
		.interval_seconds = 1,
		.root = {.pid = 4711,
			.start_ticks = 99,
			.reaper_pid = 4710,
			.reaper_start_ticks = 98,
			.pid_namespace = 4026531836,
			.boot_id = "boot-1"},
		.requested_cpu_cores = NAN,
		.requested_memory_bytes = 1 << 30,
		.memory_limit_bytes = NAN,
		.input_bytes = NAN,
		.attempt = NAN,
		.owner_pid = 4710,
		.owner_start_ticks = 98,
	};
}

struct run_finish test_finish(const char *run_id, double ended_at, enum outcome outcome)
{
	return (struct run_finish){
		.run_id = run_id,
		.ended_at = ended_at,
		.duration_seconds = NAN,
		.outcome = outcome,
		.exit_code = outcome == OUTCOME_SUCCEEDED ? 0 : NAN,
		.exit_signal = NAN,
		.cpu_source = "rusage",
		.cpu_missed_seconds = 0.25,
	};
}

void test_sample(struct sample *ret, double value[TEST_COLUMNS], const char *run_id, double start,
	size_t i)
{
	*ret = (struct sample){.at = start + (double)i + 1, .duration = 1, .value = value};
	snprintf(ret->run_id, sizeof ret->run_id, "%s", run_id);
	value[TEST_CPU_SECONDS] = 0.5;
	value[TEST_MEMORY_BYTES] = (double)i;
	value[TEST_MEMORY_PEAK_BYTES] = (double)i;
	value[TEST_DISK_READ_BYTES] = 10;
	value[TEST_LOAD] = NAN;
}

void test_write_samples(struct history *h, const char *run_id, double start, size_t first, size_t n)
{
	struct err e = {0};

	assert_ok(history_transaction(h, &e), &e);
	for (size_t i = first; i < first + n; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, run_id, start, i);
		assert_ok(history_samples(h, &s, 1, &e), &e);
	}
	assert_ok(history_commit(h, &e), &e);
}

void test_write_run(struct history *h, const char *run_id, const char *job_name, double start,
	size_t samples, enum outcome outcome)
{
	const struct run_begin b = test_begin(run_id, job_name, start);
	const struct run_finish f = test_finish(run_id, start + (double)samples, outcome);
	struct err e = {0};

	assert_ok(history_transaction(h, &e), &e);
	assert_ok(history_run_begin(h, &b, &e), &e);
	assert_ok(history_commit(h, &e), &e);
	test_write_samples(h, run_id, start, 0, samples);
	if (outcome == OUTCOME_RUNNING)
		return;
	assert_ok(history_transaction(h, &e), &e);
	assert_ok(history_run_finish(h, &f, &e), &e);
	assert_ok(history_commit(h, &e), &e);
}

struct run test_read_run(struct history *h, const char *run_id, struct arena *arena)
{
	const struct run_query q = {.run_id = run_id, .open_stats = true};
	struct runs runs = {0};
	struct err e = {0};

	assert_ok(history_runs(h, &q, arena, &runs, &e), &e);
	assert_int_equal(runs.n, 1);
	/* POST /runs of another exporter must accept the statistics that this one computes. */
	assert_ok(run_plausible_order(&runs.run[0], &e), &e);
	return runs.run[0];
}

size_t test_count_runs(struct history *h, const char *job_name)
{
	AUTO(arena_done) struct arena arena = {0};
	const struct run_query q = {.job_name = job_name};
	struct runs runs = {0};
	struct err e = {0};

	assert_ok(history_runs(h, &q, &arena, &runs, &e), &e);
	return runs.n;
}

int test_place_make(void **state)
{
	struct test_place *p = xcalloc(1, sizeof *p);

	test_folder_make(&p->folder);
	p->h = test_history(p->folder.file);
	*state = p;
	return 0;
}

int test_place_remove(void **state)
{
	struct test_place *p = *state;
	struct err e = {0};

	assert_ok(history_check(p->h, &e), &e);
	history_close(p->h);
	arena_done(&p->arena);
	test_folder_remove(&p->folder);
	free(p);
	return 0;
}

size_t test_count_samples(struct test_place *p, const char *run_id)
{
	struct series s;

	assert_int_equal(history_series(p->h, run_id, NULL, &p->arena, &s, NULL), 0);
	return s.n;
}

int test_prune(struct history *h, const struct history_limits *l, double now)
{
	struct err e = {0};
	int steps = 0, code;

	while ((code = history_prune(h, l, now, &e)) > 0)
		assert_in_range(++steps, 1, 100000);
	if (code < 0)
		fail_msg("%s", e.text);
	return steps;
}

void test_make_history(const char *path)
{
	struct history *h = test_history(path);

	for (int i = 0; i < 40; i++) {
		char id[16];

		snprintf(id, sizeof id, "r%d", i);
		test_write_run(h, id, "job", i * 100, 100, OUTCOME_SUCCEEDED);
	}
	history_close(h);
}

void test_run_sql(const char *path, const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
}

int64_t test_count_rows(const struct test_folder *f, const char *table)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	char text[600];

	assert_true(snprintf(text, sizeof text, "SELECT count(*) FROM %s", table) <
		    (int)sizeof text);
	assert_int_equal(sqlite3_open(f->file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(q, 0);

	sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

void test_jobs_fit_runs(const struct test_folder *f)
{
	static const char wrong[] =
		"job WHERE kept <> (SELECT count(*) FROM run r WHERE r.job = job.id AND r.outcome <> 'running')"
		" OR (last_started_at, last_outcome, last_requests) IS NOT"
		" (SELECT n.started_at, n.outcome, n.requested_cpu_cores NOTNULL OR n.requested_memory_bytes NOTNULL"
		" FROM run n WHERE n.job = job.id ORDER BY n.started_at DESC, n.id DESC LIMIT 1)";

	assert_int_equal(test_count_rows(f, wrong), 0);
}

size_t test_read_file(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(out, 1, size, f) : 0;

	if (f)
		fclose(f);
	return n;
}

void test_write_file(const char *path, const char *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

void test_damage(const char *path)
{
	char page[4096];
	struct stat st;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof page; i++)
		page[i] = (char)0xff;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		assert_int_equal(pwrite(fd, page, sizeof page, at), sizeof page);
	close(fd);
}

void test_opens_empty(const char *path)
{
	AUTO(history_closep) struct history *h = test_history(path);

	assert_int_equal(test_count_runs(h, NULL), 0);
	test_write_run(h, "fresh", "job", 1, 2, OUTCOME_SUCCEEDED);
	assert_int_equal(test_count_runs(h, NULL), 1);
}
