/* The file systems that a run may write to, and how they fill. */
#include "collectors/run_disk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/process.h"

#define PATH_SIZE 4096

static bool harmless(const struct mount *m)
{
	return mount_kind_of(m) != MOUNT_REMOTE;
}

static bool read_used(struct tree *t, const char *path, struct tree_space *space, uint64_t *ret)
{
	if (tree_space(t, path, space) < 0 || space->free > space->size)
		return false;
	*ret = space->size - space->free;
	return true;
}

/* An overlay answers with the numbers of the file system that it writes to: the same is not counted twice. */
static bool is_known(const struct run_disk *d, const struct tree_space *space, uint64_t used)
{
	for (size_t i = 0; i < d->n; i++) {
		uint64_t other = d->filesystem[i].used_before;
		uint64_t difference = used > other ? used - other : other - used;

		if (d->filesystem[i].size == space->size && difference <= space->size / 1024)
			return true;
	}
	return false;
}

static void add_mount(struct run_disk *d, const struct host *h, pid_t pid, bool shared,
	const struct mount *m)
{
	struct tree *t = shared ? h->root : h->proc;
	const char *below_root = m->point + strspn(m->point, "/");
	char path[PATH_SIZE];
	struct tree_space space;
	uint64_t used;
	int n = shared ? snprintf(path, sizeof path, "%s", below_root) :
			 snprintf(path, sizeof path, "%d/root/%s", (int)pid, below_root);

	if (n < 0 || (size_t)n >= sizeof path || d->n == RUN_DISK_FILESYSTEMS_MAX ||
		!read_used(t, path, &space, &used))
		return;
	if (space.size == 0 || space.read_only || is_known(d, &space, used))
		return;
	d->filesystem[d->n++] = (struct run_filesystem){t, xstrdup(path), space.size, used};
}

static void find_filesystems(struct run_disk *d, const struct host *h, pid_t pid)
{
	AUTO(mounts_done) struct mounts all = {0};
	/* In our own mount namespace paths stay good when the process is gone; in another one they lead through it. */
	bool shared = process_shares(h, pid, "mnt");
	char path[64];

	snprintf(path, sizeof path, "%d/mountinfo", (int)pid);
	if (mounts_read(&all, h->proc, path, NULL) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		const struct mount *m = &all.mount[i];
		enum mount_kind kind = mount_kind_of(m);

		if ((kind == MOUNT_LOCAL || kind == MOUNT_LAYERED) &&
			mounts_reach(&all, m, harmless))
			add_mount(d, h, pid, shared, m);
	}
	d->found = true;
}

static double grown(const struct run_disk *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct run_filesystem *f = &d->filesystem[i];
		struct tree_space space;
		uint64_t used;

		if (read_used(f->tree, f->path, &space, &used) && used > f->used_before)
			sum += (double)(used - f->used_before);
	}
	return sum;
}

double run_disk_look(struct run_disk *d, const struct host *h, pid_t pid, double written)
{
	if (!d->found && pid)
		find_filesystems(d, h, pid);
	if (d->n == 0 || isnan(written))
		return NAN;
	d->most = fmax(d->most, fmin(grown(d), written));
	return d->most;
}

void run_disk_done(struct run_disk *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->filesystem[i].path);
	*d = (struct run_disk){0};
}
