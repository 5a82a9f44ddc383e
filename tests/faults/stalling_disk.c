/*
 * To be preloaded: while the file that $STALLING_DISK names exists, a write to a file whose name has ".db" in it does
 * not come back, as on a disk that hangs; $STALLING_READS likewise for reads. $STALLING_PROC: a FIFO that nobody writes to,
 * for reads of stat and cgroup files below /proc by the sampler, as of a kernel that does not give them: no CPU time goes by.
 * That one waits is told by a file of that name with ".waits" behind it. In a FUSE that does not answer no signal ends it.
 */
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

	/* Check the cheap conditions first: the file at path may itself be on a disk that hangs. */
	if (!path || !is_meant(fd) || access(path, F_OK) != 0)
		return;
	snprintf(waits, sizeof waits, "%s.waits", path);
	close(open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	/* A FIFO lets nobody come back from this. */
	close(open(path, O_RDONLY | O_CLOEXEC));
	while (access(path, F_OK) == 0)
		nanosleep(&moment, NULL);
}

#define REAL(name) (name##_function *)dlsym(RTLD_NEXT, #name)

typedef ssize_t pread_function(int, void *, size_t, off_t);
typedef ssize_t pread64_function(int, void *, size_t, off64_t);
typedef ssize_t pwrite64_function(int, const void *, size_t, off64_t);
typedef int fdatasync_function(int), fsync_function(int);

/* Ours; that of SQLite is the next. */
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
