/* Finds new processes without reading all of /proc each time. */
#include "collectors/process/process_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/process/pids.h"
#include "collectors/process/process.h"

/* Number of ticks between two regular listings of /proc. At other ticks, only the pids that the
 * kernel has assigned since the previous tick are tried. These tries may miss a process, which the
 * next listing then finds. */
#define LIST_LOOKS 60
/* Maximum number of new pids to try one by one. If there are more, /proc is listed, which is
 * cheaper. */
#define TRIES_MAX 16
/* Shortest time between two checks of one process. */
#define AGAIN_NS 100000000LL

struct process_book {
	size_t n, room;
	struct booked_process *process; /* sorted by pid */
	uint64_t looks;
	uint64_t last_pid; /* last pid that the kernel assigned; 0 = unknown */
	/* Pids that may be new at this tick. */
	struct pids new;
	size_t n_due, due_room;
	struct due {
		uint64_t start_ticks;
		pid_t pid;
	} * due;
};

struct process_book *process_book_new(void)
{
	return xcalloc(1, sizeof(struct process_book));
}

void process_book_free(struct process_book *b)
{
	if (!b)
		return;
	free(b->process);
	pids_done(&b->new);
	free(b->due);
	free(b);
}

/* Returns the index of the entry with this pid. If there is none, returns the index where the entry
 * must be inserted. */
static size_t place_of(const struct process_book *b, pid_t pid)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->process[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct booked_process *process_book_find(const struct process_book *b, pid_t pid)
{
	size_t i = place_of(b, pid);

	return i < b->n && b->process[i].pid == pid ? &b->process[i] : NULL;
}

void process_book_again(struct process_book *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->process[i].note)
			continue;
		b->process[i].look_at.ns = 0;
		b->process[i].program = 0;
	}
}

/* ---- new pids ---- */

static void note_listed(void *context, pid_t pid)
{
	struct process_book *b = context;
	struct booked_process *p = process_book_find(b, pid);

	if (p)
		p->listed = true;
	else
		pids_add(&b->new, pid);
}

static void remove_unlisted(struct process_book *b,
	void (*forget)(void *context, struct booked_process *p), void *context)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (!b->process[i].listed)
			forget(context, &b->process[i]);
		else
			b->process[n++] = b->process[i];
	}
	b->n = n;
}

/* Fills `b->new` with pids that may be new. If the kernel's pid counter has started again from low
 * numbers, any pid may have been reused, so every process is checked again. */
static void find_new(struct process_book *b, const struct host *h,
	void (*forget)(void *context, struct booked_process *p), void *context)
{
	uint64_t last = h->own_pid_namespace ? process_last_pid(h) : 0, before = b->last_pid;

	b->new.n = 0;
	b->last_pid = last;
	if (last && before && last < before)
		for (size_t i = 0; i < b->n; i++)
			b->process[i].look_at.ns = 0;
	if (b->looks++ % LIST_LOOKS && last && before && last >= before) {
		if (last - before <= TRIES_MAX) {
			for (uint64_t pid = before + 1; pid <= last; pid++)
				if (process_of(h, (pid_t)pid) == (pid_t)pid)
					pids_add(&b->new, (pid_t)pid);
			return;
		}
	}
	for (size_t i = 0; i < b->n; i++)
		b->process[i].listed = false;
	if (process_list(h, note_listed, b) == 0)
		remove_unlisted(b, forget, context);
}

/* ---- processes to check now ---- */

static void add_due(struct process_book *b, const struct booked_process *p)
{
	GROW(b->due, b->n_due, b->due_room);
	b->due[b->n_due++] = (struct due){p->start_ticks, p->pid};
}

static struct mono next_look(const struct host *h, uint64_t start_ticks)
{
	int64_t born =
		(int64_t)(start_ticks * ((uint64_t)NS_PER_S / (uint64_t)h->ticks_per_second));
	int64_t age = h->now.mono.ns - born;

	return (struct mono){h->now.mono.ns + (age > AGAIN_NS ? age : AGAIN_NS)};
}

/* Reads the process of an entry again. Returns -ETIMEDOUT when the file did not answer. Any other
 * error means that the process is gone. */
static int read_entry(const struct host *h, struct booked_process *p)
{
	struct process_stat s;
	int code = process_read_stat(h, p->pid, &s);

	if (code < 0)
		return code;
	if (p->start_ticks && p->start_ticks != s.start_ticks)
		return -ESRCH;
	p->start_ticks = s.start_ticks;
	p->ppid = s.ppid;
	p->shown_by = s.thread ? s.thread : s.pid;
	p->look_at = next_look(h, s.start_ticks);
	return 0;
}

static void enter_new(struct process_book *b, const struct host *h)
{
	for (size_t i = 0; i < b->new.n && b->n < PROCESS_BOOK_MAX; i++) {
		struct booked_process p = {.pid = b->new.pid[i]};
		size_t at = place_of(b, p.pid);

		if (at < b->n && b->process[at].pid == p.pid)
			continue;
		int code = read_entry(h, &p);

		/* The file did not answer in time. Forget the last pid, so that the next tick lists
		 * all processes and tries this process again. */
		if (process_unanswered(code))
			b->last_pid = 0;
		if (code)
			continue;
		GROW(b->process, b->n, b->room);
		memmove(&b->process[at + 1], &b->process[at], (b->n - at) * sizeof p);
		b->process[at] = p;
		b->n++;
		add_due(b, &p);
	}
}

/* Reads again the processes that are due for a check. If another process now has the pid of an
 * entry, the entry is reset. */
static void look_again(struct process_book *b, const struct host *h,
	void (*forget)(void *context, struct booked_process *p), void *context)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct booked_process *p = &b->process[i];
		bool is_due = p->look_at.ns <= h->now.mono.ns;
		int code = is_due ? read_entry(h, p) : 0;

		if (process_unanswered(code)) {
			b->process[n++] = *p;
			continue;
		}
		if (code) {
			forget(context, p);
			*p = (struct booked_process){.pid = p->pid};
			if (read_entry(h, p))
				continue;
		}
		if (is_due)
			add_due(b, p);
		b->process[n++] = *p;
	}
	b->n = n;
}

static int compare_due(const void *a, const void *b)
{
	const struct due *x = a, *y = b;

	if (x->start_ticks != y->start_ticks)
		return x->start_ticks < y->start_ticks ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

size_t process_book_look(struct process_book *b, const struct host *h,
	void (*look)(void *context, struct booked_process *p),
	void (*forget)(void *context, struct booked_process *p), void *context)
{
	b->n_due = 0;
	find_new(b, h, forget, context);
	look_again(b, h, forget, context);
	enter_new(b, h);
	if (b->n_due)
		qsort(b->due, b->n_due, sizeof *b->due, compare_due);
	for (size_t i = 0; i < b->n_due; i++) {
		struct booked_process *p = process_book_find(b, b->due[i].pid);

		if (p)
			look(context, p);
	}
	return b->n;
}
