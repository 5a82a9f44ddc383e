/* Asking for files of processes that may never be given. */
#include "collectors/base/tree_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"
#include "collectors/base/tree_guard_signs.h"

#define STACK_SIZE (64 * 1024)
#define PATH_SIZE  64
/* An exec that nothing holds up is over by then. */
#define NAPS   3
#define NAP_NS 300000
/* Lines of status before its number of threads: only a list of thousands of groups is longer. */
#define STATUS_SIZE 4096

/* What the reader shares with its threads, which may outlive it; who leaves last frees it. */
struct asked {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	int fd; /* of the directory */
	unsigned users;
	pid_t waits_for[TREE_GUARD_THREADS]; /* by thread; 0: there is none */
};

struct guard {
	struct tree tree;
	struct tree *inner;
	struct asked *asked;
	/* In waiting, of the second that began then. */
	struct mono second;
	double waited_seconds;
	bool tells_exec; /* not where no process has a program, as some sandboxes show it */
	/* What was found harmless a moment ago. */
	pid_t pid;
	bool memory;
	struct timespec at;
};

static struct guard *guard_of(struct tree *t)
{
	return (struct guard *)(void *)t;
}

/* ---- threads that ask ---- */

struct question {
	struct asked *asked;
	size_t slot;
	char path[PATH_SIZE];
};

/* Locked; unlocks. */
static void leave(struct asked *a)
{
	bool last = --a->users == 0;

	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	close(a->fd);
	pthread_cond_destroy(&a->answered);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void *ask(void *context)
{
	AUTO(freep) struct question *q = context;
	int fd = openat(q->asked->fd, q->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char byte;

	if (fd >= 0) {
		/* What it says does not matter, but that it does. */
		if (read(fd, &byte, 1) < 0)
			byte = 0;
		close(fd);
	}
	pthread_mutex_lock(&q->asked->lock);
	q->asked->waits_for[q->slot] = 0;
	pthread_cond_broadcast(&q->asked->answered);
	leave(q->asked);
	return NULL;
}

/* Locked. */
static bool is_waited_for(const struct asked *a, pid_t pid, size_t *free_slot)
{
	bool ret = false;

	*free_slot = TREE_GUARD_THREADS;
	for (size_t i = 0; i < TREE_GUARD_THREADS; i++) {
		ret = ret || a->waits_for[i] == pid;
		if (!a->waits_for[i])
			*free_slot = i;
	}
	return ret;
}

/* Locked. Waits until the thread has an answer, but not for ever. */
static bool await(struct asked *a, size_t slot)
{
	struct timespec until = monotonic_after(TREE_GUARD_SECONDS);

	while (a->waits_for[slot])
		if (pthread_cond_timedwait(&a->answered, &a->lock, &until))
			break;
	return a->waits_for[slot] == 0;
}

/* Without a thread (there may be no room for one more process) nobody knows: otherwise. */
static bool is_answered(struct asked *a, pid_t pid, const char *file, bool otherwise)
{
	struct question *q = xcalloc(1, sizeof *q);
	pthread_t thread;
	bool ret = false;

	*q = (struct question){.asked = a};
	snprintf(q->path, sizeof q->path, "%d/%s", (int)pid, file);
	pthread_mutex_lock(&a->lock);
	if (is_waited_for(a, pid, &q->slot) || q->slot == TREE_GUARD_THREADS) {
		free(q);
	} else {
		size_t slot = q->slot;

		a->waits_for[slot] = pid;
		a->users++;
		if (thread_start(&thread, "asks a process", STACK_SIZE, ask, q, NULL) == 0) {
			pthread_detach(thread);
			ret = await(a, slot);
		} else {
			a->waits_for[slot] = 0;
			a->users--;
			free(q);
			ret = otherwise;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return ret;
}

static bool has_no_answer(struct asked *a, pid_t pid, bool *full)
{
	size_t slot;

	pthread_mutex_lock(&a->lock);
	bool ret = is_waited_for(a, pid, &slot);

	pthread_mutex_unlock(&a->lock);
	*full = slot == TREE_GUARD_THREADS;
	return ret;
}

/* ---- may it hang? ---- */

static bool is_in_exec(const struct guard *g, const char *process)
{
	char path[PATH_SIZE], text[256];

	snprintf(path, sizeof path, "%s/statm", process);
	ssize_t n = tree_head(g->inner, path, text, sizeof text);

	return n > 0 && statm_in_exec(SCAN(text, n));
}

static bool may_be_mapping(const struct guard *g, const char *process, bool *waits)
{
	char path[PATH_SIZE], text[STATUS_SIZE];

	snprintf(path, sizeof path, "%s/status", process);
	ssize_t n = tree_head(g->inner, path, text, sizeof text);

	return n >= 0 && status_may_map(SCAN(text, n), waits);
}

static bool is_held_up(const struct guard *g, const char *process, pid_t pid)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (int i = 0; i < NAPS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		if (!is_in_exec(g, process))
			return false;
	}
	return !is_answered(g->asked, pid, "stat", false) ||
	       !is_answered(g->asked, pid, "io", false);
}

/* Who makes itself look so without being held up (PR_SET_MM_MAP) costs no more than this. */
static bool has_waited_enough(struct guard *g, struct mono now)
{
	if (mono_seconds_between(g->second, now) >= 1) {
		g->second = now;
		g->waited_seconds = 0;
	}
	return g->waited_seconds >= TREE_GUARD_SHARE;
}

static bool hangs_in_exec(struct guard *g, const char *process, pid_t pid)
{
	struct mono begin = now_read().mono;

	if (has_waited_enough(g, begin))
		return true;
	bool ret = is_held_up(g, process, pid);

	g->waited_seconds += mono_seconds_between(begin, now_read().mono);
	return ret;
}

static bool hangs(struct guard *g, const char *process, pid_t pid, bool memory)
{
	bool waits = false, full = false;

	if (has_no_answer(g->asked, pid, &full))
		return true;
	if (g->tells_exec && is_in_exec(g, process) && (full || hangs_in_exec(g, process, pid)))
		return true;
	return memory && may_be_mapping(g, process, &waits) &&
	       !is_answered(g->asked, pid, "cmdline", !waits);
}

/* ---- the tree ---- */

static bool is_one_of(const char *file, const char *const *names)
{
	while (*names && strcmp(*names, file) != 0)
		names++;
	return *names != NULL;
}

/* "task/7/children": as that of the process. */
static const char *of_thread(const char *file)
{
	struct scan s = SCAN(file, strlen(file));
	uint64_t thread;

	return scan_literal(&s, "task/") && scan_u64(&s, &thread) && scan_char(&s, '/') ? s.at :
											  file;
}

/* Several files of a process are read at once: that is asked about once in a clock's tick, some milliseconds. */
static bool is_harmless(struct guard *g, const char *path)
{
	static const char *const harmless[] = {"statm", "status", "cgroup", "comm", "schedstat",
		"mountinfo", "task", "children", "fd", NULL};
	static const char *const of_memory[] = {"cmdline", "environ", "smaps_rollup", NULL};
	struct scan s = SCAN(path, strlen(path));
	struct timespec now;
	char process[16];
	uint64_t pid;

	if (!scan_u64(&s, &pid) || pid > INT32_MAX || !scan_char(&s, '/') ||
		is_one_of(of_thread(s.at), harmless))
		return true;
	bool memory = is_one_of(s.at, of_memory);

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	bool same =
		g->pid == (pid_t)pid && g->at.tv_sec == now.tv_sec && g->at.tv_nsec == now.tv_nsec;

	if (same && (g->memory || !memory))
		return true;
	snprintf(process, sizeof process, "%d", (int)pid);
	if (hangs(g, process, (pid_t)pid, memory))
		return false;
	g->pid = (pid_t)pid;
	g->memory = memory || (same && g->memory);
	g->at = now;
	return true;
}

static ssize_t guard_read(struct tree *t, const char *path, char *buf, size_t size)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_read(g->inner, path, buf, size) : -ETIMEDOUT;
}

static ssize_t guard_read_records(struct tree *t, const char *path, char *buf, size_t size)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_read_records(g->inner, path, buf, size) : -ETIMEDOUT;
}

static ssize_t guard_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_part(g->inner, path, from, buf, size) : -ETIMEDOUT;
}

