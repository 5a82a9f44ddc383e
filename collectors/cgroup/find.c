/* Finding control groups. */
#include "collectors/cgroup/find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/kernel_file.h"

/* Name of each controller in v1; a v1 hierarchy may have several. */
static const char *const names[CGROUP_CONTROLLERS] = {"cpu", "cpuacct", "memory", "pids", "blkio"};

/* What /proc/PID/cgroup says: the group's path of each v1 controller and of v2, empty = none. */
struct membership {
	char v1[CGROUP_CONTROLLERS][CGROUP_PATH_MAX], v2[CGROUP_PATH_MAX];
};

static bool list_has(const char *list, size_t len, const char *name)
{
	struct scan rest = SCAN(list, len);
	struct slice item;

	while (scan_until(&rest, ',', &item))
		if (slice_is(item, name))
			return true;
	return slice_is((struct slice){rest.at, (size_t)(rest.end - rest.at)}, name);
}

/* A path that leaves what this cgroup namespace shows ("/../x") names nothing here. */
static bool path_usable(struct scan path)
{
	struct slice part;

	if ((size_t)(path.end - path.at) >= CGROUP_PATH_MAX || !scan_char(&path, '/'))
		return false;
	while (scan_until(&path, '/', &part))
		if (slice_is(part, ".."))
			return false;
	return !slice_is((struct slice){path.at, (size_t)(path.end - path.at)}, "..");
}

static void copy_path(struct scan path, char out[CGROUP_PATH_MAX])
{
	slice_copy((struct slice){path.at, (size_t)(path.end - path.at)}, out, CGROUP_PATH_MAX);
}

/* Lines "4:memory:/a/b" of v1 and one "0::/a/b" of v2. False when there is no line to use. */
static bool parse_membership(struct scan text, struct membership *ret)
{
	struct scan line;
	bool any = false;

	while (scan_line(&text, &line)) {
		struct slice controllers;
		uint64_t id;

		if (!scan_u64(&line, &id) || !scan_char(&line, ':') ||
			!scan_until(&line, ':', &controllers) || !path_usable(line))
			continue;
		any = true;
		if (id == 0 && controllers.len == 0)
			copy_path(line, ret->v2);
		for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
			if (list_has(controllers.data, controllers.len, names[i]))
				copy_path(line, ret->v1[i]);
	}
	return any;
}

/* What of path is below root; NULL when it is not. Both begin with a slash. */
static const char *below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (len == 1)
		return path;
	if (strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] ? path + len : "/";
}

/*
 * Fills place when the group path is in what this mount shows and its directory exists. Of several
 * mounts the first below /sys is taken: others are usually another machine's or a folder passed
 * into a container.
 */
static void try_mount(struct cgroup_place *place, const struct host *host, const struct mount *m,
	int version, const char *path)
{
	const char *rest = path[0] ? below(path, m->root) : NULL;
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

int cgroup_find(struct cgroup *ret, const struct host *host, const char *pid, struct err *e)
{
	AUTO(mounts_done) struct mounts mounts = {0};
	struct membership group = {0};
	struct cgroup c = {0};
	struct err why = {0};
	struct scan text;
	char path[64];

	snprintf(path, sizeof path, "%s/cgroup", pid);
	int code = host_read(host, host->proc, path, &text, &why);

	if (code == 0 && parse_membership(text, &group))
		code = mounts_read(&mounts, host->proc, "self/mountinfo", &why);
	else if (code == 0)
		return -ENOENT;
	if (code < 0)
		return code_means_absent(code) ? -ENOENT : err_set(e, code, "%s", why.text);
	bool any = false;

	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		struct cgroup_place *place = &c.place[i];

		for (size_t j = 0; j < mounts.n; j++) {
			const struct mount *m = &mounts.mount[j];

			if (group.v1[i][0] && strcmp(m->type, "cgroup") == 0 &&
				list_has(m->options, strlen(m->options), names[i]))
				try_mount(place, host, m, 1, group.v1[i]);
			if (!group.v1[i][0] && strcmp(m->type, "cgroup2") == 0)
				try_mount(place, host, m, 2, group.v2);
		}
		any = any || place->version;
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

char *cgroup_file(const struct cgroup_place *p, const char *name, char out[CGROUP_FILE_MAX])
{
	snprintf(out, CGROUP_FILE_MAX, "%s/%s", p->path, name);
	return out;
}

static uint64_t file_number(const struct cgroup_place *p, const struct host *host, const char *name)
{
	char path[CGROUP_FILE_MAX];

	return number_read(host, p->tree, cgroup_file(p, name, path));
}

/* A quota of "max" (v2) or -1 (v1) is none. */
static double cpu_cores(const struct cgroup_place *p, const struct host *host)
{
	char path[CGROUP_FILE_MAX];
	struct scan text;
	uint64_t quota = NUMBER_UNKNOWN, period = NUMBER_UNKNOWN;

	if (p->version == 1) {
		quota = file_number(p, host, "cpu.cfs_quota_us");
		period = file_number(p, host, "cpu.cfs_period_us");
	} else if (host_read(host, p->tree, cgroup_file(p, "cpu.max", path), &text, NULL) == 0) {
		if (!scan_u64(&text, &quota) || !scan_u64(&text, &period))
			return NAN;
	}
	if (quota == NUMBER_UNKNOWN || period == NUMBER_UNKNOWN || quota == 0 || period == 0)
		return NAN;
	return (double)quota / (double)period;
}

/* v1 writes "no limit" as the largest number of whole pages; no machine comes near half of it. */
#define MEMORY_UNLIMITED (UINT64_C(1) << 62)

static double memory_limit(uint64_t bytes)
{
	return bytes < MEMORY_UNLIMITED ? (double)bytes : NAN;
}

double cgroup_memory_limit(const struct cgroup_place *p, const struct host *host)
{
	return memory_limit(file_number(p, host,
		p->version == 1 ? "memory.limit_in_bytes" : "memory.max"));
}

static double tasks(const struct cgroup_place *p, const struct host *host)
{
	return number_value(file_number(p, host, "pids.max"));
}

static double smallest(struct cgroup_place p, const struct host *host,
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

/* Also counts the groups above that cannot be seen from here. */
static double hierarchical_memory_limit(const struct cgroup_place *p, const struct host *host)
{
	char path[CGROUP_FILE_MAX];
	struct scan text;

	if (p->version != 1 ||
		host_read(host, p->tree, cgroup_file(p, "memory.stat", path), &text, NULL) < 0)
		return NAN;
	return memory_limit(number_find(text, "hierarchical_memory_limit"));
}

struct cgroup_limits cgroup_limits_read(const struct cgroup *c, const struct host *host)
{
	const struct cgroup_place *memory = &c->place[CGROUP_MEMORY];

	return (struct cgroup_limits){
		.cpu_cores = smallest(c->place[CGROUP_CPU], host, cpu_cores),
		.memory_bytes = fmin(smallest(*memory, host, cgroup_memory_limit),
			hierarchical_memory_limit(memory, host)),
		.tasks = smallest(c->place[CGROUP_PIDS], host, tasks),
	};
}
