/* Walks a path that a process chose, one name at a time. Each step opens a descriptor with O_PATH,
 * which does not open the file itself. At a mount point, the walk enters the mount without calling
 * its file system, which may never answer. The number of the mount is read from the fdinfo file of
 * the descriptor. */
#include "collectors/base/tree_foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"

/* Maximum number of folders in a path. Each folder costs 6 system calls. The folders of jobs are
 * less deep. */
#define FOREIGN_DEPTH_MAX 64

struct foreign_walk {
	const struct foreign *f;
	int at;
	uint64_t mount;
	struct stat st;
	/* The process may search all folders that the walk has passed: by the owner's permission
	 * bits, or by the bits for others. */
	bool searchable;
	size_t depth;
};

static int mount_of(int fd, uint64_t *ret)
{
	char path[sizeof "/proc/self/fdinfo/" + 16], text[1024];

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	AUTO(closep) int info = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = info < 0 ? -1 : pread(info, text, sizeof text, 0);

	if (n < 0)
		return -errno;
	return number_find(SCAN(text, n), "mnt_id", ret) ? 0 : -EBADMSG;
}

/* Moves the walk to `fd`, and takes ownership of `fd`. The open descriptor keeps the mount in use,
 * so that the kernel cannot give the mount's number to another mount. */
static int open_end(struct foreign_walk *w, int fd)
{
	uint64_t mount = 0;
	int before = w->at;
	int code = mount_of(fd, &mount);

	w->at = fd;
	if (code == 0 && (before < 0 || mount != w->mount) && !w->f->allows(w->f->context, mount))
		code = -ENOENT;
	if (before >= 0)
		close(before);
	if (code < 0)
		return code;
	w->mount = mount;
	return fstat(fd, &w->st) < 0 ? -errno : 0;
}

static bool may_enter(const struct foreign_walk *w, mode_t owner, mode_t others)
{
	return (w->st.st_mode & (w->st.st_uid == w->f->uid ? owner : others)) != 0;
}

/* Takes one step of the walk. If the name is a symbolic link, O_NOFOLLOW opens the link itself. The
 * next step then fails, because a link is not a folder. O_DIRECTORY is left out, because it would
 * start an automount. */
static int enter_folder(struct foreign_walk *w, struct slice name)
{
	char text[NAME_MAX + 1];

	if (!S_ISDIR(w->st.st_mode) || name.len >= sizeof text || slice_is(name, "..") ||
		++w->depth > FOREIGN_DEPTH_MAX)
		return -ENOENT;
	w->searchable = w->searchable && may_enter(w, S_IXUSR, S_IXOTH);
	slice_copy(name, text, sizeof text);
	int fd = openat(w->at, text, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : open_end(w, fd);
}

static int walk_path(struct foreign_walk *w, int top)
{
	struct scan s = SCAN(w->f->path, strlen(w->f->path));
	int fd = openat(top, w->f->folder, O_PATH | O_CLOEXEC);
	int code = fd < 0 ? -errno : open_end(w, fd);

	while (code == 0 && !scan_end(&s)) {
		struct slice name = {s.at, strcspn(s.at, "/")};

		s.at += name.len;
		s.at += strspn(s.at, "/");
		if (name.len && !slice_is(name, "."))
			code = enter_folder(w, name);
	}
	return code;
}

/* Returns true if the process can read the file:
 * - Its user owns the file and may read it.
 * - Or everybody may read the file, and the process may search all folders on the way. */
static bool is_known_to_process(const struct foreign_walk *w)
{
	return w->st.st_uid == w->f->uid ? may_enter(w, S_IRUSR, 0) :
					   w->searchable && may_enter(w, 0, S_IROTH);
}

ssize_t foreign_head(int top, const struct foreign *f, char *buf, size_t size)
{
	struct foreign_walk w = {.f = f, .at = -1, .searchable = true};
	char same[sizeof "/proc/self/fd/" + 16];
	int code = walk_path(&w, top);
	AUTO(closep) int found = w.at;

	if (code < 0)
		return code;
	if (!S_ISREG(w.st.st_mode) || !is_known_to_process(&w))
		return -ENOENT;
	snprintf(same, sizeof same, "/proc/self/fd/%d", found);
	/* Use O_NONBLOCK. Otherwise open would wait if another program has a lease on the file. */
	AUTO(closep) int fd = open(same, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, size, 0);

	return n < 0 ? -errno : n;
}
