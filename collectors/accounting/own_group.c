#include "collectors/accounting/own_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define PREFIX     "rightsize-"
#define TEXT_SIZE  4096
#define PATH_SIZE  4096
#define MOVE_TRIES 100 /* attempts to empty the group, because a job may keep forking */
#define DEPTH_MAX  16  /* maximum number of levels of child groups that are removed */

/* ---- permission to divide a group ---- */

static bool ends_with(struct slice name, const char *suffix)
{
	size_t n = strlen(suffix);

	return name.len > n && memcmp(name.data + name.len - n, suffix, n) == 0;
}

/* Returns true if systemd marked the group as delegated. trusted.delegate is the older mark; only
 * root can read it. */
static bool is_delegated(const char *directory)
{
	char value[2];

	return (getxattr(directory, "user.delegate", value, sizeof value) == 1 &&
		       value[0] == '1') ||
	       (getxattr(directory, "trusted.delegate", value, sizeof value) == 1 &&
		       value[0] == '1');
}

/* Returns true if this process is the only one in the group. */
static bool is_alone(const char *directory)
{
	char path[PATH_SIZE + sizeof "/cgroup.procs"], text[64];
	uint64_t pid;

	snprintf(path, sizeof path, "%s/cgroup.procs", directory);
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	struct scan s = SCAN(text, n > 0 ? n : 0);

	return scan_u64(&s, &pid) && pid == (uint64_t)getpid() && scan_char(&s, '\n') &&
	       scan_end(&s);
}

/* Returns true if the group is below user@UID.service, the systemd of a user. */
static bool is_below_user_service(const char *path, size_t mount)
{
	for (const char *at = path + mount; (at = strstr(at, "/user@")); at++) {
		const char *end = strchr(at + 1, '/');

		if (end && ends_with((struct slice){at, (size_t)(end - at)}, ".service"))
			return true;
	}
	return false;
}

/* Returns true for a scope that systemd-run --user --scope made for this process. A user's systemd
 * marks none of its units as delegated (cgroup_xattr_apply() in src/core/cgroup.c), so the mark
 * cannot be checked. Three other signs are checked instead: the group is below a user's systemd,
 * belongs to our user, and contains only this process. */
static bool is_user_scope(const char *path, size_t mount)
{
	struct stat s;

	return is_below_user_service(path, mount) && stat(path, &s) == 0 && s.st_uid == geteuid() &&
	       is_alone(path);
}

bool own_group_allowed(const char *directory, size_t mount, bool under_systemd)
{
	char path[PATH_SIZE];
	size_t len = strlen(directory);

	if (len >= sizeof path)
		return false;
	if (!under_systemd)
		return true;
	/* The nearest unit of systemd decides: this group, or else the first unit above it. */
	for (text_copy(directory, path, sizeof path); len > mount; path[len] = '\0') {
		size_t start = len;

		while (start > mount && path[start - 1] != '/')
			start--;
		struct slice name = {path + start, len - start};

		if (ends_with(name, ".service"))
			return is_delegated(path);
		if (ends_with(name, ".scope"))
			return is_delegated(path) || is_user_scope(path, mount);
		if (ends_with(name, ".slice"))
			return false;
		len = start > 0 ? start - 1 : 0;
	}
	return false;
}

/* ---- leftovers of ended exporters ---- */

/* Returns true if an exporter made this group and that exporter has ended. */
static bool is_of_dead_maker(const char *name)
{
	struct scan s = SCAN(name, strlen(name));
	uint64_t pid;

	return scan_literal(&s, PREFIX) && scan_u64(&s, &pid) && scan_char(&s, '-') && pid > 0 &&
	       pid <= INT32_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Decides which empty groups may be removed. Returns false for a group that a living exporter made,
 * because a job may enter it later. Returns true for all other groups. */
static bool is_not_of_living_maker(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) != 0 || is_of_dead_maker(name);
}

/* Removes the empty groups below `parent` that `may_go` accepts, child groups first. Returns the
 * number of removed groups. `may_go` may wrongly accept the group of an exporter that runs in
 * another PID namespace. This does no harm, because the kernel does not remove a group in use. */
static size_t remove_empty(int parent, bool (*may_go)(const char *name), unsigned depth)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;

	if (!d) {
		closep(&fd);
		return 0;
	}
	while ((entry = readdir(d))) {
		const char *name = entry->d_name;

		if (entry->d_type != DT_DIR || *name == '.' || !may_go(name))
			continue;
		AUTO(closep)
		int below = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (below >= 0 && depth > 0)
			n += remove_empty(below, may_go, depth - 1);
		n += unlinkat(parent, name, AT_REMOVEDIR) == 0;
	}
	closedir(d);
	return n;
}

