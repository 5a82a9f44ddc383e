/* A tree over a real directory. The directory stays open, so that its path is resolved only
 * once. */
#include "collectors/base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collectors/base/tree_foreign.h"
#include "collectors/base/mem.h"

struct directory {
	struct tree tree;
	int fd;
};

static int directory_fd(const struct tree *t)
{
	return ((const struct directory *)(const void *)t)->fd;
}

static int open_below(struct tree *t, const char *path, int flags)
{
	int fd = openat(directory_fd(t), path[0] ? path : ".", flags | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* Returns true for a path below "PID/root/", where the process decides which files exist. */
static bool is_of_a_process(const char *path)
{
	size_t digits = strspn(path, "0123456789");

	return digits && strncmp(path + digits, "/root/", strlen("/root/")) == 0;
}

/* Opens a file below the root of a process only if it is a file of a control group, which the
 * kernel makes. Any other file may be a device, and opening a device can have effects, such as
 * starting a watchdog. Therefore the file is first checked through O_PATH, which does not open the
 * file itself. */
static int open_checked(struct tree *t, const char *path, int flags)
{
	AUTO(closep) int found = open_below(t, path, O_PATH);
	char same[sizeof "/proc/self/fd/" + 16];
	struct statfs where;

	if (found < 0)
		return found;
	if (fstatfs(found, &where) < 0)
		return -errno;
	if (where.f_type != CGROUP_SUPER_MAGIC && where.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOENT;
	snprintf(same, sizeof same, "/proc/self/fd/%d", found);
	int fd = open(same, flags | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int open_file(struct tree *t, const char *path)
{
	/* Use O_NONBLOCK, because a FIFO in a hostile fixture must not block the program. */
	int flags = O_RDONLY | O_NONBLOCK;

	return is_of_a_process(path) ? open_checked(t, path, flags) : open_below(t, path, flags);
}

/* The smallest page size of any machine. A read(2) that does not reach the end of the file has
 * filled a page of at least this size, except for a gap that is too small for the next record. */
#define PAGE_MIN 4096

/* Reads the whole file from its start. `record` is the length of the longest record (see
 * tree_read_records); 0 = unknown. Stops after the first read if the page and `buf` had room for
 * one more record, because there is none then. Otherwise stops when a read returns 0 bytes. */
static ssize_t read_all(int fd, char *buf, size_t size, size_t record)
{
	size_t n = 0;

	for (;;) {
		if (n == size)
			return -EFBIG;
		ssize_t got = pread(fd, buf + n, size - n, (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
		if (record && n == (size_t)got && n + record <= PAGE_MIN && n + record <= size)
			break;
	}
	buf[n] = '\0';
	return (ssize_t)n;
}

static ssize_t open_and_read(struct tree *t, const char *path, char *buf, size_t size,
	size_t record)
{
	AUTO(closep) int fd = open_file(t, path);

	return fd < 0 ? fd : read_all(fd, buf, size, record);
}

static ssize_t read_part(struct tree *t, const struct tree_request *r)
{
	AUTO(closep) int fd = open_file(t, r->path);
	ssize_t n = fd < 0 ? fd : pread(fd, r->out, r->size, (off_t)r->from);

	return fd >= 0 && n < 0 ? -errno : n;
}

static int list(struct tree *t, const struct tree_request *r)
{
	int fd = open_below(t, r->path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	DIR *d = fdopendir(fd);

	if (!d) {
		int code = -errno;

		close(fd);
		return code;
	}
	int code = 0;

	while (code == 0) {
		errno = 0;
		const struct dirent *entry = readdir(d);

		if (!entry) {
			code = -errno;
			break;
		}
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			code = r->each(r->context, entry->d_name);
	}
	closedir(d);
	return code;
}

static ssize_t read_link(struct tree *t, const struct tree_request *r)
{
	char *text = r->out;
	ssize_t n = readlinkat(directory_fd(t), r->path, text, r->size);

	if (n < 0)
		return -errno;
	if ((size_t)n >= r->size)
		return -EFBIG;
	text[n] = '\0';
	return n;
}

static int64_t read_stat(struct tree *t, const struct tree_request *r)
{
	struct stat st;

	if (fstatat(directory_fd(t), r->path[0] ? r->path : ".", &st, 0) < 0)
		return -errno;
	if (r->call == TREE_SIZE)
		return st.st_size;
	*(uint64_t *)r->out = st.st_dev;
	return 0;
}

static int read_space(int top, const char *path, struct tree_space *ret)
{
	/* The path "" means the directory itself, which is already open. */
	AUTO(closep) int below = path[0] ? openat(top, path, O_PATH | O_CLOEXEC) : -1;
	struct statvfs v;

	if ((path[0] && below < 0) || fstatvfs(path[0] ? below : top, &v) < 0)
		return -errno;
	*ret = (struct tree_space){
		.size = (uint64_t)v.f_blocks * v.f_frsize,
		.free = (uint64_t)v.f_bfree * v.f_frsize,
		.available = (uint64_t)v.f_bavail * v.f_frsize,
		.files = v.f_files,
		.files_free = v.f_ffree,
		.read_only = (v.f_flag & ST_RDONLY) != 0,
	};
	return 0;
}

static int64_t directory_get(struct tree *t, const struct tree_request *r)
{
	switch (r->call) {
	case TREE_READ:
		return open_and_read(t, r->path, r->out, r->size, 0);
	case TREE_READ_RECORDS:
		return open_and_read(t, r->path, r->out, r->size, TREE_RECORD_MAX);
	case TREE_PART:
		return read_part(t, r);
	case TREE_LIST:
		return list(t, r);
	case TREE_LINK:
		return read_link(t, r);
	case TREE_DEVICE:
	case TREE_SIZE:
		return read_stat(t, r);
	case TREE_SPACE:
		return read_space(directory_fd(t), r->path, r->out);
	case TREE_KEEP:
		return open_file(t, r->path);
	case TREE_FOREIGN:
		return foreign_head(directory_fd(t), r->foreign, r->out, r->size);
	}
	return -EINVAL;
}

static void directory_free(struct tree *t)
{
	close(directory_fd(t));
	free(t);
}

static const struct tree_ops directory_ops = {.get = directory_get, .free = directory_free};

int tree_open(struct tree **ret, const char *directory, struct err *e)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_system(e, -errno, "open directory %s", directory);
	struct directory *d = xcalloc(1, sizeof *d);

	d->tree.ops = &directory_ops;
	d->fd = fd;
	*ret = &d->tree;
	return 0;
}

void tree_free(struct tree *t)
{
	if (t)
		t->ops->free(t);
}

ssize_t tree_read(struct tree *t, const char *path, char *buf, size_t size)
{
	return tree_get(t, &(struct tree_request){TREE_READ, path, buf, size});
}

ssize_t tree_read_records(struct tree *t, const char *path, char *buf, size_t size)
{
	return tree_get(t, &(struct tree_request){TREE_READ_RECORDS, path, buf, size});
}

ssize_t tree_head(struct tree *t, const char *path, char *buf, size_t size)
{
	return tree_part(t, path, 0, buf, size);
}

ssize_t tree_part(struct tree *t, const char *path, uint64_t from, char *buf, size_t size)
{
	return tree_get(t, &(struct tree_request){TREE_PART, path, buf, size, .from = from});
}

ssize_t tree_foreign(struct tree *t, const struct foreign *f, char *buf, size_t size)
{
	return tree_get(t,
		&(struct tree_request){TREE_FOREIGN, f->folder, buf, size, .foreign = f});
}

int tree_list(struct tree *t, const char *path, int (*each)(void *context, const char *name),
	void *context)
{
	return (int)tree_get(t,
		&(struct tree_request){TREE_LIST, path, .each = each, .context = context});
}

ssize_t tree_link(struct tree *t, const char *path, char *buf, size_t size)
{
	return tree_get(t, &(struct tree_request){TREE_LINK, path, buf, size});
}

int tree_device(struct tree *t, const char *path, uint64_t *ret)
{
	return (int)tree_get(t, &(struct tree_request){TREE_DEVICE, path, ret, sizeof *ret});
}

int64_t tree_size(struct tree *t, const char *path)
{
	return tree_get(t, &(struct tree_request){TREE_SIZE, path});
}

int tree_space(struct tree *t, const char *path, struct tree_space *ret)
{
	return (int)tree_get(t, &(struct tree_request){TREE_SPACE, path, ret, sizeof *ret});
}

bool tree_answers(struct tree *t, const char *path)
{
	return !t->ops->answers || t->ops->answers(t, path);
}

struct tree_waits tree_waits(struct tree *t)
{
	struct tree_waits ret = {0};

	if (t->ops->waits)
		t->ops->waits(t, &ret);
	return ret;
}

struct kept tree_keep(struct tree *t, const char *path)
{
	int fd = (int)tree_get(t, &(struct tree_request){TREE_KEEP, path});

	return fd < 0 ? KEPT_NONE : (struct kept){fd};
}

ssize_t kept_read(struct kept *k, struct tree *t, const char *path, char *buf, size_t size)
{
	return k->fd < 0 ? tree_read_records(t, path, buf, size) :
			   read_all(k->fd, buf, size, TREE_RECORD_MAX);
}

int kept_changed(const struct kept *k)
{
	struct pollfd p = {.fd = k->fd, .events = POLLPRI | POLLOUT};

	/* poll(2) reports POLLOUT for files that do not support polling. */
	if (k->fd < 0 || poll(&p, 1, 0) < 0 || p.revents & (POLLOUT | POLLNVAL))
		return -EOPNOTSUPP;
	return p.revents != 0;
}

void kept_done(struct kept *k)
{
	if (k->fd >= 0)
		close(k->fd);
	*k = KEPT_NONE;
}
