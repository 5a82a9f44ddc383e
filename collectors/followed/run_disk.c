#include "collectors/followed/run_disk.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/process/process.h"

#define PATH_SIZE 4096
/* Pause between two readings of a mount table: one second for every 1000 mounts. */
#define MOUNTS_PER_PAUSE_SECOND 1000

/* Writes the path of a file of process `pid`; 0 = "self/...". Returns the value of snprintf(3). */
static int path_through(pid_t pid, const char *file, char *ret, size_t size)
{
	return pid ? snprintf(ret, size, "%d/%s", (int)pid, file) :
		     snprintf(ret, size, "self/%s", file);
}

/* Reads the used bytes. -ETIMEDOUT: the file system may answer later
 * (collectors/base/tree_guard.h). */
static int read_used(struct tree *t, const char *path, struct tree_space *space, uint64_t *ret)
{
	int code = tree_space(t, path, space);

	if (code < 0 || space->free > space->size)
		return code < 0 ? code : -EBADMSG;
	*ret = space->size - space->free;
	return 0;
}

/* Returns true for a file system already in the list. An overlay reports the space of the file
 * system that it writes to, which must not count twice. */
static bool is_known(const struct run_disk *d, const struct run_filesystem *f)
{
	for (size_t i = 0; i < d->n; i++) {
		uint64_t other = d->filesystem[i].used;
		uint64_t difference = f->used > other ? f->used - other : other - f->used;

		if (d->filesystem[i].size == f->size && difference <= f->size / 1024)
			return true;
	}
	return false;
}

static bool has_device(const struct run_disk *d, uint64_t device)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->filesystem[i].device == device)
			return true;
	return false;
}

static void add_filesystem(struct run_disk *d, struct run_filesystem f, const char *path)
{
	f.path = xstrdup(path);
	d->filesystem[d->n++] = f;
}

/* Keeps the entry of a file system that does not answer. Hash 0 makes the next tick list all mounts
 * again. */
static void put_off(struct run_disk *d, const struct mount *m, const char *path,
	const struct run_disk *before)
{
	d->hash = 0;
	for (size_t i = 0; i < before->n; i++)
		if (before->filesystem[i].device == m->device)
			add_filesystem(d, before->filesystem[i], path);
}

/* Adds a mount. If its file system was in the list before, the used space at the start of the run
 * is kept. */
static void add_mount(struct run_disk *d, const struct host *h, const struct mount *m,
	const struct run_disk *before)
{
	struct run_filesystem f = {.device = m->device};
	char root[PATH_SIZE], path[PATH_SIZE];
	struct tree_space space;
	int n = snprintf(root, sizeof root, "root/%s", m->point + strspn(m->point, "/"));

	if (n >= 0 && (size_t)n < sizeof root)
		n = path_through(d->through, root, path, sizeof path);
	if (n < 0 || (size_t)n >= sizeof path || d->n == RUN_DISK_FILESYSTEMS_MAX ||
		has_device(d, m->device))
		return;
	int code = read_used(h->proc, path, &space, &f.used);

	if (code == -ETIMEDOUT)
		put_off(d, m, path, before);
	if (code < 0)
		return;
	f.size = space.size;
	if (space.size == 0 || space.read_only || is_known(d, &f))
		return;
	f.used_before = f.used;
	for (size_t i = 0; i < before->n; i++)
		if (before->filesystem[i].device == f.device &&
			before->filesystem[i].size == f.size)
			f.used_before = before->filesystem[i].used_before;
	add_filesystem(d, f, path);
}

static void free_paths(struct run_disk *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->filesystem[i].path);
	d->n = 0;
}

static void list_anew(struct run_disk *d, const struct host *h, const struct mounts *all)
{
	struct run_disk before = *d;

	d->n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct mount *m = &all->mount[i];
		enum mount_kind kind = mount_kind_of(m);

		if ((kind == MOUNT_LOCAL || kind == MOUNT_LAYERED) && mounts_reach(all, m))
			add_mount(d, h, m, &before);
	}
	free_paths(&before);
}

/* Lists the file systems by the current mount table. The table of another namespace is opened for
 * each reading, because an open descriptor would keep that namespace and its mounts alive. Returns
 * false when the table cannot be read, or must not be read yet. */
static bool find_filesystems(struct run_disk *d, const struct host *h, pid_t pid)
{
	AUTO(mounts_done) struct mounts all = {0};
	uint64_t changes = mount_watch_changes(h->mounts);
	/* Paths in our own mount namespace stay valid after the process has ended. */
	bool ours = d->found ? d->through == 0 : process_shares(h, pid, "mnt");
	pid_t through = ours ? 0 : pid;
	char path[64];

	if (h->now.mono.ns < d->due.ns)
		return false;
	path_through(through, "mountinfo", path, sizeof path);
	if (mounts_read(&all, h->proc, path, NULL) < 0)
		return false;
	d->due.ns = h->now.mono.ns + (int64_t)(all.n / MOUNTS_PER_PAUSE_SECOND) * NS_PER_S;
	d->changes = changes;
	if (d->found && d->through == through && d->hash == all.hash)
		return true;
	d->found = true;
	d->through = through;
	d->hash = all.hash;
	list_anew(d, h, &all);
	return true;
}

/* Returns true when `d` lists the current file systems. Makes a new list if the mount table may
 * have changed. */
static bool still_good(struct run_disk *d, const struct host *h, pid_t pid)
{
	bool ours = d->found && d->through == 0;
	uint64_t changes = ours ? mount_watch_changes(h->mounts) : 0;

	if (changes && changes == d->changes && d->hash)
		return true;
	return (ours || pid) && find_filesystems(d, h, pid);
}

/* Returns the growth of all file systems. NaN: one of them does not answer, so the sum is
 * unknown. */
static double grown_bytes(const struct run_disk *d, const struct host *h)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct run_filesystem *f = &d->filesystem[i];
		struct tree_space space;
		uint64_t used;
		int code = read_used(h->proc, f->path, &space, &used);

		if (code == -ETIMEDOUT)
			return NAN;
		if (code == 0 && used > f->used_before)
			sum += (double)(used - f->used_before);
	}
	return sum;
}

double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, double written)
{
	if (!still_good(d, h, pid) || d->n == 0 || d->hash == 0 || isnan(written))
		return NAN;
	double now = grown_bytes(d, h);

	if (isnan(now))
		return NAN;
	d->most = fmax(d->most, fmin(now, written));
	return d->most;
}

void run_disk_done(struct run_disk *d)
{
	free_paths(d);
	*d = (struct run_disk){0};
}
