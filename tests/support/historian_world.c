#include "tests/unit/test_main.h"

#include "tests/support/historian_world.h"

#include "tests/support/failing_vfs.h"

bool lives(void *context, pid_t pid, uint64_t start_ticks)
{
	const pid_t *only = context;

	(void)start_ticks;
	return !only || pid == *only;
}

struct historian_config config_of(const struct fixture *f)
{
	return (struct historian_config){
		.path = f->folder.file,
		.columns = &test_columns,
		.here = test_begin("", "", 0).root,
		.alive = lives,
	};
}

int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	test_folder_make(&f.folder);
	*state = &f;
	return 0;
}

int tear_down(void **state)
{
	struct fixture *f = *state;

	failing_vfs_heal();
	historian_stop(f->h);
	arena_done(&f->arena);
	test_folder_remove(&f->folder);
	return 0;
}

void begin(struct fixture *f, const char *run_id)
{
	const struct run_begin b = test_begin(run_id, "job", 0);

	historian_run_begin(f->h, &b);
}

void add_samples(struct fixture *f, const char *run_id, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		double value[TEST_COLUMNS];
		struct sample s;

		test_sample(&s, value, run_id, 0, i);
		historian_samples(f->h, &s, 1);
	}
}

void finish(struct fixture *f, const char *run_id)
{
	const struct run_finish end = test_finish(run_id, 100, OUTCOME_SUCCEEDED);

	historian_run_finish(f->h, &end);
}

struct run read_run(struct fixture *f, const char *run_id)
{
	AUTO(history_closep) struct history *h = NULL;
	struct err e = {0};

	if (history_open(&h, f->folder.file, HISTORY_READ, NULL, NULL, &e))
		fail_msg("%s", e.text);
	return test_read_run(h, run_id, &f->arena);
}
