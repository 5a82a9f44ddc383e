#include "tests/support/gated_tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard.h"
#include "tests/unit/test_main.h"

#define GATES 64

/* ---- the gate ---- */

static struct {
	pthread_mutex_t lock; /* guards all members */
	pthread_cond_t moved;
	char shut[GATES][32];
	const char *slow; /* reads of this path use CPU time for slow_seconds */
	double slow_seconds;
	pthread_t owner;
	unsigned passed_by_owner;
	bool freed;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .slow = ""};

struct gated {
	struct tree tree;
	struct tree *inner;
};

/* Returns true if `path` is `name`, or is below it. */
static bool is_of(const char *path, const char *name)
{
	size_t len = strlen(name);

	return len && strncmp(path, name, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool is_shut(const char *path)
{
	for (size_t i = 0; i < GATES; i++)
		if (is_of(path, gate.shut[i]))
			return true;
	return false;
}

static double worked_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct tree *pass(struct tree *t, const char *path)
{
	pthread_mutex_lock(&gate.lock);
	gate.passed_by_owner += gate_is_owner();
	while (is_shut(path))
		pthread_cond_wait(&gate.moved, &gate.lock);
	double seconds = is_of(path, gate.slow) ? gate.slow_seconds : 0;

	pthread_mutex_unlock(&gate.lock);
	while (seconds > 0 && worked_seconds() < seconds)
		;
	return ((struct gated *)(void *)t)->inner;
}

static int64_t gated_get(struct tree *t, const struct tree_request *r)
{
	return tree_get(pass(t, r->path), r);
}

static void gated_free(struct tree *t)
{
	tree_free(((struct gated *)(void *)t)->inner);
	free(t);
	pthread_mutex_lock(&gate.lock);
	gate.freed = true;
	pthread_cond_broadcast(&gate.moved);
	pthread_mutex_unlock(&gate.lock);
}

static const struct tree_ops gated_ops = {.get = gated_get, .free = gated_free};

void gate_shut(const char *path)
{
	size_t i = 0;

	pthread_mutex_lock(&gate.lock);
	while (gate.shut[i][0])
		i++;
	assert_true(i < GATES);
	text_copy(path, gate.shut[i], sizeof gate.shut[i]);
	pthread_mutex_unlock(&gate.lock);
}

void gate_shut_of(int pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, file);
	gate_shut(path);
}

void gate_slow(const char *path, double seconds)
{
	pthread_mutex_lock(&gate.lock);
	gate.slow = path ? path : "";
	gate.slow_seconds = seconds;
	pthread_mutex_unlock(&gate.lock);
}

bool gate_is_owner(void)
{
	return pthread_equal(pthread_self(), gate.owner) != 0;
}

static void open_all(void)
{
	pthread_mutex_lock(&gate.lock);
	memset(gate.shut, 0, sizeof gate.shut);
	pthread_cond_broadcast(&gate.moved);
	pthread_mutex_unlock(&gate.lock);
}

unsigned gate_passed(void)
{
	pthread_mutex_lock(&gate.lock);
	unsigned ret = gate.passed_by_owner;

	gate.passed_by_owner = 0;
	pthread_mutex_unlock(&gate.lock);
	return ret;
}

/* ---- the world ---- */

void put_file(const struct gated_world *w, const char *path, const char *text)
{
	int fd = openat(w->top, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

void put_file_of(const struct gated_world *w, int pid, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, file);
	put_file(w, path, text);
}

static void put_folder(const struct gated_world *w, int pid, const char *folder)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", pid, folder);
	assert_int_equal(mkdirat(w->top, path, 0700), 0);
}

void put_locks(const struct gated_world *w, int pid, const char *statm)
{
	put_folder(w, pid, "");
	put_file_of(w, pid, "statm", statm);
	put_file_of(w, pid, "stat", "stat");
	put_file_of(w, pid, "io", "io");
}

void put_gated(const struct gated_world *w, int pid, const char *statm, const char *status)
{
	static const char *const folders[] = {
		"task", "task/1", "task/2", "root", "root/mnt", "cwd"};
	static const char *const files[] = {
		"cmdline", "environ", "smaps_rollup", "exe", "root/mnt/file"};

	put_locks(w, pid, statm);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		put_folder(w, pid, folders[i]);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put_file_of(w, pid, files[i], files[i]);
	put_file_of(w, pid, "status", status);
	put_file_of(w, pid, "task/1/status", status);
	put_file_of(w, pid, "task/2/status", status);
}

static void nap(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 10000000}, NULL);
}

void gate_open(const struct gated_world *w)
{
	open_all();
	for (int i = 0; i < 1000 && tree_waits(w->tree).unanswered; i++)
		nap();
	assert_int_equal(tree_waits(w->tree).unanswered, 0);
}

struct gated_world *gated_world_new(const char *self)
{
	struct gated_world *w = xcalloc(1, sizeof *w);
	struct gated *g = xcalloc(1, sizeof *g);

	snprintf(w->path, sizeof w->path, "/tmp/rightsize-test-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(w->top, "self", 0700), 0);
	put_file(w, "self/statm", self);
	put_gated(w, 8, RUNNING, SLEEPER);
	g->tree.ops = &gated_ops;
	assert_int_equal(tree_open(&g->inner, w->path, NULL), 0);
	gate.owner = pthread_self();
	gate.freed = false;
	w->tree = tree_guard_take(&g->tree);
	return w;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

void gated_world_freep(struct gated_world **owner)
{
	struct gated_world *w = *owner;

	tree_free(w->tree);
	open_all();
	pthread_mutex_lock(&gate.lock);
	while (!gate.freed)
		pthread_cond_wait(&gate.moved, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	close(w->top);
	nftw(w->path, drop, 8, FTW_DEPTH | FTW_PHYS);
	free(w);
}
