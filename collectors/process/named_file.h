/* Reads a file that a process names. Any local user may start such a process and name a link to
 * another user's secret, a device, or a file system that never answers. Only a local regular file
 * is read. It must belong to the user of the process or be readable by everybody. */
#ifndef COLLECTORS_PROCESS_NAMED_FILE_H
#define COLLECTORS_PROCESS_NAMED_FILE_H

#include <sys/types.h>

#include "collectors/host.h"

/* Reads the first bytes of a file, without a NUL, and returns their number. `path` is relative to
 * /proc/PID: "cwd/..." or "root/...". `uid` is the user who started the process.
 *
 * Returns -ENOENT for a path through a link. Returns -ENOENT for a file on a network file system,
 * FUSE, or an overlay that a user mounted. Also returns -ENOENT for a process in another mount
 * namespace whose root is not the root of that namespace. Its mounts cannot be matched with its
 * paths. */
ssize_t process_file_head(const struct host *h, pid_t pid, uint64_t uid, const char *path,
	char *buf, size_t size);

#endif
