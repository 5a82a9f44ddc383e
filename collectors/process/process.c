/* Reads the files of one process. Any field may contain false values, and the process may end at
 * any time. */
#include "collectors/process/process.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"

bool process_gone(int code)
{
	return code == -ENOENT || code == -ESRCH;
}

bool process_refused(int code)
{
	return code == -EACCES || code == -EPERM;
}

bool process_unanswered(int code)
{
	return code == -ETIMEDOUT;
}

#define LAST_FIELD 33
/* Bits of the field `flags` (number 9). KERNEL_THREAD is PF_KTHREAD of include/linux/sched.h. */
#define KERNEL_THREAD 0x200000
#define EXITING       0x4 /* PF_EXITING of the same file */

bool process_stat_parse(struct scan s, struct process_stat *ret)
{
	struct process_stat p = {0};
	uint64_t pid, fields[LAST_FIELD - 9 + 1];
	int64_t ppid, ignored;
	const char *close = s.end, *open;

	if (!scan_u64(&s, &pid) || pid > INT32_MAX)
		return false;
	while (close > s.at && close[-1] != ')')
		close--;
	if (close == s.at)
		return false;
	open = memchr(s.at, '(', (size_t)(close - s.at));
	if (open)
		slice_copy((struct slice){open + 1, (size_t)(close - 1 - (open + 1))}, p.name,
			sizeof p.name);
	s.at = close;
	scan_blanks(&s);
	if (scan_end(&s))
		return false;
	p.state = *s.at++;
	if (!scan_i64(&s, &ppid) || ppid < 0 || ppid > INT32_MAX)
		return false;
	/* pgrp, session, tty_nr and tpgid may be negative. */
	for (int i = 0; i < 4; i++)
		if (!scan_i64(&s, &ignored))
			return false;
	/* The remaining fields are numbers 9 (flags) to 33 (sigignore). Priority, nice and rss may
	 * be negative. */
	for (int field = 9; field <= LAST_FIELD; field++) {
		if (scan_u64(&s, &fields[field - 9]))
			continue;
		if (!scan_i64(&s, &ignored) && field <= 24)
			return false;
		/* The field is negative or missing. A field after rss (24) may be missing. */
		fields[field - 9] = 0;
	}
	p.pid = (pid_t)pid;
	p.ppid = (pid_t)ppid;
	p.kernel_thread = fields[9 - 9] & KERNEL_THREAD;
	p.exiting = fields[9 - 9] & EXITING;
	p.minor_faults = fields[10 - 9];
	p.waited_minor_faults = fields[11 - 9];
	p.major_faults = fields[12 - 9];
	p.waited_major_faults = fields[13 - 9];
	p.user_ticks = fields[14 - 9];
	p.system_ticks = fields[15 - 9];
	p.waited_user_ticks = fields[16 - 9];
	p.waited_system_ticks = fields[17 - 9];
	p.threads = fields[20 - 9];
	p.start_ticks = fields[22 - 9];
	p.rss_pages = fields[24 - 9];
	p.stack_start = fields[28 - 9];
	/* Fields 26 and 27 are the addresses of the start and the end of the code. A reader without
	 * permission gets 1 for both. */
	p.code_bytes = fields[27 - 9] > fields[26 - 9] ? fields[27 - 9] - fields[26 - 9] : 0;
	p.ignores_children = fields[33 - 9] >> (SIGCHLD - 1) & 1;
	*ret = p;
	return true;
}

/* Converts "123 kB" to bytes. Returns 0 for a line of another form. */
static uint64_t kib(struct scan line)
{
	uint64_t v;

	return scan_u64(&line, &v) && v <= UINT64_MAX / 1024 ? v * 1024 : 0;
}

static const struct {
	const char *key;
	size_t at;
} status_rows[] = {
	{"VmHWM", offsetof(struct process_status, peak_bytes)},
	{"VmSwap", offsetof(struct process_status, swap_bytes)},
	{"RssAnon", offsetof(struct process_status, kind_bytes[MEMORY_ANONYMOUS])},
	{"RssFile", offsetof(struct process_status, kind_bytes[MEMORY_FILE])},
	{"RssShmem", offsetof(struct process_status, kind_bytes[MEMORY_SHMEM])},
	{"HugetlbPages", offsetof(struct process_status, kind_bytes[MEMORY_HUGETLB])},
};

