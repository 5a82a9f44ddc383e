/* Implements --security.user: a server that starts as root to get its capabilities continues as
 * another user. Root may write to the memory of every process and, below /proc/PID/root, to the
 * files of every process. A filter of system calls cannot forbid such writes, because the filter
 * sees no paths. */
#ifndef EXPORTER_LIFECYCLE_SWITCH_USER_H
#define EXPORTER_LIFECYCLE_SWITCH_USER_H

#include "collectors/base/err.h"

/* `user` is a user name, or a number that is not 0. Gives this user the history and the cache with
 * their folders, if root owns them and the folders have no other files. `cache` may be NULL. Then
 * switches to the user and the user's groups. Capabilities stay permitted. Does nothing if the
 * process already runs as that user. Call it before other threads start. Ignores errors of the
 * cache. */
int switch_user(const char *user, const char *history, const char *cache, struct err *e);

#endif
