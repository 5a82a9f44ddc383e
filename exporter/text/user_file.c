#include "exporter/text/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collectors/base/mem.h"

#define COPIED_AT_ONCE ((size_t)1 << 20)

/* Returns a duplicate of this program's stdout or stderr when `path` is the same file. Otherwise
 * returns -1. */
static int shared_with_us(const char *path)
{
	struct stat there, ours;

	if (stat(path, &there) < 0)
		return -1;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &ours) == 0 &&
			ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
			return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	return -1;
}

/* Opens the file at `path` to overwrite its content. With O_NONBLOCK, open(2) fails on a FIFO
 * without a reader, instead of waiting for one. Returns the descriptor or a negative errno. */
static int open_in_place(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);

	if (fd >= 0 && fcntl(fd, F_SETFL, O_WRONLY) == 0)
		return fd;
	int code = -errno;

	closep(&fd);
	return code;
}

static int keep_owner_and_mode(int fd, const struct stat *old)
{
	struct stat new;

	if (fstat(fd, &new) < 0)
		return -errno;
	if ((new.st_uid != old->st_uid || new.st_gid != old->st_gid) &&
		fchown(fd, old->st_uid, old->st_gid) < 0)
		return -errno;
	return fchmod(fd, old->st_mode & 0777) < 0 ? -errno : 0;
}

/* Creates a file in the folder of `path` that will replace `path` later, and writes its path to
 * `part`. `old` describes the file to replace; NULL = there is none. Returns the descriptor of the
 * new file, or a negative errno. After an error, the file `part` does not exist. */
static int open_part(const char *path, const struct stat *old, char part[static PATH_MAX])
{
	if (snprintf(part, PATH_MAX, "%s.part-%d", path, getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* Remove an old temporary file: a killed process with the same PID may have left it, or an
	 * attacker may have placed a link there. */
	unlink(part);
	int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);

	if (fd < 0)
		return -errno;
	int code = old ? keep_owner_and_mode(fd, old) : 0;

	if (code == 0)
		return fd;
	close(fd);
	unlink(part);
	return code;
}

/* Returns true when the file has an ACL, which a new file would not get (acl(5)). */
static bool has_access_list(const char *path)
{
	return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* Returns true if `code` means that the old file cannot be replaced, but can perhaps be
 * overwritten: the file belongs to another user or is a mount in a container, or its folder is not
 * writable. */
static bool cannot_be_replaced(int code)
{
	return code == -EPERM || code == -EACCES || code == -EROFS || code == -EBUSY;
}

/* Opens the file to write to. Returns the descriptor or a negative errno. */
static int open_file(struct user_file *f)
{
	int fd = shared_with_us(f->path);
	struct stat st;

	if (fd >= 0)
		return fd;
	bool is_there = lstat(f->path, &st) == 0;

	if (!is_there && errno != ENOENT)
		return -errno;
	if (is_there && (!S_ISREG(st.st_mode) || has_access_list(f->path)))
		return open_in_place(f->path);
	fd = open_part(f->path, is_there ? &st : NULL, f->part);
	if (fd >= 0)
		return fd;
	*f->part = '\0';
	return is_there && cannot_be_replaced(fd) ? open_in_place(f->path) : fd;
}

int user_file_begin(struct user_file *f, const char *path, struct err *e)
{
	*f = (struct user_file){.path = path};
	int fd = open_file(f);

	if (fd >= 0)
		f->out = fdopen(fd, "w");
	if (f->out)
		return 0;
	int code = fd < 0 ? fd : -errno;

	closep(&fd);
	if (*f->part)
		unlink(f->part);
	return err_system(e, code, "write %s", path);
}

/* Writes the content of `from` into the file at `path`. */
static int copy_in_place(int from, const char *path)
{
	AUTO(closep) int to = open_in_place(path);
	off_t at = 0;
	ssize_t n;

	if (to < 0)
		return to;
	do
		n = sendfile(to, from, &at, COPIED_AT_ONCE);
	while (n > 0);
	return n < 0 ? -errno : 0;
}

/* Replaces the file at f->path by the new file f->part. `part` is the descriptor of the new
 * file. */
static int put_in_place(const struct user_file *f, int part)
{
	int code = rename(f->part, f->path) < 0 ? -errno : 0;

	return cannot_be_replaced(code) ? copy_in_place(part, f->path) : code;
}

int user_file_end(struct user_file *f, int code, struct err *e)
{
	AUTO(closep) int part = *f->part ? fcntl(fileno(f->out), F_DUPFD_CLOEXEC, 0) : -1;
	int last = *f->part && part < 0 ? -errno : 0;

	if (fclose(f->out) < 0)
		last = -errno;
	if (code == 0 && last == 0 && part >= 0)
		last = put_in_place(f, part);
	if (*f->part)
		unlink(f->part);
	if (code)
		return code;
	return last ? err_system(e, last, "write %s", f->path) : 0;
}

int user_file_write(const char *path, const struct buf *body, struct err *e)
{
	struct user_file f;
	int code = user_file_begin(&f, path, e);

	if (code)
		return code;
	if (fwrite(buf_text(body), 1, body->len, f.out) != body->len)
		code = err_system(e, -errno, "write %s", path);
	return user_file_end(&f, code, e);
}
