#include "collectors/accounting/group_owner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/cgroup/cpu_quota.h"
#include "collectors/process/pids.h"
#include "collectors/process/process.h"
#include "collectors/kernel_file.h"

/* Directories of the v1 controllers below /sys/fs/cgroup, as container runtimes mount them. */
static const char *const folders[CGROUP_CONTROLLERS][3] = {
	[CGROUP_CPU] = {"cpu", "cpu,cpuacct", "cpuacct,cpu"},
	[CGROUP_CPUACCT] = {"cpuacct", "cpu,cpuacct", "cpuacct,cpu"},
	[CGROUP_MEMORY] = {"memory"},
	[CGROUP_PIDS] = {"pids"},
	[CGROUP_IO] = {"blkio"},
};

/* ---- processes of a group ---- */

/* Reads a group's list of processes into host->scratch. */
static int read_procs(const struct cgroup_place *p, const struct host *host, struct scan *ret)
{
	char path[CGROUP_FILE_MAX];

	return kernel_file_read_once(host, p->tree, cgroup_file(p, "cgroup.procs", path), ret,
		NULL);
}

int cgroup_place_processes(const struct cgroup_place *p, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context)
{
	struct scan text, line;
	uint64_t pid;
	int code = read_procs(p, host, &text);

	while (code == 0 && scan_line(&text, &line))
		each(context, scan_u64(&line, &pid) && pid <= INT32_MAX ? (pid_t)pid : 0);
	return code;
}

static bool has_process(const struct cgroup_place *p, const struct host *host, pid_t pid)
{
	struct scan text, line;
	uint64_t v;

	if (read_procs(p, host, &text) < 0)
		return false;
	while (scan_line(&text, &line))
		if (scan_u64(&line, &v) && v == (uint64_t)pid)
			return true;
	return false;
}

/* ---- groups as the process itself sees them ---- */

/* Removes leading "/..": "/../../a/b" becomes "/a/b", and "/.." becomes "". */
static struct slice without_parents(struct slice path)
{
	while (slice_starts(path, "/..") && (path.len == 3 || path.data[3] == '/')) {
		path.data += 3;
		path.len -= 3;
	}
	if (slice_is(path, "/"))
		path.len = 0;
	return path;
}

/* Finds the group of process `pid` in /sys/fs/cgroup as this process sees it (/proc/PID/root).
 * `folder` is a directory in /sys/fs/cgroup; "" = /sys/fs/cgroup itself. In a container, the group
 * is `folder`. Outside a container, the group is `folder`/`below`. A group is accepted only if its
 * list contains the process. */
static bool try_folder(struct cgroup_place *ret, const struct host *host, pid_t pid,
	const char *folder, struct slice below, int version)
{
	struct cgroup_place place = {.tree = host->proc, .version = version};
	int top = snprintf(place.path, sizeof place.path, "%d/root/sys/fs/cgroup%s%s", (int)pid,
		folder[0] ? "/" : "", folder);

	place.top = (size_t)top;
	if (!has_process(&place, host, pid)) {
		if (below.len == 0 || below.len >= sizeof place.path - place.top)
			return false;
		slice_copy(below, place.path + top, sizeof place.path - place.top);
		if (!has_process(&place, host, pid))
			return false;
	}
	*ret = place;
	return true;
}

static int look_through_root(struct cgroup *ret, const struct host *host, pid_t pid)
{
	struct cgroup c = {0};
	char path[PROCESS_PATH_MAX], membership[2 * CGROUP_PATH_MAX];
	bool any = false;

	process_path(path, pid, "cgroup");
	ssize_t n = tree_read(host->proc, path, membership, sizeof membership);
	struct scan text = SCAN(membership, n > 0 ? n : 0);

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		struct slice below;

		if (cgroup_path_in(text, cgroup_controllers[i], &below)) {
			for (size_t k = 0; k < ARRAY_LEN(folders[i]) && folders[i][k]; k++)
				if (try_folder(&c.place[i], host, pid, folders[i][k],
					    without_parents(below), 1))
					break;
		} else if (cgroup_path_in(text, "", &below)) {
			try_folder(&c.place[i], host, pid, "", without_parents(below), 2);
		}
		any = any || c.place[i].version;
	}
	if (!any)
		return -ENOENT;
	*ret = c;
	return 0;
}

