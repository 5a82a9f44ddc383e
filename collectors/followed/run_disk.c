#include "collectors/followed/run_disk.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/process/process.h"

#define PATH_SIZE 4096
/* Pause between two readings of a mount table: one second for every 1000 mounts. */
#define MOUNTS_PER_PAUSE_SECOND 1000

/* Writes the path of a file of process `pid` to `ret`. If `pid` is 0, the path begins with "self/".
 * Returns the value of snprintf(3). */
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

/* Returns true if the list already has a file system with the same size and nearly the same used
 * space. An example is an overlay, which reports the space of the file system that it writes to.
 * That space must not count twice. */
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

/* Postpones the reading of a file system that does not answer. Keeps the entry that the file system
 * had in the list `before`. Sets the hash to 0, so that the list is made again at the next tick. */
static void put_off(struct run_disk *d, const struct mount *m, const char *path,
	const struct run_disk *before)
{
	d->hash = 0;
	for (size_t i = 0; i < before->n; i++)
		if (before->filesystem[i].device == m->device)
			add_filesystem(d, before->filesystem[i], path);
}

/* Mount tables outside the run: that of the exporter (`ours`) and that of process 1 (`of_init`). A
 * disk that is mounted in neither belongs to the run alone. */
struct outsiders {
	bool known;
	struct mounts ours, of_init;
};

static bool has_mounted(const struct mounts *all, uint64_t device)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->mount[i].device == device)
			return true;
	return false;
}

/* Returns true for a disk that is mounted in the run's mount namespace only. Returns false for a
 * file system without a block device, because it may share its space with others. */
static bool is_own(const struct outsiders *o, const struct mount *m)
{
	return o->known && major(m->device) && mount_kind_of(m) == MOUNT_LOCAL &&
	       !has_mounted(&o->ours, m->device) && !has_mounted(&o->of_init, m->device);
}

/* Adds the file system of a mount to the list. If the list `before` had this file system, its
 * lowest used space is kept. */
static void add_mount(struct run_disk *d, const struct host *h, const struct mount *m,
	const struct run_disk *before, const struct outsiders *outsiders)
{
	struct run_filesystem f = {.device = m->device, .own = is_own(outsiders, m)};
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
	f.lowest = f.used;
	for (size_t i = 0; i < before->n; i++)
		if (before->filesystem[i].device == f.device &&
			before->filesystem[i].size == f.size)
			f.lowest = before->filesystem[i].lowest;
	add_filesystem(d, f, path);
}

static void free_paths(struct run_disk *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->filesystem[i].path);
	d->n = 0;
}

static bool same_namespace(const struct host *h, pid_t a, pid_t b)
{
	char path[PROCESS_PATH_MAX], of_a[64], of_b[64];

	return tree_link(h->proc, process_path(path, a, "ns/mnt"), of_a, sizeof of_a) < 0 ||
	       tree_link(h->proc, process_path(path, b, "ns/mnt"), of_b, sizeof of_b) < 0 ||
	       strcmp(of_a, of_b) == 0;
}

/* Reads the mount tables of processes outside the run, if the run has a mount namespace of its
 * own. */
static void read_outsiders(struct outsiders *o, const struct host *h, pid_t through, pid_t outside)
{
	o->known = through && outside && h->initial_pid_namespace &&
		   !same_namespace(h, through, outside) &&
		   mounts_read(&o->ours, h->proc, "self/mountinfo", NULL) == 0 &&
		   mounts_read(&o->of_init, h->proc, "1/mountinfo", NULL) == 0;
}

static void list_anew(struct run_disk *d, const struct host *h, const struct mounts *all,
	pid_t outside)
{
	struct outsiders outsiders = {0};
	struct run_disk before = *d;

	read_outsiders(&outsiders, h, d->through, outside);
	d->n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct mount *m = &all->mount[i];
		enum mount_kind kind = mount_kind_of(m);

		if ((kind == MOUNT_LOCAL || kind == MOUNT_LAYERED) && mounts_reach(all, m))
			add_mount(d, h, m, &before, &outsiders);
	}
	mounts_done(&outsiders.ours);
	mounts_done(&outsiders.of_init);
	free_paths(&before);
}

