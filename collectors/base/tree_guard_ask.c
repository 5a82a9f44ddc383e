#include "collectors/base/tree_guard_ask.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/thread.h"
#include "collectors/base/tree_guard.h"

/* Maximum number of bytes of all names in one list. A hostile file system below the root of a
 * process may list names without end. */
#define NAMES_MAX (1u << 20)
/* If a thread used at least this much CPU time (ns) within TREE_GUARD_SECONDS, its read is slow,
 * but does not hang. For example, smaps_rollup of a large process is slow to read. */
#define WORKS_NS 5000000

#define PLACES (TREE_GUARD_THREADS + TREE_GUARD_CALM)

struct asks {
	struct tree *tree;
	pthread_mutex_t lock; /* guards all members below */
	pthread_cond_t changed;
	unsigned users;
	pid_t waits_for[ASKS_KINDS][PLACES]; /* the process that each thread reads; 0 = no thread */
	uint64_t worked_ns;
};

/* One read by a thread. The struct belongs to the caller until the caller gives up and sets `left`.
 * After that, it belongs to the thread. */
struct guard_question {
	struct asks *asks;
	pid_t *waits_for;
	pthread_t thread;
	struct tree_request request; /* points only to memory that this struct owns */
	struct foreign foreign;
	struct buf names;
	bool answered, left;
	int64_t n;
	uint64_t worked_ns;
	/* If `asks_mount` is true, the thread waits for the caller's decision whether files on
	 * `mount` may be read. `allowed` is the decision. */
	bool asks_mount, allowed;
	uint64_t mount;
};

/* ---- names of a list ---- */

static int add_name(void *context, const char *name)
{
	struct buf *names = context;

	buf_add(names, name, strlen(name) + 1);
	return names->full ? -EFBIG : 0;
}

static int deliver_names(const struct guard_question *q, const struct tree_request *r)
{
	const char *at = buf_text(&q->names), *end = at + q->names.len;
	int code = (int)q->n;

	for (; code == 0 && at < end; at += strlen(at) + 1)
		code = r->each(r->context, at);
	return code;
}

/* ---- questions ---- */

static bool ask_caller(void *context, uint64_t mount)
{
	struct guard_question *q = context;
	struct asks *a = q->asks;

	pthread_mutex_lock(&a->lock);
	q->mount = mount;
	q->asks_mount = !q->left;
	q->allowed = false;
	pthread_cond_broadcast(&a->changed);
	while (q->asks_mount)
		pthread_cond_wait(&a->changed, &a->lock);
	bool ret = q->allowed;

	pthread_mutex_unlock(&a->lock);
	return ret;
}

static struct guard_question *question_of(struct asks *a, const struct tree_request *r)
{
	struct guard_question *q = xcalloc(1, sizeof *q);

	q->asks = a;
	q->request = *r;
	q->request.path = xstrdup(r->path);
	q->request.out = r->size ? xcalloc(1, r->size) : NULL;
	if (r->call == TREE_LIST) {
		q->names = BUF_MAX(NAMES_MAX);
		q->request.each = add_name;
		q->request.context = &q->names;
	}
	if (r->call == TREE_FOREIGN) {
		q->foreign = *r->foreign;
		q->foreign.folder = q->request.path;
		q->foreign.path = xstrdup(r->foreign->path);
		q->foreign.allows = ask_caller;
		q->foreign.context = q;
		q->request.foreign = &q->foreign;
	}
	return q;
}

static void question_free(struct guard_question *q)
{
	free((char *)(uintptr_t)q->request.path);
	free((char *)(uintptr_t)q->foreign.path);
	free(q->request.out);
	buf_done(&q->names);
	free(q);
}

/* Frees a question whose caller has given up. If the read opened a descriptor, closes the
 * descriptor. */
static void question_drop(struct guard_question *q)
{
	int fd = q->request.call == TREE_KEEP && q->n >= 0 ? (int)q->n : -1;

	closep(&fd);
	question_free(q);
}

/* ---- the threads ---- */

/* Reduces the number of users of `a`. The last user frees `a`. The caller holds a->lock; this
 * function unlocks it. */
