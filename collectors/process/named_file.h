/*
 * Reading a file that a process names. Any local user may start such a process and name a link to
 * another user's secret, a device, or a file system that never answers. Only local, plain files are
 * read that belong to the user of the process or are readable by everybody.
 */
#ifndef COLLECTORS_PROCESS_NAMED_FILE_H
#define COLLECTORS_PROCESS_NAMED_FILE_H

#include <sys/types.h>

#include "collectors/host.h"

/*
 * Reads the first bytes of a file, without a NUL, and returns how many. path: below /proc/PID,
 * "cwd/..." or "root/...". uid: the user who started the process.
 *
 * -ENOENT for a path through a link, and for a file on a network file system, FUSE, or an overlay
 * that a user mounted. Also when the process is in another mount namespace and its root is not that
 * of the namespace: we cannot tell which mounts its paths pass.
 */
ssize_t process_file_head(const struct host *h, pid_t pid, uint64_t uid, const char *path,
	char *buf, size_t size);

#endif
