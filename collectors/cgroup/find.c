#include "collectors/cgroup/find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/kernel_file.h"

const char *const cgroup_controllers[CGROUP_CONTROLLERS] = {
	"cpu", "cpuacct", "memory", "pids", "blkio"};

static bool list_has(struct slice list, const char *name)
{
	struct scan rest = scan_slice(list);
	struct slice item;

	while (scan_piece(&rest, ',', &item))
		if (slice_is(item, name))
			return true;
	return false;
}

/* Parses lines such as "4:memory:/a/b" (v1) and the line "0::/a/b" (v2). */
bool cgroup_path_in(struct scan text, const char *controller, struct slice *ret)
{
	struct slice list;
	struct scan line;
	uint64_t id;

	while (scan_line(&text, &line)) {
		if (!scan_u64(&line, &id) || !scan_char(&line, ':') ||
			!scan_until(&line, ':', &list))
			continue;
		if (list.len ? list_has(list, controller) : !controller[0]) {
			*ret = scan_rest(&line);
			return true;
		}
	}
	return false;
}

/* Returns false for a path that leads out of this cgroup namespace ("/../x"). No mount here shows
 * such a group. */
static bool usable_path_in(struct scan text, const char *controller, char out[CGROUP_PATH_MAX])
{
	struct slice path, part;

	if (!cgroup_path_in(text, controller, &path) || path.len >= CGROUP_PATH_MAX ||
		!slice_starts(path, "/"))
		return false;

	struct scan rest = scan_slice(path);

	while (scan_piece(&rest, '/', &part))
		if (slice_is(part, ".."))
			return false;
	slice_copy(path, out, CGROUP_PATH_MAX);
	return true;
}

/* Returns the part of `path` below `root`, or NULL if `path` is not below `root`. Both begin with a
 * slash. */
static const char *path_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (len == 1)
		return path;
	if (strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] ? path + len : "/";
}

/* Sets `place` if this mount shows the group and the group's directory exists. A mount below /sys
 * replaces a mount elsewhere, which often belongs to another machine or is a folder passed into a
 * container. Otherwise the first mount stays. */
static void try_mount(struct cgroup_place *place, const struct host *host, const struct mount *m,
	int version, const char *path)
{
	const char *rest = path_below(path, m->root);
	bool in_sys = strncmp(m->point, "/sys/", 5) == 0;
	struct cgroup_place found = {.tree = in_sys ? host->sys : host->root, .version = version};

	if (!rest || m->point[0] != '/' ||
		(place->version && (place->tree == host->sys || !in_sys)))
		return;
	int top = snprintf(found.path, sizeof found.path, "%s", m->point + (in_sys ? 5 : 1));

	if (top <= 0 || (size_t)top >= sizeof found.path || found.path[0] == '/')
		return;
	found.top = (size_t)top;
	if (rest[1] && (size_t)snprintf(found.path + top, sizeof found.path - found.top, "%s",
			       rest) >= sizeof found.path - found.top)
		return;
	if (tree_size(found.tree, found.path) >= 0)
		*place = found;
}

/* Finds the group of one controller. Searches the v1 mounts of the controller. If the process is in
 * no v1 group of this controller, searches the v2 mounts. */
static void find_place(struct cgroup_place *place, const struct host *host, struct scan text,
	const struct mounts *mounts, const char *controller)
{
	char path[CGROUP_PATH_MAX];
	bool v1 = usable_path_in(text, controller, path);

	if (!v1 && !usable_path_in(text, "", path))
		return;
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *m = &mounts->mount[i];
		struct slice options = {m->options, strlen(m->options)};

		if (v1 && strcmp(m->type, "cgroup") == 0 && list_has(options, controller))
			try_mount(place, host, m, 1, path);
		if (!v1 && strcmp(m->type, "cgroup2") == 0)
			try_mount(place, host, m, 2, path);
	}
}

int cgroup_find(struct cgroup *ret, const struct host *host, const char *pid, struct err *e)
{
	AUTO(mounts_done) struct mounts mounts = {0};
	struct cgroup c = {0};
	struct err why = {0};
	struct scan text;
	char path[64];
	bool any = false;

	snprintf(path, sizeof path, "%s/cgroup", pid);
	int code = kernel_file_read_once(host, host->proc, path, &text, &why);

	if (code == 0)
		code = mounts_read(&mounts, host->proc, "self/mountinfo", &why);
	if (code < 0)
		return kernel_file_absent(code) ? -ENOENT : err_set(e, code, "%s", why.text);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		find_place(&c.place[i], host, text, &mounts, cgroup_controllers[i]);
		any = any || c.place[i].version;
	}
	if (!any)
		return -ENOENT;
	*ret = c;
	return 0;
}