/* ---- making a group ---- */

/* Makes the name of a new group from our pid and a random number. The pid shows later whether the
 * exporter that made the group has ended. The random number keeps exporters in different PID
 * namespaces apart, because their pids may be equal. */
static void make_name(char out[OWN_GROUP_NAME_MAX])
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (uint32_t)now_read().mono.ns;
	snprintf(out, OWN_GROUP_NAME_MAX, PREFIX "%d-%08x", (int)getpid(), random);
}

static int open_files(struct own_group *g, struct err *e)
{
	g->self = openat(g->parent, g->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->self < 0)
		return err_system(e, -errno, "open group");
	g->procs = openat(g->self, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (g->procs < 0)
		return err_system(e, -errno, "open cgroup.procs");
	g->usage = openat(g->self, g->version == 1 ? "cpuacct.usage" : "cpu.stat",
		O_RDONLY | O_CLOEXEC);
	if (g->usage < 0)
		return err_system(e, -errno, "open usage");
	return 0;
}

int own_group_make(struct own_group *ret, const char *directory, int version, struct err *e)
{
	struct own_group g = OWN_GROUP_NONE;

	g.version = version;
	make_name(g.name);
	g.parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g.parent < 0)
		return err_system(e, -errno, "open %s", directory);
	remove_empty(g.parent, is_of_dead_maker, DEPTH_MAX);
	if (mkdirat(g.parent, g.name, 0755) < 0) {
		int code = err_system(e, -errno, "make %s/%s", directory, g.name);

		closep(&g.parent);
		return code;
	}
	int code = open_files(&g, e);
	uint64_t used;

	if (code == 0)
		code = own_group_cpu_ns(&g, &used);
	if (code) {
		own_group_remove(&g);
		return code;
	}
	*ret = g;
	return 0;
}

bool own_group_enter(const struct own_group *g)
{
	return g->procs >= 0 && write(g->procs, "0", 1) == 1;
}

/* ---- reading CPU time ---- */

static bool read_text(int fd, char *text, struct scan *ret)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, TEXT_SIZE, 0);

	*ret = SCAN(text, n > 0 ? n : 0);
	return n >= 0;
}

int own_group_cpu_ns(const struct own_group *g, uint64_t *ret)
{
	char text[TEXT_SIZE];
	struct scan s, line;
	uint64_t v;

	if (!read_text(g->usage, text, &s))
		return -ENODATA;
	if (g->version == 1)
		return scan_u64(&s, ret) ? 0 : -EBADMSG;
	if (!scan_line_of(&s, "usage_usec ", &line) || !scan_u64(&line, &v) ||
		v >= UINT64_MAX / 1000)
		return -EBADMSG;
	*ret = v * 1000;
	return 0;
}

/* ---- removing a group ---- */

/* Moves the processes of the group to its parent group. Returns false if none was moved. */
static bool send_home(const struct own_group *g, int home)
{
	char text[TEXT_SIZE];
	struct scan s;
	struct slice pid;
	AUTO(closep) int procs = openat(g->self, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	bool any = false;

	if (!read_text(procs, text, &s))
		return false;
	/* The list may be longer than the buffer. Do not use a last line that is cut off: its
	 * digits are the pid of another process. The write fails for a process that has ended. */
	while (scan_until(&s, '\n', &pid))
		if (pid.len > 0 && write(home, pid.data, pid.len) == (ssize_t)pid.len)
			any = true;
	return any;
}

/* Removes empty child groups and moves processes out of the group. Returns false if nothing
 * changed. Another attempt is then useless. */
static bool clear_out(const struct own_group *g, int home)
{
	size_t removed = remove_empty(g->self, is_not_of_living_maker, DEPTH_MAX);
	bool sent = home >= 0 && send_home(g, home);

	return removed > 0 || sent;
}

void own_group_remove(struct own_group *g)
{
	if (g->parent >= 0) {
		AUTO(closep) int home = openat(g->parent, "cgroup.procs", O_WRONLY | O_CLOEXEC);

		for (int i = 0; i < MOVE_TRIES; i++) {
			if (unlinkat(g->parent, g->name, AT_REMOVEDIR) == 0 || errno != EBUSY)
				break;
			if (g->self < 0 || !clear_out(g, home))
				break;
		}
	}
	closep(&g->parent);
	closep(&g->self);
	closep(&g->procs);
	closep(&g->usage);
	*g = OWN_GROUP_NONE;
}
