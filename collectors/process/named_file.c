#include "collectors/process/named_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/mounts.h"
#include "collectors/process/process.h"

#define PATH_ROOM (2 * PATH_MAX)

struct file_query {
	const struct host *host;
	pid_t pid;
	/* Path of the mount table, below host->proc. The paths in this table must match the targets
	 * of the process's links cwd and root (see find_table). */
	char table[32];
	struct mounts mounts;
};

/* Returns false for mounts that may block. One of them is an overlay that a user made in another
 * user namespace: its lower layer may be a FUSE file system that never answers. */
static bool is_harmless(const struct file_query *q, const struct mount *m)
{
	enum mount_kind kind = mount_kind_of(m);

	return kind == MOUNT_LAYERED ? process_shares(q->host, q->pid, "user") :
				       kind != MOUNT_REMOTE;
}

/* Reads the mount table again, because a mount number may have been reused since the last
 * reading. */
static bool allows(void *context, uint64_t mount)
{
	struct file_query *q = context;

	if (mounts_read(&q->mounts, q->host->proc, q->table, NULL) < 0)
		return false;
	for (size_t i = 0; i < q->mounts.n; i++)
		if (q->mounts.mount[i].id == mount)
			return is_harmless(q, &q->mounts.mount[i]);
	return false;
}

/* Selects the mount table whose paths match the link targets in /proc, which the kernel shows as
 * seen from our root:
 * - Our own table, for a process in our mount namespace.
 * - The table of the process, for a process in another mount namespace. Its root must be the root
 *   of that namespace. */
static bool find_table(struct file_query *q)
{
	char path[32], root[4];

	if (process_shares(q->host, q->pid, "mnt")) {
		text_copy("self/mountinfo", q->table, sizeof q->table);
		return true;
	}
	snprintf(path, sizeof path, "%d/root", (int)q->pid);
	snprintf(q->table, sizeof q->table, "%d/mountinfo", (int)q->pid);
	return tree_link(q->host->proc, path, root, sizeof root) > 0 && strcmp(root, "/") == 0;
}

/* Returns true when a mount on the path may never answer. Call this before the file is opened,
 * because even opening a /proc link to a file on NFS contacts the server. Every remote mount on the
 * path counts, even one that a later mount hides. A process may reach a remote mount by another
 * path. Therefore allows() later checks the mount number of the opened file. */
static bool may_block(struct file_query *q, const char *path)
{
	if (mounts_read(&q->mounts, q->host->proc, q->table, NULL) < 0)
		return true;
	for (size_t i = 0; i < q->mounts.n; i++)
		if (mount_kind_of(&q->mounts.mount[i]) == MOUNT_REMOTE &&
			mount_holds(&q->mounts.mount[i], path))
			return true;
	return false;
}

/* Appends `path` to `to`. Leaves out empty components and ".": "a//./b" becomes "a/b", as in the
 * mount table. */
static bool add_names(char *to, size_t size, const char *path)
{
	size_t n = strcmp(to, "/") == 0 ? 0 : strlen(to);

	for (;;) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");

		if (!len)
			return true;
		if (len >= size - n - 1)
			return false;
		if (len != 1 || path[0] != '.') {
			to[n++] = '/';
			memcpy(to + n, path, len);
			n += len;
			to[n] = '\0';
		}
		path += len;
	}
}

static ssize_t read_named_file(struct file_query *q, struct foreign *f, char *buf, size_t size)
{
	char whole[PATH_ROOM];
	ssize_t n = tree_link(q->host->proc, f->folder, whole, PATH_MAX);

	if (n < 0)
		return n;
	if (!add_names(whole, sizeof whole, f->path) || !find_table(q) || may_block(q, whole))
		return -ENOENT;
	return tree_foreign(q->host->proc, f, buf, size);
}

ssize_t process_file_head(const struct host *h, pid_t pid, uint64_t uid, const char *path,
	char *buf, size_t size)
{
	struct file_query q = {.host = h, .pid = pid};
	size_t first = strcspn(path, "/");
	char folder[32];
	struct foreign f = {folder, path + first, uid, allows, &q};

	snprintf(folder, sizeof folder, "%d/%.*s", (int)pid, (int)first, path);
	f.path += strspn(f.path, "/");
	ssize_t n = read_named_file(&q, &f, buf, size);

	mounts_done(&q.mounts);
	return n;
}
