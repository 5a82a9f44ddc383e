#include "collectors/base/tree_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard_ask.h"

#define PATH_SIZE 64
/* If a process is in exec, the caller waits for the end of the exec: at most NAPS pauses of NAP_NS
 * nanoseconds each. An exec that is not blocked ends within this time. */
#define NAPS   3
#define NAP_NS 300000
/* Buffer size for /proc/PID/status up to the line "Threads". This part of the file is longer only
 * for a process that is in thousands of groups. */
#define STATUS_SIZE 4096
/* A wait shorter than this does not count against the budget. On a busy machine, the start of a
 * thread alone takes milliseconds. */
#define QUICK_SECONDS 0.01
/* Maximum number of threads of a process that is_calm checks, at some microseconds each. */
#define THREADS_MAX 256

/* Time that reads have waited in the current second. When it reaches TREE_GUARD_SHARE, the budget
 * of this second is spent. */
struct budget {
	struct mono second; /* start of the second */
	double waited_seconds;
};

/* How a file may be read. */
enum way {
	DIRECTLY,
	BY_THREAD, /* the read may block */
	NOT_NOW,   /* the read is skipped, because it may block or the budget is spent */
};

struct guard {
	struct tree tree;
	struct tree *inner; /* `asks` owns it */
	struct asks *asks;
	struct budget budget[ASKS_KINDS];
	uint64_t left_out;
	bool tells_exec; /* false in sandboxes whose statm shows code = 0 for all processes */
	/* The last result of way_to. It is valid until CLOCK_MONOTONIC_COARSE changes. */
	pid_t pid;
	struct timespec at;
	enum way way, way_to_memory;
	bool memory_known;
};

static struct guard *guard_of(struct tree *t)
{
	return (struct guard *)(void *)t;
}

/* ---- parsers ---- */

bool statm_in_exec(struct scan s)
{
	uint64_t size, resident, shared, code;

	return scan_u64(&s, &size) && scan_u64(&s, &resident) && scan_u64(&s, &shared) &&
	       scan_u64(&s, &code) && size > 0 && code == 0;
}

bool status_may_map(struct scan s, bool *waits)
{
	uint64_t threads = UINT64_MAX;
	struct scan line;

	*waits = false;
	while (scan_line(&s, &line))
		if (scan_literal(&line, "State:\t"))
			*waits = scan_char(&line, 'D');
		else if (scan_literal(&line, "Threads:\t"))
			scan_u64(&line, &threads);
	return *waits || threads > 1;
}

/* ---- the budget of waiting ---- */

static bool has_waited_enough(struct guard *g, enum asks_kind kind)
{
	struct budget *b = &g->budget[kind];
	struct mono now = now_read().mono;

	if (mono_seconds_between(b->second, now) >= 1)
		*b = (struct budget){.second = now};
	return b->waited_seconds >= TREE_GUARD_SHARE;
}

/* Like asks_do, but counts the waiting time against the budget if the answer was slow. */
static int ask_within_budget(struct guard *g, enum asks_kind kind, bool calm, pid_t pid,
	const struct tree_request *r, int64_t *ret)
{
	double idle_seconds;
	int code = asks_do(g->asks, kind, calm, pid, r, ret, &idle_seconds);

	if (idle_seconds > QUICK_SECONDS)
		g->budget[kind].waited_seconds += idle_seconds;
	return code;
}

/* ---- is the process blocked in exec? ---- */

static bool is_in_exec(const struct guard *g, const char *process)
{
	char path[PATH_SIZE], text[256];

	snprintf(path, sizeof path, "%s/statm", process);
	ssize_t n = tree_head(g->inner, path, text, sizeof text);

	return n > 0 && statm_in_exec(SCAN(text, n));
}

/* Reads the first byte of the file on a thread. Returns true if the read does not hang. */
static bool answers_read(struct guard *g, pid_t pid, const char *file)
{
	char path[PATH_SIZE], first;
	const struct tree_request r = {.call = TREE_PART, .path = path, .out = &first, .size = 1};
	double idle_seconds;
	int64_t n;

	snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	return asks_do(g->asks, ASKS_LOCKS, false, pid, &r, &n, &idle_seconds) == 0;
}

/* Waits a short time for the end of an exec. A process can seem to be in exec forever, because it
 * can forge the code addresses in statm (PR_SET_MM_MAP). Therefore stat and io are then read on a
 * thread: if both answer, exec_update_lock is free now. The process may take the lock again at any
 * time, so its other files are read by a thread, too. */