bool cgroup_exists(const struct cgroup *c)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (c->place[i].version && tree_size(c->place[i].tree, c->place[i].path) >= 0)
			return true;
	return false;
}

bool cgroup_parent(struct cgroup_place *p)
{
	char *slash = strrchr(p->path + p->top, '/');

	if (!p->version || !slash)
		return false;
	*slash = '\0';
	return true;
}

bool cgroup_same_place(const struct cgroup_place *a, const struct cgroup_place *b)
{
	return a->version && a->version == b->version && a->tree == b->tree &&
	       strcmp(a->path, b->path) == 0;
}

char *cgroup_file(const struct cgroup_place *p, const char *name, char out[CGROUP_FILE_MAX])
{
	snprintf(out, CGROUP_FILE_MAX, "%s/%s", p->path, name);
	return out;
}

static uint64_t file_number(const struct cgroup_place *p, const struct host *host, const char *name)
{
	char path[CGROUP_FILE_MAX];

	return kernel_file_number(host, p->tree, cgroup_file(p, name, path));
}

/* Returns the CPU quota in cores; NaN = no quota. The files have "max" (v2) or -1 (v1) if there is
 * no quota. */
static double cpu_cores(const struct cgroup_place *p, const struct host *host)
{
	char path[CGROUP_FILE_MAX];
	struct scan text;
	uint64_t quota = NUMBER_UNKNOWN, period = NUMBER_UNKNOWN;

	if (p->version == 1) {
		quota = file_number(p, host, "cpu.cfs_quota_us");
		period = file_number(p, host, "cpu.cfs_period_us");
	} else if (kernel_file_read_once(host, p->tree, cgroup_file(p, "cpu.max", path), &text,
			   NULL) == 0) {
		if (!scan_u64(&text, &quota) || !scan_u64(&text, &period))
			return NAN;
	}
	if (quota == NUMBER_UNKNOWN || period == NUMBER_UNKNOWN || quota == 0 || period == 0)
		return NAN;
	return (double)quota / (double)period;
}

/* v1 reports "no limit" as the largest number of whole pages, about 2^63 bytes. No machine has half
 * as much memory. */
#define MEMORY_UNLIMITED 0x1p62

static double memory_limit(double bytes)
{
	return bytes < MEMORY_UNLIMITED ? bytes : (double)NAN;
}

double cgroup_memory_limit(const struct cgroup_place *p, const struct host *host)
{
	return memory_limit(number_value(file_number(p, host,
		p->version == 1 ? "memory.limit_in_bytes" : "memory.max")));
}

static double tasks(const struct cgroup_place *p, const struct host *host)
{
	return number_value(file_number(p, host, "pids.max"));
}

static double smallest_limit(struct cgroup_place p, const struct host *host,
	double (*limit)(const struct cgroup_place *, const struct host *))
{
	double least = NAN;

	if (!p.version)
		return NAN;
	do
		least = fmin(least, limit(&p, host));
	while (cgroup_parent(&p));
	return least;
}

/* Returns the memory limit that v1 reports for the whole hierarchy. It includes limits of groups
 * above that are not visible here. Returns NaN for v2. */
static double hierarchical_memory_limit(const struct cgroup_place *p, const struct host *host)
{
	char path[CGROUP_FILE_MAX];
	struct scan text;

	if (p->version != 1 || kernel_file_read_once(host, p->tree,
				       cgroup_file(p, "memory.stat", path), &text, NULL) < 0)
		return NAN;
	return memory_limit(number_found(text, "hierarchical_memory_limit"));
}

struct cgroup_limits cgroup_limits_read(const struct cgroup *c, const struct host *host)
{
	const struct cgroup_place *memory = &c->place[CGROUP_MEMORY];

	return (struct cgroup_limits){
		.cpu_cores = smallest_limit(c->place[CGROUP_CPU], host, cpu_cores),
		.memory_bytes = fmin(smallest_limit(*memory, host, cgroup_memory_limit),
			hierarchical_memory_limit(memory, host)),
		.tasks = smallest_limit(c->place[CGROUP_PIDS], host, tasks),
	};
}
