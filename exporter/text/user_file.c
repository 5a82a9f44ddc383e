/* Files that answers are put into. */
#include "exporter/text/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/* As many as the kernel follows. */
#define LINKS_MAX 40

/* Where a path leads to. */
struct place {
	char path[PATH_MAX];
	struct stat st;
	bool is_there;
	bool is_magic; /* a link of procfs, which leads to what may have no path, or another than it says */
	int ours; /* the descriptor of ours that it stands for, or -1 */
};

/* ---- where ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What its last part is in: a folder of procfs? */
static bool is_in_procfs(const char *path, struct stat *folder)
{
	char copy[PATH_MAX];
	size_t n = strlen(path);
	struct statfs fs;

	while (n && path[n - 1] != '/')
		n--;
	snprintf(copy, sizeof copy, "%.*s", (int)n, n ? path : "");
	return stat(n ? copy : ".", folder) == 0 && statfs(n ? copy : ".", &fs) == 0 &&
	       fs.f_type == PROC_SUPER_MAGIC;
}

/* /proc/self/fd/1, by whatever name: 1; else -1. -EBADF: we opened it ourselves, so it is nobody's to name. */
static int own_descriptor(const char *path, const struct stat *folder)
{
	static const char *const own[] = {"/proc/self/fd", "/proc/thread-self/fd"};
	const char *name = strrchr(path, '/');
	struct scan s = SCAN(name ? name + 1 : path, strlen(name ? name + 1 : path));
	uint64_t fd;

	if (!scan_u64(&s, &fd) || !scan_end(&s) || fd > INT_MAX)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		struct stat st;
		int flags;

		if (stat(own[i], &st) < 0 || !is_same(&st, folder))
			continue;
		flags = fcntl((int)fd, F_GETFD);
		return flags < 0 || flags & FD_CLOEXEC ? -EBADF : (int)fd;
	}
	return -1;
}

/* The path by one link further. */
static int follow(struct place *p, struct err *e)
{
	char target[PATH_MAX];
	char *name = strrchr(p->path, '/');
	size_t folder = name ? (size_t)(name + 1 - p->path) : 0;
	ssize_t n = readlink(p->path, target, sizeof target);

	if (n < 0)
		return err_system(e, -errno, "read the link %s", p->path);
	if (target[0] == '/')
		folder = 0;
	if (folder + (size_t)n >= sizeof p->path)
		return err_set(e, -ENAMETOOLONG, "what %s leads to has too long a name", p->path);
	memcpy(p->path + folder, target, (size_t)n);
	p->path[folder + (size_t)n] = '\0';
	return 0;
}

/*
 * Link by link, as of each it is asked who made it: what others put into a folder is not followed. The last may be one
 * that no path can stand for, such as /proc/self/fd/1.
 */
static int find(const char *path, struct place *p, struct err *e)
{
	struct stat folder;
	int code;

	*p = (struct place){.ours = -1};
	if ((size_t)snprintf(p->path, sizeof p->path, "%s", path) >= sizeof p->path)
		return err_set(e, -ENAMETOOLONG, "the name of the file is too long");
	for (int i = 0; i < LINKS_MAX; i++) {
		if (lstat(p->path, &p->st) < 0)
			return errno == ENOENT ? 0 : err_system(e, -errno, "write %s", path);
		p->is_there = true;
		if (!S_ISLNK(p->st.st_mode))
			return 0;
		p->is_magic = is_in_procfs(p->path, &folder);
		if (p->is_magic) {
			p->ours = own_descriptor(p->path, &folder);
			code = stat(p->path, &p->st) < 0 ? -errno : p->ours == -EBADF ? -EBADF : 0;
			return code ? err_system(e, code, "write %s", path) : 0;
		}
		if (p->st.st_uid != 0 && p->st.st_uid != geteuid())
			return err_set(e, -EPERM, "write %s: %s is a link of another user", path,
				p->path);
		code = follow(p, e);
		if (code)
			return code;
		p->is_there = false;
	}
	return err_system(e, -ELOOP, "write %s", path);
}

/* ---- what is written to ---- */

/* Our stdout or stderr, if that is what stands there: whatever else is written there comes before and after it. */
static int shared_with_us(const struct place *p)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat st;
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
			is_same(&st, &p->st))
			return fd;
	}
	return -1;
}

/*
 * A descriptor to write through: a file in place of what stands there would be the last that anybody saw of it. -ENOENT:
 * there is nothing, or a file to replace.
 */
