/*
 * Walking where a process may have put anything, one name after the other by descriptor. O_PATH opens nothing yet, and at a
 * name that stands for a mount it ends on the mount without asking its file system, which may never answer: that is known
 * from the mount's number alone, which fdinfo tells.
 */
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

/* Each costs some calls; folders of jobs are less deep. */
#define FOREIGN_DEPTH_MAX 64

struct foreign_walk {
	const struct foreign *f;
	int at;
	uint64_t mount;
	struct stat st;
	bool searchable; /* by the process, all the way to here, as far as owner and others can say */
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
	*ret = number_find(SCAN(text, n), "mnt_id");
	return *ret == NUMBER_UNKNOWN ? -EBADMSG : 0;
}

/* Takes fd. It holds its mount, so that its number is no other's by now. */
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

/* O_NOFOLLOW: of a link the link itself, which is no folder. Without O_DIRECTORY nothing is mounted by itself. */
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

/* Its own file is nothing new to it, wherever it lies; another's only where it gets to it, and may read it. */
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
	/* O_NONBLOCK: who has a lease on it would be waited for. */
	AUTO(closep) int fd = open(same, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, size, 0);

	return n < 0 ? -errno : n;
}