/* Stores the value of one line of the status file. The kinds of memory are unknown only if the file
 * has VmHWM and no RssAnon (an old kernel). The file of an exiting process has neither line: it has
 * 0 bytes of each kind. */
static void take_status_bytes(struct process_status *p, struct slice key, struct scan line)
{
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (slice_is(key, status_rows[i].key))
			*(uint64_t *)(void *)((char *)p + status_rows[i].at) = kib(line);
	if (slice_is(key, "VmHWM"))
		p->kinds_known = false;
	else if (slice_is(key, "RssAnon"))
		p->kinds_known = true;
}

bool process_status_parse(struct scan s, struct process_status *ret)
{
	struct process_status p = {.kinds_known = true};
	struct scan line;
	bool any = false;

	while (scan_line(&s, &line)) {
		struct slice key;

		if (!scan_until(&line, ':', &key))
			continue;
		any = any || slice_is(key, "Pid");
		take_status_bytes(&p, key, line);
		if (slice_is(key, "voluntary_ctxt_switches"))
			scan_u64(&line, &p.voluntary_switches);
		else if (slice_is(key, "nonvoluntary_ctxt_switches"))
			scan_u64(&line, &p.involuntary_switches);
	}
	if (any)
		*ret = p;
	return any;
}

bool process_io_parse(struct scan s, struct process_io *ret)
{
	struct process_io p = {0};
	struct scan line;
	unsigned found = 0;

	while (scan_line(&s, &line)) {
		struct slice key;

		if (!scan_until(&line, ':', &key))
			continue;
		found += (slice_is(key, "rchar") && scan_u64(&line, &p.read_chars)) ||
			 (slice_is(key, "wchar") && scan_u64(&line, &p.written_chars)) ||
			 (slice_is(key, "read_bytes") && scan_u64(&line, &p.read_bytes)) ||
			 (slice_is(key, "write_bytes") && scan_u64(&line, &p.written_bytes));
		if (slice_is(key, "cancelled_write_bytes"))
			scan_u64(&line, &p.cancelled_bytes);
	}
	if (found < 4)
		return false;
	*ret = p;
	return true;
}

bool process_pss_parse(struct scan s, struct process_pss *ret)
{
	struct process_pss p = {0};
	struct scan line;
	bool any = false;

	while (scan_line(&s, &line)) {
		struct slice key;

		if (!scan_until(&line, ':', &key))
			continue;
		if (slice_is(key, "Rss"))
			p.rss_bytes = kib(line);
		else if (slice_is(key, "Pss"))
			p.pss_bytes = kib(line);
		else if (slice_is(key, "AnonHugePages") || slice_is(key, "ShmemPmdMapped") ||
			 slice_is(key, "FilePmdMapped"))
			p.huge_bytes += kib(line);
		else if (slice_is(key, "Pss_Shmem")) {
			p.shmem_bytes = kib(line);
			p.shmem_known = true;
		}
		any = any || slice_is(key, "Pss");
	}
	if (!any || p.rss_bytes < p.pss_bytes)
		return false;
	if (p.huge_bytes > p.rss_bytes)
		p.huge_bytes = p.rss_bytes;
	if (p.shmem_bytes > p.pss_bytes)
		p.shmem_bytes = p.pss_bytes;
	*ret = p;
	return true;
}

const char *process_path(char out[PROCESS_PATH_MAX], pid_t pid, const char *file)
{
	snprintf(out, PROCESS_PATH_MAX, "%d/%s", (int)pid, file);
	return out;
}

static bool is_kept(const struct kept *k)
{
	return k && k->fd >= 0;
}

/* Reads a file of a process into host->scratch. */
static int read_file(const struct host *h, pid_t pid, const char *file, struct kept *k,
	struct scan *ret)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n;

	process_path(path, pid, file);
	if (is_kept(k)) {
		n = tree_answers(h->proc, path) ?
			    kept_read(k, h->proc, file, h->scratch, h->scratch_size) :
			    -ETIMEDOUT;
	} else {
		n = tree_read_records(h->proc, path, h->scratch, h->scratch_size);
	}
	if (n < 0)
		return (int)n;
	*ret = SCAN(h->scratch, n);
	return 0;
}