/* Lists the file systems of the current mount table. Returns false if the table cannot be read, or
 * if the pause after the last reading has not passed. The table of another mount namespace is
 * opened for each reading, because an open descriptor would keep that namespace and its mounts
 * alive. */
static bool find_filesystems(struct run_disk *d, const struct host *h, pid_t pid, pid_t outside)
{
	AUTO(mounts_done) struct mounts all = {0};
	uint64_t changes = mount_watch_changes(h->mounts);
	/* If the process is in our mount namespace, use our own paths: they stay valid after it has
	 * ended. */
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
	list_anew(d, h, &all, outside);
	return true;
}

/* Returns true if `d` lists the current file systems of the run. If the mount table may have
 * changed, reads it and makes a new list first. */
static bool still_good(struct run_disk *d, const struct host *h, pid_t pid, pid_t outside)
{
	bool ours = d->found && d->through == 0;
	uint64_t changes = ours ? mount_watch_changes(h->mounts) : 0;

	if (changes && changes == d->changes && d->hash)
		return true;
	return (ours || pid) && find_filesystems(d, h, pid, outside);
}

/* Returns the growth of all file systems since their lowest used space. Returns NaN if a file
 * system does not answer, because the sum is then unknown. */
static double grown_bytes(struct run_disk *d, const struct host *h)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++) {
		struct run_filesystem *f = &d->filesystem[i];
		struct tree_space space;
		uint64_t used;
		int code = read_used(h->proc, f->path, &space, &used);

		if (code == -ETIMEDOUT)
			return NAN;
		if (code < 0)
			continue;
		if (used < f->lowest) {
			d->fallen += f->own ? 0 : (double)(f->lowest - used);
			f->lowest = used;
		}
		sum += (double)(used - f->lowest);
	}
	return sum;
}

static bool all_own(const struct run_disk *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->filesystem[i].own)
			return false;
	return d->n > 0;
}

/* Adds the writes since the last call. `most_written` assumes that all these writes came before all
 * deletions. If more bytes were deleted than the run wrote, it must have deleted bytes that other
 * processes had written. They go to `of_others`. */
static void take_writes(struct run_disk *d, struct run_disk_writes writes)
{
	d->incomplete = d->incomplete || isnan(writes.written);
	if (isnan(writes.written))
		return;
	d->most_written = fmax(d->most_written, writes.written - d->cancelled);
	d->written = writes.written;
	d->of_others = fmax(d->of_others, writes.cancelled - writes.written);
	d->cancelled = writes.cancelled - d->of_others;
}

/* Adds the growth since the last call. `grown` is the result of grown_bytes. All bytes that were
 * written since the last reading count as growth in two cases:
 * - `grown` is NaN (unknown).
 * - Other processes freed more than RUN_DISK_FREED_BYTES that were used before, which hides the
 *   growth. */
static void take_growth(struct run_disk *d, double grown)
{
	double at_most = d->grown + d->written;

	if (!isnan(grown)) {
		if (!d->read)
			d->unseen = d->written;
		if (d->read && d->fallen > (double)RUN_DISK_FREED_BYTES) {
			d->unseen = at_most - grown;
			d->fallen = 0;
		}
		d->read = true;
		d->grown = grown + d->unseen - d->written;
	}
	d->most_grown = fmax(d->most_grown, d->grown + d->written);
}

static void choose(struct run_disk *d)
{
	double grown = d->read ? d->most_grown + (double)RUN_DISK_FREED_BYTES : (double)INFINITY;
	bool own = d->read && all_own(d);

	d->source = own                      ? "own" :
		    d->incomplete            ? NULL :
		    d->most_written <= grown ? "written" :
					       "growth";
	d->most = fmax(d->most, own ? d->most_grown : fmin(d->most_written, grown));
}

double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, pid_t outside,
	struct run_disk_writes writes)
{
	bool readable = still_good(d, h, pid, outside) && d->n > 0 && d->hash != 0;

	take_writes(d, writes);
	take_growth(d, readable ? grown_bytes(d, h) : (double)NAN);
	choose(d);
	return d->source ? d->most : (double)NAN;
}

void run_disk_done(struct run_disk *d)
{
	free_paths(d);
	*d = (struct run_disk){0};
}