static int open_place(const struct place *p)
{
	if (!p->is_there)
		return -ENOENT;
	int same = p->ours >= 0 ? p->ours : shared_with_us(p);
	int fd;

	if (same >= 0) {
		fd = fcntl(same, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	if (S_ISDIR(p->st.st_mode))
		return -EISDIR;
	if (S_ISREG(p->st.st_mode) && !p->is_magic)
		return -ENOENT;
	/* Nobody waits for who is to read. */
	fd = open(p->path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
				   (p->is_magic ? 0 : O_NOFOLLOW));
	if (fd >= 0 && fcntl(fd, F_SETFL, O_WRONLY | O_APPEND) == 0)
		return fd;
	int code = -errno;

	closep(&fd);
	return code == -ENOENT ? -ENXIO : code;
}

/* Closes it. */
static int write_all(int fd, const struct buf *body)
{
	FILE *f = fdopen(fd, "w");
	int code = 0;

	if (!f) {
		code = -errno;
		close(fd);
		return code;
	}
	if (fwrite(buf_text(body), 1, body->len, f) != body->len)
		code = -errno;
	if (fclose(f) < 0 && !code)
		code = -errno;
	return code;
}

/* ---- what is replaced ---- */

/* A file of our own making: in a folder that others may write to, none that they put there, nor where a link of theirs leads. */
static int create_anew(const char *path, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, mode);

	/* What a program with our number left when it was killed. */
	if (fd < 0 && errno == EEXIST && unlink(path) == 0)
		fd = open(path, flags, mode);
	return fd;
}

/* Its group's rights are those of the list, which mode bits alone do not tell (acl(5)). */
static int copy_access_list(int fd, const struct place *p)
{
	static const char name[] = "system.posix_acl_access";
	char list[XATTR_SIZE_MAX];
	ssize_t n = lgetxattr(p->path, name, list, sizeof list);

	if (n < 0)
		return errno == ENODATA || errno == ENOTSUP ? 0 : -errno;
	return fsetxattr(fd, name, list, (size_t)n, 0) < 0 ? -errno : 0;
}

/* Whoever could read the file can, and nobody else. */
static int look_like(int fd, const struct place *p, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_system(e, -errno, "write %s", p->path);
	if ((st.st_uid != p->st.st_uid || st.st_gid != p->st.st_gid) &&
		fchown(fd, p->st.st_uid, p->st.st_gid) < 0)
		return err_system(e, -errno, "keep the owner of %s", p->path);
	int code = fchmod(fd, p->st.st_mode & 0777) < 0 ? -errno : copy_access_list(fd, p);

	return code ? err_system(e, code, "keep the permissions of %s", p->path) : 0;
}

/* Whoever reads the file meanwhile sees the old one or the new one. What could not be done is not done in part. */
static int replace(const struct place *p, const struct buf *body, struct err *e)
{
	char part[PATH_MAX];

	if ((size_t)snprintf(part, sizeof part, "%s.part-%d", p->path, getpid()) >= sizeof part)
		return err_set(e, -ENAMETOOLONG, "the name of the file is too long");
	int fd = create_anew(part, p->is_there ? 0600 : 0666);

	if (fd < 0)
		return err_system(e, -errno, "create %s", part);
	int code = p->is_there ? look_like(fd, p, e) : 0;

	if (code) {
		close(fd);
	} else {
		code = write_all(fd, body);
		if (code == 0 && rename(part, p->path) < 0)
			code = -errno;
		if (code)
			err_system(e, code, "write %s", p->path);
	}
	if (code)
		unlink(part);
	return code;
}

/*
 * A file that may be written, but not replaced: one of somebody else, one that is mounted into a container, one in a folder
 * that may not be written. Who reads it meanwhile sees a part, and with a full disk it stays one. No file that has another
 * name, which may be anybody's.
 */
static int write_in_place(const struct place *p, const struct buf *body)
{
	struct stat st;
	int fd = open(p->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int code = fstat(fd, &st) < 0                        ? -errno :
		   !is_same(&st, &p->st) || st.st_nlink != 1 ? -EPERM :
		   ftruncate(fd, 0) < 0                      ? -errno :
							       0;

	if (code == 0)
		return write_all(fd, body);
	close(fd);
	return code;
}

static bool may_be_written_in_place(int code)
{
	return code == -EPERM || code == -EACCES || code == -EROFS || code == -EBUSY;
}

static int put(const struct place *p, const struct buf *body, struct err *e)
{
	struct err why = {0};
	int code = replace(p, body, &why);

	if (p->is_there && may_be_written_in_place(code)) {
		int in_place = write_in_place(p, body);

		if (in_place == 0)
			return 0;
		if (!may_be_written_in_place(in_place))
			return err_system(e, in_place, "write %s", p->path);
	}
	return code ? err_set(e, code, "%s", why.text) : 0;
}

int output_write(const char *path, const struct buf *body, struct err *e)
{
	struct place p;
	int code = find(path, &p, e);

	if (code)
		return code;
	int fd = open_place(&p);

	if (fd == -ENOENT)
		return put(&p, body, e);
	code = fd < 0 ? fd : write_all(fd, body);
	return code ? err_system(e, code, "write %s", path) : 0;
}
