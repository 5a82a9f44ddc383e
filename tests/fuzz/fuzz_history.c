/* Damages a history with the input. Then reads it in every way, opens it for writing, writes and
 * prunes it.
 *
 * An input that begins with "#" is a list of damages to the file: two bytes of position in units of
 * 16 bytes, one byte of length, then the bytes. An input that begins with "=" changes values in its
 * columns (fuzz_values.h). Any other input is SQL that is run on the history. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/answers/run_json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_values.h"
#include "tests/support/test_history.h"

#define TEMPLATE_MAX (1u << 20)

static struct {
	struct test_folder folder;
	char template[TEMPLATE_MAX];
	size_t size;
	struct fuzz_columns columns;
} world;

static void remove_folder(void)
{
	test_folder_remove(&world.folder);
}

static void begin(void)
{
	test_folder_make(&world.folder);
	atexit(remove_folder);
	struct history *h = test_history(world.folder.file);

	test_write_run(h, "a", "etl/load", 1e9, 3, OUTCOME_SUCCEEDED);
	test_write_run(h, "b", "etl/load", 1e9 + 100, 3, OUTCOME_FAILED);
	test_write_run(h, "c", "train", 1e9 + 200, 4, OUTCOME_RUNNING);
	history_close(h);
	world.size = test_read_file(world.folder.file, world.template, sizeof world.template);
	assert(world.size && world.size < sizeof world.template);
	fuzz_columns_read(&world.columns, world.folder.file);
	assert(world.columns.n);
}

static void damage(char *file, const uint8_t *data, size_t size)
{
	while (size > 3) {
		size_t at = ((size_t)data[0] << 8 | data[1]) * 16 % world.size, n = data[2];

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		n = n < world.size - at ? n : world.size - at;
		memcpy(file + at, data, n);
		data += n;
		size -= n;
	}
}

static void check_code(int code, const struct err *e)
{
	assert(code >= 0 || e->text[0]);
}

static void read_runs(struct history *h, struct arena *arena)
{
	struct run_query query = {.open_stats = true};
	struct series series = {0};
	struct runs runs = {0};
	struct err e = {0};
	int code = history_runs(h, &query, arena, &runs, &e);

	check_code(code, &e);
	if (code)
		return;
	static const char *const columns[] = {"cpu_seconds", "not_there", NULL};

	for (size_t i = 0; i < runs.n && i < 10; i++) {
		const struct run *r = &runs.run[i];

		assert(r->run_id && r->job_name);
		assert((unsigned)r->outcome < OUTCOME_COUNT);
		code = history_series(h, r->run_id, i % 2 ? columns : NULL, arena, &series, &e);
		check_code(code, &e);
		json_decref(run_json(r));
	}
}

static void read_lists(struct history *h, struct arena *arena)
{
	struct job_row *jobs = NULL;
	struct job_brief *briefs = NULL;
	struct open_run *open_runs = NULL;
	const char **unforwarded = NULL;
	struct err e = {0};
	uint64_t count = 0;
	size_t n = 0;
	int code = history_jobs(h, 0, arena, &jobs, &n, &e);

	check_code(code, &e);
	for (size_t i = 0; code == 0 && i < n; i++)
		assert(jobs[i].job_name && (unsigned)jobs[i].last_outcome < OUTCOME_COUNT);
	for (enum head_value v = HEAD_NOTHING; v <= HEAD_MEMORY; v++) {
		struct job_head *heads = NULL;
		size_t found = 0;

		code = history_job_heads(h, v, arena, &heads, &found, &e);
		check_code(code, &e);
		for (size_t i = 0; code == 0 && i < found; i++)
			assert(heads[i].job_name &&
				(unsigned)heads[i].last_outcome < OUTCOME_COUNT);
		if (code == 0)
			code = history_overview(h, heads, found, 3, arena, &briefs, &e);
		check_code(code, &e);
		for (size_t i = 0; code == 0 && i < found; i++)
			assert(briefs[i].job_name && briefs[i].n <= 3);
	}
	check_code(history_open_runs(h, arena, &open_runs, &n, &e), &e);
	check_code(history_unsent(h, RECEIVER_CENTRAL, 5, arena, &unforwarded, &n, &e), &e);
	check_code(history_count_unsent(h, RECEIVER_CENTRAL, &count, &e), &e);
	for (size_t i = 0; i < 2; i++) {
		struct job_mark mark = {0};

		check_code(history_job_mark(h, i ? "nobody" : "etl/load", 0, &mark, &e), &e);
		assert(mark.succeeded <= mark.runs && mark.running <= mark.runs);
		assert(history_job_mark_same(&mark, &mark));
	}
	history_activity(h);
	history_ended(h);
	history_version(h);
	history_bytes(h);
}

static void read_neighbours(struct history *h, struct arena *arena)
{
	struct recent_job *jobs = NULL;
	struct run_origin origin;
	struct runs runs = {0};
	struct err e = {0};
	size_t n = 0;
	int code = history_recent_jobs(h, 100, 10, arena, &jobs, &n, &e);

	check_code(code, &e);
	for (size_t i = 0; code == 0 && i < n; i++)
		check_code(history_memory_runs(h, jobs[i].id, 3, arena, &runs, &e), &e);
	assert(runs.n <= 3);
	check_code(history_job_origin(h, "etl/load", arena, &origin, &e), &e);
}

static void read_all(struct history *h)
{
	AUTO(arena_done) struct arena arena = {0};
	struct err e = {0};

	read_runs(h, &arena);
	read_lists(h, &arena);
	read_neighbours(h, &arena);
	check_code(history_check(h, &e), &e);
}

/* Processes with an even pid are alive, and all others have ended. */
static bool alive(void *context, pid_t pid, uint64_t start_ticks)
{
	(void)context;
	(void)start_ticks;
	return pid % 2 == 0;
}