/* Returns true if the process is exiting, so that its v1 groups may just have been read wrongly.
 * The kernel shows an exiting process in the group "/" of each v1 hierarchy, which is the group of
 * the whole machine (proc_cgroup_show() in kernel/cgroup/cgroup.c). */
static bool has_left_v1(const struct host *host, pid_t pid)
{
	struct process_stat s;

	return process_read_stat(host, pid, &s) < 0 || s.exiting;
}

/* Removes the v1 groups from `c`. Returns false if no group is left. */
static bool keep_v2(struct cgroup *c)
{
	bool any = false;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		if (c->place[i].version == 1)
			c->place[i] = (struct cgroup_place){0};
		any = any || c->place[i].version;
	}
	return any;
}

int cgroup_of_process(struct cgroup *ret, const struct host *host, pid_t pid, struct err *e)
{
	char number[16];

	snprintf(number, sizeof number, "%d", (int)pid);
	int code = cgroup_find(ret, host, number, e);

	if (code == -ENOENT)
		return look_through_root(ret, host, pid);
	if (code == 0 && has_left_v1(host, pid) && !keep_v2(ret))
		return -ENOENT;
	return code;
}

double cgroup_cpu_seconds(const struct cgroup *c, const struct host *h)
{
	const struct cgroup_place *p = cgroup_cpu_place(c);

	return p->version == 2 ? cgroup_number(p, h, "cpu.stat", "usage_usec") / 1e6 :
				 cgroup_number(p, h, "cpuacct.usage", NULL) / 1e9;
}

/* ---- ownership of a group ---- */

/* Text of /proc/PID/cgroup, kept for comparisons. */
struct process_membership {
	char text[4 * CGROUP_PATH_MAX];
	size_t len;
};

static bool membership_read(struct process_membership *m, const struct host *host, const char *pid)
{
	char path[PROCESS_PATH_MAX];

	snprintf(path, sizeof path, "%s/cgroup", pid);
	ssize_t n = tree_read(host->proc, path, m->text, sizeof m->text);

	m->len = n > 0 ? (size_t)n : 0;
	return n >= 0;
}

/* Returns true if the two processes are in different groups of the controller. Returns false if
 * either group is unknown. */
static bool differs_in(const struct process_membership *a, const struct process_membership *b,
	const char *controller)
{
	struct slice x, y;

	return cgroup_path_in(SCAN(a->text, a->len), controller, &x) &&
	       cgroup_path_in(SCAN(b->text, b->len), controller, &y) && !slice_equal(x, y);
}

/* ---- does a list have every process? ---- */

static size_t lines_of(const struct cgroup_place *p, const struct host *host, const char *file)
{
	char path[CGROUP_FILE_MAX];
	struct scan text, line;
	size_t n = 0;

	if (kernel_file_read_once(host, p->tree, cgroup_file(p, file, path), &text, NULL) < 0)
		return 0;
	while (scan_line(&text, &line))
		n++;
	return n;
}

bool cgroup_lists_all(const struct cgroup_place *p, const struct host *host)
{
	return !host->other_pid_namespace &&
	       (p->version == 2 || host->initial_pid_namespace || !host->own_pid_namespace);
}

/* Returns true if the group's list certainly contains all its processes. If cgroup_lists_all cannot
 * confirm this, compares the number of listed threads with pids.current of the v1 group with the
 * same path. Only pids.current includes threads that are hidden from us, and threads of groups
 * below. */
static bool hides_none(const struct cgroup *c, const struct cgroup_place *p,
	const struct host *host)
{
	const struct cgroup_place *pids = &c->place[CGROUP_PIDS];

	if (cgroup_lists_all(p, host))
		return true;
	return pids->version == 1 && strcmp(pids->path + pids->top, p->path + p->top) == 0 &&
	       cgroup_number(pids, host, "pids.current", NULL) ==
		       (double)lines_of(pids, host, "tasks");
}

/* State of a search for the processes of a group if /proc shows another PID namespace. The pids in
 * cgroup.procs are then not those in /proc, so the search reads /proc/PID/cgroup of every
 * process. */
struct membership_search {
	const struct host *host;
	const struct process_membership *own;
	const char *controller;
	struct pids *found;
};

