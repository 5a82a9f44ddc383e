/*
 * Going on as another user, for a server that only root, or a container that begins as root, can give capabilities to
 * (--security.user). What a server of root may do by its user alone no filter of system calls can forbid, as that sees no
 * paths: writing to the memory and, below /proc/PID/root, to the files of every process.
 */
#ifndef EXPORTER_LIFECYCLE_SWITCH_USER_H
#define EXPORTER_LIFECYCLE_SWITCH_USER_H

#include "collectors/base/err.h"

/*
 * user: a name of the system's, or a number that is not 0. Gives it the folders of the history and of the cache (NULL: none) and what
 * stands there of them, where that is root's, and nothing else does; then has its user and groups, and nothing of root but the
 * capabilities that the process has, which stay permitted. Nothing to do where it is that user already. Before other threads
 * start. An error where it cannot be done; that of the cache, which nothing hangs on, is none.
 */
int switch_user(const char *user, const char *history, const char *cache, struct err *e);

#endif
