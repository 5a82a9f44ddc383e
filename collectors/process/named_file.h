/* Reads a file whose path a process has chosen. Any local user may start a process and choose a
 * link to another user's secret, a device, or a file system that never answers. Therefore only a
 * local regular file is read. It must belong to the user of the process, or be readable by
 * everybody. */
#ifndef COLLECTORS_PROCESS_NAMED_FILE_H
#define COLLECTORS_PROCESS_NAMED_FILE_H

#include <sys/types.h>

#include "collectors/host.h"

/* Reads the first bytes of a file, and returns their number. Adds no NUL at the end. `path` is
 * relative to /proc/PID: "cwd/..." or "root/...". `uid` is the user who started the process.
 * Returns -ENOENT in three cases:
 * - The path leads through a link.
 * - The file is on a network file system, on FUSE, or on an overlay that a user mounted.
 * - The process is in another mount namespace, and its root is not the root of that namespace. The
 *   paths in its mount table are then not the paths that the process uses. */
ssize_t process_file_head(const struct host *h, pid_t pid, uint64_t uid, const char *path,
	char *buf, size_t size);

#endif