static void leave_asks(struct asks *a)
{
	bool last = --a->users == 0;

	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	tree_free(a->tree);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

struct asks *asks_new(struct tree *t)
{
	struct asks *a = xcalloc(1, sizeof *a);

	thread_cond_init(&a->changed);
	pthread_mutex_init(&a->lock, NULL);
	a->tree = t;
	a->users = 1;
	return a;
}

void asks_done(struct asks *a)
{
	pthread_mutex_lock(&a->lock);
	leave_asks(a);
}

static void *answer_thread(void *context)
{
	struct guard_question *q = context;
	struct asks *a = q->asks;

	q->n = tree_get(a->tree, &q->request);
	clock_read(CLOCK_THREAD_CPUTIME_ID, &q->worked_ns);
	pthread_mutex_lock(&a->lock);
	a->worked_ns += q->worked_ns;
	*q->waits_for = 0;
	q->answered = true;
	if (q->left)
		question_drop(q);
	pthread_cond_broadcast(&a->changed);
	leave_asks(a);
	return NULL;
}

/* Finds a free place in waits_for for a read of process `pid`. Returns 0, or -EBUSY or -ENOSPC as
 * asks_do does. The caller holds a->lock. */
static int find_place(struct asks *a, enum asks_kind kind, bool calm, pid_t pid, pid_t **ret)
{
	int code = -ENOSPC;

	for (size_t i = 0; i < PLACES; i++) {
		pid_t *place = &a->waits_for[kind][i];

		if (*place == pid)
			return -EBUSY;
		if (*place || (i >= TREE_GUARD_THREADS && !calm) || code == 0)
			continue;
		*ret = place;
		code = 0;
	}
	return code;
}

/* Tells the reading thread whether files on q->mount may be read. The caller holds a->lock, which
 * is released while the function `allows` runs. */
static void answer_mount(struct asks *a, struct guard_question *q, const struct foreign *f)
{
	uint64_t mount = q->mount;

	pthread_mutex_unlock(&a->lock);
	bool allowed = f->allows(f->context, mount);

	pthread_mutex_lock(&a->lock);
	q->allowed = allowed;
	q->asks_mount = false;
	pthread_cond_broadcast(&a->changed);
}

/* Returns the CPU time that the reading thread has used, in ns; 0 = unknown. The thread still
 * exists, because it has not answered. The caller holds a->lock. */
static uint64_t worked_by(const struct guard_question *q)
{
	clockid_t clock;
	uint64_t ns;

	return pthread_getcpuclockid(q->thread, &clock) == 0 && clock_read(clock, &ns) ? ns : 0;
}

/* Waits for the answer. The caller holds a->lock. Returns:
 * - 0: `q` has the answer, and belongs to the caller.
 * - -ETIMEDOUT: the thread made no progress. `q` belongs to the thread. */
static int await_answer(struct asks *a, struct guard_question *q, const struct tree_request *r)
{
	uint64_t worked = 0, before;
	int code = 0;

	do {
		struct timespec until = monotonic_after(TREE_GUARD_SECONDS);

		code = 0;
		while (!q->answered && !q->asks_mount && !code)
			code = pthread_cond_timedwait(&a->changed, &a->lock, &until);
		if (q->asks_mount)
			answer_mount(a, q, r->foreign);
		else if (!q->answered) {
			before = worked;
			worked = worked_by(q);
			q->left = worked - before < WORKS_NS;
		}
	} while (!q->answered && !q->left);
	return q->left ? -ETIMEDOUT : 0;
}

/* Starts the thread of a read and waits for the answer. Returns the same codes as asks_do. After
 * -ETIMEDOUT, `q` belongs to the thread. The caller holds a->lock. */
static int begin_call(struct asks *a, enum asks_kind kind, bool calm, pid_t pid,
	struct guard_question *q, const struct tree_request *r)
{
	int code = find_place(a, kind, calm, pid, &q->waits_for);

	if (code)
		return code;
	if (thread_start(&q->thread, "asks a process", answer_thread, q, NULL))
		return -EAGAIN;
	pthread_detach(q->thread);
	*q->waits_for = pid;
	a->users++;
	return await_answer(a, q, r);
}

int asks_do(struct asks *a, enum asks_kind kind, bool calm, pid_t pid, const struct tree_request *r,
	int64_t *ret, double *idle_seconds)
{
	struct guard_question *q = question_of(a, r);
	struct mono start = now_read().mono;

	pthread_mutex_lock(&a->lock);
	int code = begin_call(a, kind, calm, pid, q, r);

	pthread_mutex_unlock(&a->lock);
	*idle_seconds = mono_seconds_between(start, now_read().mono);
	if (code == -ETIMEDOUT)
		return code;
	if (code == 0) {
		*idle_seconds -= (double)q->worked_ns / 1e9;
		if (r->size && q->n >= 0)
			memcpy(r->out, q->request.out, r->size);
		*ret = r->call == TREE_LIST ? deliver_names(q, r) : q->n;
	}
	question_free(q);
	return code;
}

/* ---- hanging reads ---- */

/* Returns true if a read of this process and kind still hangs. The caller holds a->lock. */
static bool is_waiting(const struct asks *a, enum asks_kind kind, pid_t pid)
{
	for (size_t i = 0; i < PLACES; i++)
		if (a->waits_for[kind][i] == pid)
			return true;
	return false;
}

bool asks_waits(struct asks *a, enum asks_kind kind, pid_t pid)
{
	pthread_mutex_lock(&a->lock);
	bool ret = is_waiting(a, kind, pid);

	pthread_mutex_unlock(&a->lock);
	return ret;
}

void asks_tell(struct asks *a, struct tree_waits *ret)
{
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < PLACES; i++) {
		pid_t of_files = a->waits_for[ASKS_FILES][i];

		ret->unanswered += a->waits_for[ASKS_LOCKS][i] != 0;
		ret->unanswered += of_files && !is_waiting(a, ASKS_LOCKS, of_files);
	}
	ret->worked_ns += a->worked_ns;
	pthread_mutex_unlock(&a->lock);
}