/* ---- processes whose first thread has ended ---- */

/* Maximum number of threads to try. An exiting thread has no memory left, and is skipped. */
#define THREADS_TRIED 16

struct process_threads {
	const struct host *host;
	struct process_stat *stat;
	unsigned tried;
};

static int look_at_thread(void *context, const char *name)
{
	struct process_threads *t = context;
	struct process_stat *p = t->stat, s;
	pid_t thread = process_of_name(name);
	struct scan text;

	if (thread == 0 || thread == p->pid)
		return 0;
	if (read_file(t->host, thread, "stat", NULL, &text) == 0 && process_stat_parse(text, &s) &&
		s.rss_pages > 0) {
		p->thread = thread;
		p->state = s.state;
		p->rss_pages = s.rss_pages;
		p->stack_start = s.stack_start;
	}
	return p->thread || ++t->tried == THREADS_TRIED;
}

int process_read_stat_kept(const struct host *h, pid_t pid, struct kept *k,
	struct process_stat *ret)
{
	struct scan text;
	int code = read_file(h, pid, "stat", k, &text);
	struct process_threads threads = {.host = h, .stat = ret};
	char path[PROCESS_PATH_MAX];

	if (code)
		return code;
	if (!process_stat_parse(text, ret))
		return -EBADMSG;
	/* If the first thread has ended, find another thread that still has memory. An exiting
	 * process has no such thread. */
	if (ret->state == 'Z' && ret->threads > 1)
		tree_list(h->proc, process_path(path, pid, "task"), look_at_thread, &threads);
	return 0;
}

int process_read_stat(const struct host *h, pid_t pid, struct process_stat *ret)
{
	return process_read_stat_kept(h, pid, NULL, ret);
}

bool process_zombie_status(const struct host *h, pid_t pid, uint64_t start_ticks, int *ret)
{
	struct process_stat stat;
	struct scan text;
	const char *last;
	int64_t status;

	if (read_file(h, pid, "stat", NULL, &text) || !process_stat_parse(text, &stat) ||
		stat.state != 'Z' || stat.start_ticks != start_ticks)
		return false;
	/* exit_code is the last field. */
	while (text.end > text.at && text.end[-1] == '\n')
		text.end--;
	for (last = text.end; last > text.at && last[-1] != ' ';)
		last--;
	text.at = last;
	if (!scan_i64(&text, &status) || status <= 0 || status > UINT16_MAX)
		return false;
	*ret = (int)status;
	return true;
}

int process_read_status(const struct host *h, pid_t pid, struct process_status *ret)
{
	struct scan text;
	int code = read_file(h, pid, "status", NULL, &text);

	if (code)
		return code;
	return process_status_parse(text, ret) ? 0 : -EBADMSG;
}

int process_read_io(const struct host *h, pid_t pid, struct kept *k, struct process_io *ret)
{
	struct scan text;
	int code = read_file(h, pid, "io", k, &text);

	if (code)
		return code;
	return process_io_parse(text, ret) ? 0 : -EBADMSG;
}

int process_read_pss(const struct host *h, pid_t pid, struct process_pss *ret)
{
	struct scan text;
	int code = read_file(h, pid, "smaps_rollup", NULL, &text);

	if (code)
		return code;
	return process_pss_parse(text, ret) ? 0 : -EBADMSG;
}

static int count_name(void *context, const char *name)
{
	(void)name;
	++*(uint64_t *)context;
	return 0;
}

int process_read_open_fds(const struct host *h, pid_t pid, uint64_t *ret)
{
	char path[PROCESS_PATH_MAX];
	uint64_t n = 0;

	process_path(path, pid, "fd");
	/* Linux 6.2 and later report the number of descriptors as the size of the directory. Older
	 * kernels report 0. */
	int64_t size = tree_size(h->proc, path);

	if (size < 0)
		return (int)size;
	if (size > 0) {
		*ret = (uint64_t)size;
		return 0;
	}
	int code = tree_list(h->proc, path, count_name, &n);

	if (code == 0)
		*ret = n;
	return code;
}

bool process_status_line(const struct host *h, pid_t pid, const char *start, struct scan *ret)
{
	struct scan text;

	return read_file(h, pid, "status", NULL, &text) == 0 && scan_line_of(&text, start, ret);
}

