#include "collectors/base/tree_guard_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/space.h"
#include "collectors/base/thread.h"
#include "collectors/base/tree_guard.h"

#define STACK_SIZE (64 * 1024)

/* What is asked for; each kind has threads of its own, so that it does not take those of the other. */
enum kind { OF_LOCKS, OF_FILES, KINDS };

struct asks {
	int fd;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t answered;
	unsigned users;
	pid_t waits_for[KINDS][TREE_GUARD_THREADS]; /* by thread; 0: there is none */
};

/* One question; of whoever asks until that leaves, then of the thread. */
struct question {
	struct asks *asks;
	pid_t *waits_for;
	void (*work)(struct question *q);
	char *path;
	bool answered, left;
	size_t size;
	ssize_t n; /* what the work returned */
	struct tree_space space;
	char head[ASKS_HEAD_MAX];
};

static void question_free(struct question *q)
{
	free(q->path);
	free(q);
}

/* Locked; unlocks. */
static void leave(struct asks *a)
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

struct asks *asks_new(int fd)
{
	struct asks *a = xcalloc(1, sizeof *a);
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

void asks_done(struct asks *a)
{
	pthread_mutex_lock(&a->lock);
	leave(a);
}

/* ---- the threads ---- */

static void *ask(void *context)
{
	struct question *q = context;
	struct asks *a = q->asks;

	q->work(q);
	pthread_mutex_lock(&a->lock);
	*q->waits_for = 0;
	q->answered = true;
	if (q->left)
		question_free(q);
	pthread_cond_broadcast(&a->answered);
	leave(a);
	return NULL;
}

/* Locked. NULL: there is none, or it has not answered an earlier one. */
static pid_t *free_place(struct asks *a, enum kind kind, pid_t pid)
{
	pid_t *ret = NULL;

	for (size_t i = 0; i < TREE_GUARD_THREADS; i++) {
		pid_t *place = &a->waits_for[kind][i];

		if (*place == pid)
			return NULL;
		if (!*place)
			ret = place;
	}
	return ret;
}

/* Locked. 0: it was answered, and q is the caller's. -ETIMEDOUT: q is the thread's. */
static int await(struct asks *a, struct question *q)
{
	struct timespec until = monotonic_after(TREE_GUARD_SECONDS);

	while (!q->answered)
		if (pthread_cond_timedwait(&a->answered, &a->lock, &until))
			break;
	q->left = !q->answered;
	return q->answered ? 0 : -ETIMEDOUT;
}

/* Locked. As await; -EBUSY: no place, or it was not answered before; -EAGAIN: no thread. Then q is still the caller's. */
static int begin(struct asks *a, enum kind kind, pid_t pid, struct question *q)
{
	pthread_t thread;

	q->asks = a;
	q->waits_for = free_place(a, kind, pid);
	if (!q->waits_for)
		return -EBUSY;
	if (thread_start(&thread, "asks a process", STACK_SIZE, ask, q, NULL))
		return -EAGAIN;
	pthread_detach(thread);
	*q->waits_for = pid;
	a->users++;
	return await(a, q);
}

static struct question *question_of(const char *path, void (*work)(struct question *q))
{
	struct question *q = xcalloc(1, sizeof *q);

	q->path = xstrdup(path);
	q->work = work;
	return q;
}

static int put(struct asks *a, enum kind kind, pid_t pid, struct question *q)
{
	pthread_mutex_lock(&a->lock);
	int code = begin(a, kind, pid, q);

	pthread_mutex_unlock(&a->lock);
	return code;
}

static void read_some(struct question *q)
{
	AUTO(closep) int fd = openat(q->asks->fd, q->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	q->n = fd < 0 ? -1 : pread(fd, q->head, q->size, 0);
	if (q->n < 0)
		q->n = -errno;
}

static void find_space(struct question *q)
{
	q->n = space_at(q->asks->fd, q->path, &q->space);
}

/* ---- what is asked ---- */

bool asks_waits(struct asks *a, pid_t pid, bool *full)
{
	bool ret = false;

	*full = true;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < TREE_GUARD_THREADS; i++) {
		ret = ret || a->waits_for[OF_LOCKS][i] == pid;
		*full = *full && a->waits_for[OF_LOCKS][i];
	}
	pthread_mutex_unlock(&a->lock);
	return ret;
}

size_t asks_unanswered(struct asks *a)
{
	size_t n = 0;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < TREE_GUARD_THREADS; i++)
		n += a->waits_for[OF_LOCKS][i] != 0;
	pthread_mutex_unlock(&a->lock);
	return n;
}

bool asks_answered(struct asks *a, pid_t pid, const char *file, bool otherwise)
{
	char path[64];

	snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	struct question *q = question_of(path, read_some);

	/* What it says does not matter, but that it does. */
	q->size = 1;
	int code = put(a, OF_LOCKS, pid, q);

	if (code != -ETIMEDOUT)
		question_free(q);
	return code == -EAGAIN ? otherwise : code == 0;
}

ssize_t asks_head(struct asks *a, pid_t pid, const char *path, char *buf, size_t size)
{
	struct question *q = question_of(path, read_some);

	q->size = size < ASKS_HEAD_MAX ? size : ASKS_HEAD_MAX;
	int code = put(a, OF_FILES, pid, q);
	ssize_t n = code ? -ETIMEDOUT : q->n;

	if (n > 0)
		memcpy(buf, q->head, (size_t)n);
	if (code != -ETIMEDOUT)
		question_free(q);
	return n;
}

int asks_space(struct asks *a, pid_t pid, const char *path, struct tree_space *ret)
{
	struct question *q = question_of(path, find_space);
	int code = put(a, OF_FILES, pid, q);
	int n = code ? -ETIMEDOUT : (int)q->n;

	if (n == 0)
		*ret = q->space;
	if (code != -ETIMEDOUT)
		question_free(q);
	return n;
}
