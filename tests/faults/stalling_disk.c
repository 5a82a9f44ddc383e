/*
 * To be preloaded: while the file that $STALLING_DISK names exists, a write to a file whose name has ".db" in it does
 * not come back, as on a disk that hangs; $STALLING_READS likewise for reads. That one waits is told by a file of that
 * name with ".waits" behind it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static bool is_of_a_database(int fd)
{
	char link[64], path[PATH_MAX];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);

	if (n < 0)
		return false;
	path[n] = '\0';
	return strstr(path, ".db") != NULL;
}

static void stall(int fd, const char *variable)
{
	const char *path = getenv(variable);
	const struct timespec moment = {.tv_nsec = 5000000};
	char waits[PATH_MAX];

	if (!path || access(path, F_OK) != 0 || !is_of_a_database(fd))
		return;
	snprintf(waits, sizeof waits, "%s.waits", path);
	close(open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (access(path, F_OK) == 0)
		nanosleep(&moment, NULL);
}

#define REAL(name) (name##_function *)dlsym(RTLD_NEXT, #name)

typedef ssize_t pread64_function(int, void *, size_t, off64_t);
typedef ssize_t pwrite64_function(int, const void *, size_t, off64_t);
typedef int fdatasync_function(int), fsync_function(int);

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
	stall(fd, "STALLING_READS");
	return (REAL(pread64))(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	stall(fd, "STALLING_DISK");
	return (REAL(pwrite64))(fd, data, n, at);
}

int fdatasync(int fd)
{
	stall(fd, "STALLING_DISK");
	return (REAL(fdatasync))(fd);
}

int fsync(int fd)
{
	stall(fd, "STALLING_DISK");
	return (REAL(fsync))(fd);
}
