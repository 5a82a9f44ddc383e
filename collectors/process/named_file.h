/*
 * Reading a file that a process names. Any local user may have such a process, and put there a link to somebody's secret, a
 * device, or a file system that never answers: only what is local, a plain file, and the process's own or everybody's to
 * read is read.
 */
#ifndef COLLECTORS_PROCESS_NAMED_FILE_H
#define COLLECTORS_PROCESS_NAMED_FILE_H

#include <sys/types.h>

#include "collectors/host.h"

/*
 * The first bytes of a file, without a NUL; returns how many. path: below /proc/PID, "cwd/..." or "root/...". uid: of who
 * started the process. What must not be read is -ENOENT: links on the way, too, and network file systems and FUSE, or an
 * overlay that a user may have put over them. Of a process that was put below another root than that of its mount
 * namespace, which is not ours, nothing is read, as nobody can say what is mounted where.
 */
ssize_t process_file_head(const struct host *h, pid_t pid, uint64_t uid, const char *path,
	char *buf, size_t size);

#endif