static enum way after_naps(struct guard *g, const char *process, pid_t pid)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (int i = 0; i < NAPS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		if (!is_in_exec(g, process))
			return DIRECTLY;
	}
	if (!answers_read(g, pid, "stat") || !answers_read(g, pid, "io"))
		return NOT_NOW;
	return is_in_exec(g, process) ? BY_THREAD : DIRECTLY;
}

static enum way way_past_exec(struct guard *g, const char *process, pid_t pid)
{
	if (asks_waits(g->asks, ASKS_LOCKS, pid))
		return NOT_NOW;
	if (!g->tells_exec || !is_in_exec(g, process))
		return DIRECTLY;
	if (has_waited_enough(g, ASKS_LOCKS))
		return NOT_NOW;
	struct mono start = now_read().mono;
	enum way ret = after_naps(g, process, pid);

	g->budget[ASKS_LOCKS].waited_seconds += mono_seconds_between(start, now_read().mono);
	return ret;
}

/* ---- may the process be mapping a file? ---- */

/* Returns true if `of` may be mapping a file. `of` is a process ("7") or a thread ("7/task/8").
 * Sets `waits` if `of` is in state D, for example because it waits for a disk. */
static bool may_be_mapping(const struct guard *g, const char *of, bool *waits)
{
	char path[PATH_SIZE], text[STATUS_SIZE];

	*waits = false;
	snprintf(path, sizeof path, "%s/status", of);
	ssize_t n = tree_head(g->inner, path, text, sizeof text);

	return n >= 0 && status_may_map(SCAN(text, n), waits);
}

struct guard_threads {
	const struct guard *guard;
	const char *folder;
	unsigned n;
};

static int find_waiting(void *context, const char *name)
{
	struct guard_threads *t = context;
	char of[PATH_SIZE];
	bool waits;

	snprintf(of, sizeof of, "%s/%.20s", t->folder, name);
	may_be_mapping(t->guard, of, &waits);
	return waits || ++t->n > THREADS_MAX;
}

/* Returns true if no thread of the process is in state D. Returns false if this is unknown, or if
 * the process has more than THREADS_MAX threads. */
static bool is_calm(const struct guard *g, pid_t pid)
{
	char folder[PATH_SIZE];
	struct guard_threads threads = {g, folder, 0};

	snprintf(folder, sizeof folder, "%d/task", (int)pid);
	return tree_list(g->inner, folder, find_waiting, &threads) == 0;
}

/* ---- how a file is read ---- */

static bool is_one_of(const char *file, const char *const *names)
{
	while (*names && strcmp(*names, file) != 0)
		names++;
	return *names != NULL;
}

/* Returns "children" for "task/7/children", because the rules for a file of a thread are the same
 * as for a file of a process. Returns any other name unchanged. */
static const char *of_thread(const char *file)
{
	struct scan s = SCAN(file, strlen(file));
	uint64_t thread;

	return scan_literal(&s, "task/") && scan_u64(&s, &thread) && scan_char(&s, '/') ? s.at :
											  file;
}

/* Returns true if the path goes through the links exe, root or cwd. Such a path may lead to any
 * file system. */
static bool is_of_its_files(const struct tree_request *r, const char *file)
{
	static const char *const links[] = {"exe", "root", "cwd"};

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		size_t len = strlen(links[i]);

		if (strncmp(file, links[i], len) == 0 &&
			(file[len] == '/' || (file[len] == '\0' && r->call != TREE_LINK)))
			return true;
	}
	return false;
}

/* Decides how `file` of the process is read. Several files of a process are usually read in a row.
 * Therefore the decision is kept for one tick of CLOCK_MONOTONIC_COARSE, which is 1 to 10 ms. */
static enum way way_to(struct guard *g, pid_t pid, const char *file)
{
	static const char *const harmless[] = {"statm", "status", "cgroup", "comm", "schedstat",
		"mountinfo", "task", "children", "fd", NULL};
	static const char *const of_memory[] = {"cmdline", "environ", "smaps_rollup", NULL};
	struct timespec now;
	char process[16];
	bool waits;

