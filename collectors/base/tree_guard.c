/* Reading files of processes that may never be given. */
#include "collectors/base/tree_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard_ask.h"
#include "collectors/base/tree_guard_signs.h"

#define PATH_SIZE 64
/* An exec that nothing holds up is over by then. */
#define NAPS   3
#define NAP_NS 300000
/* Lines of status before its number of threads: only a list of thousands of groups is longer. */
#define STATUS_SIZE 4096

struct guard {
	struct tree tree;
	struct tree *inner;
	struct asks *asks;
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
	return !asks_answered(g->asks, pid, "stat", false) ||
	       !asks_answered(g->asks, pid, "io", false);
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

static void note_wait(struct guard *g, struct mono begin)
{
	g->waited_seconds += mono_seconds_between(begin, now_read().mono);
}

static bool hangs_in_exec(struct guard *g, const char *process, pid_t pid)
{
	struct mono begin = now_read().mono;

	if (has_waited_enough(g, begin))
		return true;
	bool ret = is_held_up(g, process, pid);

	note_wait(g, begin);
	return ret;
}

static bool hangs(struct guard *g, const char *process, pid_t pid, bool memory)
{
	bool waits = false, full = false;

	if (asks_waits(g->asks, pid, &full))
		return true;
	if (g->tells_exec && is_in_exec(g, process) && (full || hangs_in_exec(g, process, pid)))
		return true;
	return memory && may_be_mapping(g, process, &waits) &&
	       !asks_answered(g->asks, pid, "cmdline", !waits);
}

/* ---- file systems of a process ---- */

/* "7/root/mnt": of which process; 0: it is below nobody's root. */
static pid_t below_root_of(const char *path)
{
	struct scan s = SCAN(path, strlen(path));
	uint64_t pid;

	return scan_u64(&s, &pid) && pid <= INT32_MAX && scan_literal(&s, "/root/") ? (pid_t)pid :
										      0;
}

static pid_t program_of(const char *path)
{
	struct scan s = SCAN(path, strlen(path));
	uint64_t pid;

	return scan_u64(&s, &pid) && pid <= INT32_MAX && scan_literal(&s, "/exe") && scan_end(&s) ?
		       (pid_t)pid :
		       0;
}

static ssize_t program_head(struct guard *g, pid_t pid, const char *path, char *buf, size_t size)
{
	struct mono begin = now_read().mono;

	if (has_waited_enough(g, begin))
		return -ETIMEDOUT;
	ssize_t n = asks_head(g->asks, pid, path, buf, size);

	note_wait(g, begin);
	return n;
}

static int space_below_root(struct guard *g, pid_t pid, const char *path, struct tree_space *ret)
{
	struct mono begin = now_read().mono;

	if (has_waited_enough(g, begin))
		return -ETIMEDOUT;
	int code = asks_space(g->asks, pid, path, ret);

	note_wait(g, begin);
	return code;
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
	pid_t pid = program_of(path);

	if (!is_harmless(g, path))
		return -ETIMEDOUT;
	return pid && from == 0 ? program_head(g, pid, path, buf, size) :
				  tree_part(g->inner, path, from, buf, size);
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

	pid_t pid = below_root_of(path);

	if (!is_harmless(g, path))
		return -ETIMEDOUT;
	return pid ? space_below_root(g, pid, path, ret) : tree_space(g->inner, path, ret);
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
	return asks_unanswered(guard_of(t)->asks);
}

static void guard_free(struct tree *t)
{
	struct guard *g = guard_of(t);

	tree_free(g->inner);
	asks_done(g->asks);
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
	g->asks = asks_new(fd);
	g->tells_exec = !is_in_exec(g, "self");
	*ret = &g->tree;
	return 0;
}