static void look_at_membership(void *context, pid_t pid)
{
	const struct membership_search *s = context;
	struct process_membership theirs;
	char number[16];

	snprintf(number, sizeof number, "%d", (int)pid);
	if (membership_read(&theirs, s->host, number) &&
		!differs_in(s->own, &theirs, s->controller))
		pids_add(s->found, pid);
}

/* Returns true if /proc shows all processes of the machine. Two conditions are checked:
 * - It shows the initial PID namespace: only there, process 2 is a kernel thread (kthreadd).
 * - The mount option hidepid hides no process from us: the stat files of processes 1 and 2, which
 *   belong to root, are readable. */
static bool shows_every_process(const struct host *host)
{
	struct process_stat s;

	return process_read_stat(host, 1, &s) == 0 && process_read_stat(host, 2, &s) == 0 &&
	       s.kernel_thread;
}

/* Lists the processes of a group, with their pids in host->proc. Returns false if some processes
 * may be missing. */
static bool list_all(const struct cgroup *c, enum cgroup_controller i, const struct host *host,
	const struct process_membership *own, struct pids *ret)
{
	const struct cgroup_place *p = &c->place[i];
	struct membership_search search = {
		host, own, p->version == 1 ? cgroup_controllers[i] : "", ret};

	if (!host->other_pid_namespace)
		return cgroup_place_processes(p, host, pids_add, ret) == 0 &&
		       hides_none(c, p, host);
	return shows_every_process(host) && process_list(host, look_at_membership, &search) == 0;
}

static bool only_members(const struct cgroup *c, enum cgroup_controller controller,
	const struct host *host, const struct process_membership *own,
	const struct group_members *members)
{
	struct pids found = {0};
	bool only = list_all(c, controller, host, own, &found);

	for (size_t i = 0; i < found.n && only; i++)
		only = found.pid[i] && members->is_member(members->context, found.pid[i]);
	pids_done(&found);
	return only;
}

bool cgroup_keep_own(struct cgroup *c, const struct host *host, pid_t root,
	const struct group_members *members)
{
	const struct cgroup all = *c;
	struct process_membership own, ours;
	char number[16];
	bool any = false;

	snprintf(number, sizeof number, "%d", (int)root);
	bool known = membership_read(&own, host, number) && membership_read(&ours, host, "self");
	bool left_v1 = has_left_v1(host, root);

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		const char *controller = all.place[i].version == 1 ? cgroup_controllers[i] : "";
		bool keep =
			known && all.place[i].version && !(left_v1 && all.place[i].version == 1) &&
			differs_in(&own, &ours, controller) &&
			(!members->is_member ||
				only_members(&all, (enum cgroup_controller)i, host, &own, members));

		if (!keep)
			c->place[i] = (struct cgroup_place){0};
		any = any || keep;
	}
	return any;
}

/* Opens the file at each call. In v1, a file that stays open would show an old list: that of its
 * first reading, until the file is not read for 1 s (kernel/cgroup/cgroup-v1.c,
 * CGROUP_PIDLIST_DESTROY_DELAY). */
int cgroup_processes(const struct cgroup *c, const struct host *host,
	void (*each)(void *context, pid_t pid), void *context)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (c->place[i].version)
			return cgroup_place_processes(&c->place[i], host, each, context);
	return -ENOENT;
}

/* ---- child groups ---- */

struct below {
	const struct cgroup_place *place;
	struct slice but; /* name of the child group to skip; empty = none */
	bool any;
};

static int look_below(void *context, const char *name)
{
	struct below *b = context;
	char path[CGROUP_FILE_MAX], file[NAME_MAX + sizeof "/cgroup.procs"];

	if (slice_is(b->but, name))
		return 0;
	snprintf(file, sizeof file, "%.*s/cgroup.procs", NAME_MAX, name);
	b->any = tree_size(b->place->tree, cgroup_file(b->place, file, path)) >= 0;
	return b->any;
}

bool cgroup_has_groups_below(const struct cgroup_place *p, const struct cgroup_place *but)
{
	struct below b = {.place = p};
	size_t len = strlen(p->path);

	if (strncmp(but->path, p->path, len) == 0 && but->path[len] == '/') {
		const char *name = but->path + len + 1;

		if (strchr(name, '/'))
			return true;
		b.but = (struct slice){name, strlen(name)};
	}
	return tree_list(p->tree, p->path, look_below, &b) < 0 || b.any;
}