static int guard_list(struct tree *t, const char *path,
	int (*each)(void *context, const char *name), void *context)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_list(g->inner, path, each, context) : -ETIMEDOUT;
}

static ssize_t guard_link(struct tree *t, const char *path, char *buf, size_t size)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_link(g->inner, path, buf, size) : -ETIMEDOUT;
}

static int guard_device(struct tree *t, const char *path, uint64_t *ret)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_device(g->inner, path, ret) : -ETIMEDOUT;
}

static int64_t guard_size(struct tree *t, const char *path)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_size(g->inner, path) : -ETIMEDOUT;
}

static int guard_space(struct tree *t, const char *path, struct tree_space *ret)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? tree_space(g->inner, path, ret) : -ETIMEDOUT;
}

static int guard_keep(struct tree *t, const char *path)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, path) ? g->inner->ops->keep(g->inner, path) : -ETIMEDOUT;
}

static ssize_t guard_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size)
{
	struct guard *g = guard_of(t);

	return is_harmless(g, f->folder) ? tree_foreign(g->inner, f, buf, size) : -ETIMEDOUT;
}

static bool guard_answers(struct tree *t, const char *path)
{
	return is_harmless(guard_of(t), path);
}

static size_t guard_unanswered(struct tree *t)
{
	struct asked *a = guard_of(t)->asked;
	size_t n = 0;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < TREE_GUARD_THREADS; i++)
		n += a->waits_for[i] != 0;
	pthread_mutex_unlock(&a->lock);
	return n;
}

static void guard_free(struct tree *t)
{
	struct guard *g = guard_of(t);

	tree_free(g->inner);
	pthread_mutex_lock(&g->asked->lock);
	leave(g->asked);
	free(g);
}

static const struct tree_ops guard_ops = {
	.read = guard_read,
	.read_records = guard_read_records,
	.part = guard_part,
	.list = guard_list,
	.link = guard_link,
	.device = guard_device,
	.size = guard_size,
	.space = guard_space,
	.keep = guard_keep,
	.foreign = guard_foreign,
	.answers = guard_answers,
	.unanswered = guard_unanswered,
	.free = guard_free,
};

static struct asked *asked_new(int fd)
{
	struct asked *a = xcalloc(1, sizeof *a);
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&a->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&a->lock, NULL);
	a->fd = fd;
	a->users = 1;
	return a;
}

int tree_guard_open(struct tree **ret, const char *directory, struct err *e)
{
	struct tree *inner = NULL;
	int code = tree_open(&inner, directory, e);

	if (code)
		return code;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		code = err_system(e, -errno, "open directory %s", directory);
		tree_free(inner);
		return code;
	}
	struct guard *g = xcalloc(1, sizeof *g);

	g->tree.ops = &guard_ops;
	g->inner = inner;
	g->asked = asked_new(fd);
	g->tells_exec = !is_in_exec(g, "self");
	*ret = &g->tree;
	return 0;
}