pid_t process_of(const struct host *h, pid_t pid)
{
	struct scan line;
	uint64_t number;

	return process_status_line(h, pid, "Tgid:", &line) && scan_u64(&line, &number) &&
			       number <= INT32_MAX ?
		       (pid_t)number :
		       0;
}

uint64_t process_cpu_clock(const struct host *h, pid_t pid)
{
	uint64_t ns;

	return h->own_pid_namespace && clock_read(clock_of_process(pid), &ns) ? ns : 0;
}

uint64_t process_last_pid(const struct host *h)
{
	/* /proc/loadavg always shows the last pid in our own PID namespace, even if host->proc
	 * belongs to another namespace. */
	ssize_t n = h->own_pid_namespace || h->other_pid_namespace ?
			    tree_read_records(h->proc, "loadavg", h->scratch, h->scratch_size) :
			    -1;
	const char *blank = n > 0 ? memrchr(h->scratch, ' ', (size_t)n) : NULL;
	struct scan s = SCAN(blank ? blank : "", blank ? h->scratch + n - blank : 0);
	uint64_t pid;

	return blank && scan_u64(&s, &pid) ? pid : 0;
}

bool process_exists(const struct host *h, pid_t pid)
{
	return h->own_pid_namespace && (kill(pid, 0) == 0 || errno == EPERM);
}

/* ---- numbers of another PID namespace ---- */

/* The pids of one process: one in each PID namespace from that of host->proc down to its own. `n`
 * is their number. `last` is the pid in the process's own namespace. */
struct numbers {
	size_t n;
	uint64_t last;
};

static struct numbers numbers_of(const struct host *h, pid_t pid)
{
	struct numbers ret = {0};
	struct scan line;

	if (process_status_line(h, pid, "NSpid:", &line))
		while (scan_u64(&line, &ret.last))
			ret.n++;
	return ret;
}

struct number_search {
	const struct host *host;
	size_t depth; /* number of levels that our namespace is below host->proc's */
	uint64_t pid; /* pid in our namespace */
	pid_t found;
	bool again;
};

static void look_at_number(void *context, pid_t pid)
{
	struct number_search *s = context;
	struct numbers numbers = numbers_of(s->host, pid);
	struct process_stat stat;

	if (numbers.n != s->depth || numbers.last != s->pid)
		return;
	/* Another container may use the same number, so the process must be in our namespace. If
	 * its namespace cannot be read, accept only our own child, which is in our namespace unless
	 * it called unshare(2). */
	if (!process_shares(s->host, pid, "pid") &&
		(process_read_stat(s->host, pid, &stat) < 0 || stat.ppid != s->host->self))
		return;
	s->again = s->found != 0;
	s->found = pid;
}

pid_t process_number(const struct host *h, pid_t pid)
{
	struct number_search s = {.host = h, .pid = (uint64_t)pid};

	if (!h->other_pid_namespace)
		return pid;
	if (pid == getpid() || !h->self)
		return pid == getpid() ? h->self : 0;
	s.depth = numbers_of(h, h->self).n;
	if (s.depth == 0 || process_list(h, look_at_number, &s) < 0 || s.again)
		return 0;
	return s.found;
}

pid_t process_number_here(const struct host *h, pid_t pid)
{
	struct numbers numbers;

	if (!h->other_pid_namespace)
		return pid;
	numbers = numbers_of(h, pid);
	return h->self && numbers.n == numbers_of(h, h->self).n && process_shares(h, pid, "pid") ?
		       (pid_t)numbers.last :
		       0;
}

