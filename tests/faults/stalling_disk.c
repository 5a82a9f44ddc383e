/* A preloaded library. While the file named by $STALLING_DISK exists, a write to a file with ".db"
 * in its name does not return, like on a hanging disk. $STALLING_READS does the same for reads.
 *
 * $STALLING_PROC names a FIFO without a writer. While the FIFO exists, the sampler's reads of stat
 * and cgroup files below /proc wait without using CPU time, as if the kernel did not answer. If the
 * FIFO is on a FUSE file system that does not answer, no signal can interrupt the wait.
 *
 * The library creates a file of the same name plus ".waits" when a call is waiting. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static bool path_of(int fd, char path[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, PATH_MAX - 1);

	path[n < 0 ? 0 : n] = '\0';
	return n >= 0;
}

static bool is_of_a_database(int fd)
{
	char path[PATH_MAX];

	return path_of(fd, path) && strstr(path, ".db");
}

static bool is_what_the_sampler_reads(int fd)
{
	char thread[16] = "", path[PATH_MAX];

	prctl(PR_GET_NAME, thread);
	if (strcmp(thread, "sampler") != 0 || !path_of(fd, path))
		return false;
	const char *name = strrchr(path, '/');

	return strncmp(path, "/proc/", 6) == 0 &&
	       (strcmp(name, "/stat") == 0 || strcmp(name, "/cgroup") == 0);
}

static void stall(int fd, const char *variable, bool (*is_meant)(int fd))
{
	const char *path = getenv(variable);
	const struct timespec moment = {.tv_nsec = 5000000};
	char waits[PATH_MAX];

	/* access() comes last, because the file at `path` may be on a disk that hangs. */
	if (!path || !is_meant(fd) || access(path, F_OK) != 0)
		return;
	snprintf(waits, sizeof waits, "%s.waits", path);
	close(open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	/* If `path` is a FIFO without a writer, this open() does not return. */
	close(open(path, O_RDONLY | O_CLOEXEC));
	while (access(path, F_OK) == 0)
		nanosleep(&moment, NULL);
}

#define REAL(name) (name##_function *)dlsym(RTLD_NEXT, #name)

typedef ssize_t pread_function(int, void *, size_t, off_t);
typedef ssize_t pread64_function(int, void *, size_t, off64_t);
typedef ssize_t pwrite64_function(int, const void *, size_t, off64_t);
typedef int fdatasync_function(int), fsync_function(int);

/* The exporter's own code calls pread(). SQLite calls pread64(). */
ssize_t pread(int fd, void *data, size_t n, off_t at)
{
	stall(fd, "STALLING_PROC", is_what_the_sampler_reads);
	return (REAL(pread))(fd, data, n, at);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
	stall(fd, "STALLING_READS", is_of_a_database);
	return (REAL(pread64))(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	stall(fd, "STALLING_DISK", is_of_a_database);
	return (REAL(pwrite64))(fd, data, n, at);
}

int fdatasync(int fd)
{
	stall(fd, "STALLING_DISK", is_of_a_database);
	return (REAL(fdatasync))(fd);
}

int fsync(int fd)
{
	stall(fd, "STALLING_DISK", is_of_a_database);
	return (REAL(fsync))(fd);
}
