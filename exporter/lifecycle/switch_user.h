/*
 * --security.user: a server that starts as root to get its capabilities continues as another user.
 * User root may write to the memory of every process and, below /proc/PID/root, to its files. A
 * filter of system calls sees no paths and cannot forbid that.
 */
#ifndef EXPORTER_LIFECYCLE_SWITCH_USER_H
#define EXPORTER_LIFECYCLE_SWITCH_USER_H

#include "collectors/base/err.h"

/*
 * user: a user name, or a number that is not 0. Gives this user the history and the cache (NULL: no
 * cache) with their folders, if root owns them and the folders hold no other files. Then switches
 * to the user and its groups. Capabilities stay permitted. Does nothing if the process is that user
 * already. Call before other threads start. Errors of the cache are ignored.
 */
int switch_user(const char *user, const char *history, const char *cache, struct err *e);

#endif