uint64_t process_thread_clock(void)
{
	return (uint64_t)clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct children_context {
	const struct host *host;
	pid_t pid;
	void (*each)(void *context, pid_t child);
	void *context;
};

static int tell_children(const struct children_context *c, ssize_t n)
{
	struct scan s = SCAN(c->host->scratch, n > 0 ? n : 0);
	uint64_t child;

	while (scan_u64(&s, &child))
		if (child > 0 && child <= INT32_MAX)
			c->each(c->context, (pid_t)child);
	return n < 0 ? (int)n : 0;
}

static int children_of(void *context, const char *thread)
{
	const struct children_context *c = context;
	const struct host *h = c->host;
	char path[PROCESS_PATH_MAX];

	snprintf(path, sizeof path, "%d/task/%.20s/children", (int)c->pid, thread);
	return tell_children(c, tree_read_records(h->proc, path, h->scratch, h->scratch_size));
}

/* Like children_of, but it is no error if the thread has ended after it was listed. */
static int children_of_listed(void *context, const char *thread)
{
	int code = children_of(context, thread);

	return process_gone(code) ? 0 : code;
}

int process_children(const struct host *h, pid_t pid, uint64_t threads, struct kept *k,
	void (*each)(void *context, pid_t child), void *context)
{
	struct children_context c = {h, pid, each, context};
	char path[PROCESS_PATH_MAX];

	if (threads == 1 && is_kept(k))
		return tell_children(&c, kept_read(k, h->proc, "", h->scratch, h->scratch_size));
	if (threads == 1) {
		snprintf(path, sizeof path, "%d", (int)pid);
		return children_of(&c, path);
	}
	return tree_list(h->proc, process_path(path, pid, "task"), children_of_listed, &c);
}

struct kept process_keep(const struct host *h, pid_t pid, const char *file)
{
	char path[PROCESS_PATH_MAX];

	return tree_keep(h->proc, process_path(path, pid, file));
}

struct kept process_keep_children(const struct host *h, pid_t pid)
{
	char file[32];

	snprintf(file, sizeof file, "task/%d/children", (int)pid);
	return process_keep(h, pid, file);
}

struct list_context {
	void (*each)(void *context, pid_t pid);
	void *context;
};

pid_t process_of_name(const char *name)
{
	struct scan s = SCAN(name, strlen(name));
	uint64_t pid;

	return name[0] >= '1' && name[0] <= '9' && scan_u64(&s, &pid) && scan_end(&s) &&
			       pid <= INT32_MAX ?
		       (pid_t)pid :
		       0;
}

static int list_name(void *context, const char *name)
{
	const struct list_context *c = context;
	pid_t pid = process_of_name(name);

	if (pid)
		c->each(c->context, pid);
	return 0;
}

int process_list(const struct host *h, void (*each)(void *context, pid_t pid), void *context)
{
	struct list_context c = {each, context};

	return tree_list(h->proc, "", list_name, &c);
}

bool process_shares(const struct host *h, pid_t pid, const char *namespace)
{
	char path[64], theirs[64], ours[64];

	snprintf(path, sizeof path, "%d/ns/%s", (int)pid, namespace);
	if (tree_link(h->proc, path, theirs, sizeof theirs) < 0)
		return false;
	snprintf(path, sizeof path, "self/ns/%s", namespace);
	return tree_link(h->proc, path, ours, sizeof ours) >= 0 && strcmp(theirs, ours) == 0;
}

/* ---- descriptors ---- */

/* Longest link target that is passed to `each`. Callers search for devices, whose names are
 * shorter. Longer targets are other files. */
#define TARGET_MAX 256

struct descriptor_walk {
	const struct host *host;
	pid_t pid;
	unsigned *left;
	int (*each)(void *context, int fd, const char *target);
	void *context;
};

static int look_at_descriptor(void *context, const char *name)
{
	const struct descriptor_walk *w = context;
	struct scan s = SCAN(name, strlen(name));
	char path[PROCESS_PATH_MAX], target[TARGET_MAX];
	uint64_t fd;

	if (!scan_u64(&s, &fd) || !scan_end(&s) || fd > INT32_MAX)
		return 0;
	if (*w->left == 0)
		return -EAGAIN;
	--*w->left;
	snprintf(path, sizeof path, "%d/fd/%d", (int)w->pid, (int)fd);
	ssize_t n = tree_link(w->host->proc, path, target, sizeof target);

	/* Skip a descriptor that has been closed, or whose target is too long. */
	if (n == -ENOENT || n == -EFBIG)
		return 0;
	return n < 0 ? (int)n : w->each(w->context, (int)fd, target);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): counted down through struct descriptor_walk */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context)
{
	struct descriptor_walk w = {h, pid, left, each, context};
	char path[PROCESS_PATH_MAX];

	return tree_list(h->proc, process_path(path, pid, "fd"), look_at_descriptor, &w);
}
