#include "collectors/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/mem.h"

/* Waits until the pipe has data or its last writer closed it. */
static int wait_for_writer(int fd, const char *path, struct err *e)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, FILE_PIPE_SECONDS * 1000);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return err_set(e, -ETIMEDOUT, "%s is a pipe, and no program wrote into it for %d s",
			path, FILE_PIPE_SECONDS);
	return n < 0 ? err_system(e, -errno, "read %s", path) : 0;
}

static int open_it(const char *path, bool *pipe, struct err *e)
{
	/* Use O_NONBLOCK, because opening a FIFO without a writer would block until a writer
	 * comes. */
	AUTO(closep) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int code = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_system(e, -errno, "read %s", path);
	*pipe = S_ISFIFO(st.st_mode);
	if (*pipe)
		code = wait_for_writer(fd, path, e);
	if (code)
		return code;
	if (fcntl(fd, F_SETFL, O_RDONLY) < 0)
		return err_system(e, -errno, "read %s", path);
	int ret = fd;

	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): AUTO must not close it */
	return ret;
}

int file_open(const char *path, struct err *e)
{
	bool pipe;

	return open_it(path, &pipe, e);
}

int file_read(struct buf *ret, const char *path, struct err *e)
{
	bool pipe = false;
	AUTO(closep) int fd = open_it(path, &pipe, e);
	size_t before = ret->len;
	char chunk[8192];
	ssize_t n = 0;
	int code = 0;

	if (fd < 0)
		return fd;
	do {
		if (pipe)
			code = wait_for_writer(fd, path, e);
		n = code ? 0 : read(fd, chunk, sizeof chunk);
		if (n > 0)
			buf_add(ret, chunk, (size_t)n);
	} while (!ret->full && (n > 0 || (n < 0 && errno == EINTR)));
	/* The chunk may contain secret keys. */
	explicit_bzero(chunk, sizeof chunk);
	if (code)
		return code;
	if (n < 0)
		return err_system(e, -errno, "read %s", path);
	if (ret->full)
		return err_set(e, -EFBIG, "%s is larger than %zu KiB", path, ret->max >> 10);
	if (pipe && ret->len == before)
		return err_set(e, -ENODATA, "%s is a pipe, and nothing is in it (any more)", path);
	return 0;
}