	if (is_one_of(of_thread(file), harmless))
		return DIRECTLY;
	snprintf(process, sizeof process, "%d", (int)pid);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (g->pid != pid || g->at.tv_sec != now.tv_sec || g->at.tv_nsec != now.tv_nsec) {
		g->way = way_past_exec(g, process, pid);
		g->pid = g->way == NOT_NOW ? 0 : pid;
		g->at = now;
		g->memory_known = false;
	}
	if (g->way != DIRECTLY || !is_one_of(file, of_memory))
		return g->way;
	if (!g->memory_known)
		g->way_to_memory = may_be_mapping(g, process, &waits) ? BY_THREAD : DIRECTLY;
	g->memory_known = true;
	return g->way_to_memory;
}

/* Reads the file on a thread. If all threads are busy or the budget is spent, an extra thread reads
 * it. If no thread can be started, the caller reads it. The extra thread and the caller read only
 * if the process has no thread in state D, because such a read seldom hangs. */
static int64_t read_held(struct guard *g, pid_t pid, const struct tree_request *r)
{
	int64_t n;
	int code = has_waited_enough(g, ASKS_LOCKS) ?
			   -ENOSPC :
			   ask_within_budget(g, ASKS_LOCKS, false, pid, r, &n);

	if (code == -ENOSPC && is_calm(g, pid))
		code = ask_within_budget(g, ASKS_LOCKS, true, pid, r, &n);
	if (code == -EAGAIN && is_calm(g, pid))
		return tree_get(g->inner, r);
	return code ? -ETIMEDOUT : n;
}

static int64_t read_its_files(struct guard *g, pid_t pid, const struct tree_request *r)
{
	int64_t n;

	if (asks_waits(g->asks, ASKS_LOCKS, pid) || has_waited_enough(g, ASKS_FILES) ||
		ask_within_budget(g, ASKS_FILES, false, pid, r, &n))
		return -ETIMEDOUT;
	return n;
}

/* Splits "7/stat" into process 7 and the file "stat". Returns 0 if the path is not a file of a
 * process. */
static pid_t process_in(const char *path, const char **file)
{
	struct scan s = SCAN(path, strlen(path));
	uint64_t pid;

	if (!scan_u64(&s, &pid) || pid > INT32_MAX || !scan_char(&s, '/'))
		return 0;
	*file = s.at;
	return (pid_t)pid;
}

static int64_t get_of(struct guard *g, const struct tree_request *r)
{
	const char *file;
	pid_t pid = process_in(r->path, &file);

	if (!pid)
		return tree_get(g->inner, r);
	if (is_of_its_files(r, file))
		return read_its_files(g, pid, r);
	switch (way_to(g, pid, file)) {
	case DIRECTLY:
		return tree_get(g->inner, r);
	case BY_THREAD:
		return read_held(g, pid, r);
	case NOT_NOW:
		break;
	}
	return -ETIMEDOUT;
}

static int64_t guard_get(struct tree *t, const struct tree_request *r)
{
	struct guard *g = guard_of(t);
	int64_t n = get_of(g, r);

	g->left_out += n == -ETIMEDOUT;
	return n;
}

/* Returns true if a kept descriptor of `path` may be read now. The caller reads it without a
 * thread, so the file must be one that may be read DIRECTLY. */
static bool guard_answers(struct tree *t, const char *path)
{
	const char *file;
	pid_t pid = process_in(path, &file);

	return !pid || way_to(guard_of(t), pid, file) == DIRECTLY;
}

static void guard_waits(struct tree *t, struct tree_waits *ret)
{
	struct guard *g = guard_of(t);

	asks_tell(g->asks, ret);
	ret->left_out += g->left_out;
}

static void guard_free(struct tree *t)
{
	struct guard *g = guard_of(t);

	asks_done(g->asks);
	free(g);
}

static const struct tree_ops guard_ops = {
	.get = guard_get,
	.answers = guard_answers,
	.waits = guard_waits,
	.free = guard_free,
};

struct tree *tree_guard_take(struct tree *inner)
{
	struct guard *g = xcalloc(1, sizeof *g);

	g->tree.ops = &guard_ops;
	g->inner = inner;
	g->asks = asks_new(inner);
	g->tells_exec = !is_in_exec(g, "self");
	return &g->tree;
}

int tree_guard_open(struct tree **ret, const char *directory, struct err *e)
{
	struct tree *inner = NULL;
	int code = tree_open(&inner, directory, e);

	if (code == 0)
		*ret = tree_guard_take(inner);
	return code;
}
