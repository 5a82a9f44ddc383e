/* Implements --security.user: a server that starts as root, to get its capabilities, then continues
 * as another user. As root, the server could write to the memory and to the files (/proc/PID/root)
 * of every process. A filter of system calls cannot forbid this, because it does not see paths. */
#ifndef EXPORTER_LIFECYCLE_SWITCH_USER_H
#define EXPORTER_LIFECYCLE_SWITCH_USER_H

#include "collectors/base/err.h"

/* Makes this process run as `user`: a user name, or a number other than 0. The process gets the
 * groups of the user, and keeps its permitted capabilities. Does nothing if the process already
 * runs as that user. Call it before other threads start.
 *
 * First makes the user the owner of the files `history` and `cache` and of their folders, if root
 * owns them. Refuses a folder of root that contains other files. `cache` may be NULL. Errors with
 * `cache` are ignored. */
int switch_user(const char *user, const char *history, const char *cache, struct err *e);

#endif