static void close_orphans(struct history *h)
{
	static const struct run_root here = {.pid_namespace = 4026531836, .boot_id = "boot-1"};
	const struct orphan_rule rule = {.now = 2e9 + 10,
		.stale_seconds = 60,
		.here = &here,
		.alive = alive,
		.leaving_pid = 7,
		.leaving_start_ticks = 7};
	struct err e = {0};
	int code = history_transaction(h, &e);

	if (code == 0)
		code = history_end(h, history_close_orphans(h, &rule, &e), &e);
	check_code(code, &e);
}

static void read_clock(struct history *h)
{
	static const struct now now = {{NS_PER_S}, {2000000010 * NS_PER_S}};
	double read = 0;
	struct err e = {0};

	check_code(history_clock(h, now, "boot-1", &read, &e), &e);
}

static void prune(struct history *h)
{
	static const struct history_limits limits[] = {{.runs_per_job = 1,
							       .retention_seconds = 100,
							       .max_bytes = 40000,
							       .full_rate_seconds = 1},
		{.max_bytes = 1, .keep_unsent = RECEIVER_CENTRAL, .serves = true},
		{.defaults = LIMIT_RUNS_PER_JOB | LIMIT_RETENTION | LIMIT_MAX_BYTES |
			     LIMIT_FULL_RATE}};
	struct history_losses losses;
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		for (int k = 0; k < 20 && history_prune(h, &limits[i], 2e9 + 10, &e) > 0; k++)
			;
	check_code(history_losses(h, &losses, &e), &e);
}

/* Writes one more run, and ends the open run. */
static void write_all(struct history *h)
{
	struct run_begin b = test_begin("d", "etl/load", 2e9);
	struct run_finish f = test_finish("c", 2e9 + 3, OUTCOME_SUCCEEDED);
	double value[TEST_COLUMNS];
	struct sample sample;
	struct err e = {0};
	int code = history_transaction(h, &e);

	check_code(code, &e);
	if (code)
		return;
	test_sample(&sample, value, "d", 2e9, 0);
	code = history_run_begin(h, &b, &e);
	if (code == 0)
		code = history_samples(h, &sample, 1, &e);
	if (code == 0)
		code = history_run_finish(h, &f, &e);
	check_code(history_end(h, code, &e), &e);
}

static void remove_leftovers(void)
{
	char path[700];

	snprintf(path, sizeof path, "%s-wal", world.folder.file);
	unlink(path);
	snprintf(path, sizeof path, "%s-shm", world.folder.file);
	unlink(path);
	while (test_folder_aside(&world.folder, path, sizeof path))
		if (unlink(path) != 0)
			break;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history *h = NULL;
	struct err e = {0}, notice = {0};

	if (!world.size)
		begin();
	AUTO(freep) char *file = xmalloc(world.size);

	remove_leftovers();
	memcpy(file, world.template, world.size);
	if (size && data[0] == '#')
		damage(file, data + 1, size - 1);
	test_write_file(world.folder.file, file, world.size);
	if (size && data[0] == '=')
		fuzz_values(world.folder.file, data + 1, size - 1, &world.columns);
	else if (!size || data[0] != '#')
		fuzz_sql(world.folder.file, data, size);
	int code = history_open(&h, world.folder.file, HISTORY_READ, NULL, NULL, &e);

	check_code(code, &e);
	if (code == 0)
		read_all(h);
	history_close(h);
	h = NULL;
	code = history_open(&h, world.folder.file, HISTORY_WRITE, &test_columns, &notice, &e);
	check_code(code, &e);
	if (code == 0) {
		close_orphans(h);
		write_all(h);
		read_all(h);
		read_clock(h);
		prune(h);
		read_all(h);
	}
	history_close(h);
	return 0;
}
