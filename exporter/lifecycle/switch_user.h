/* Implements --security.user: a server that starts as root, to get its capabilities, then continues
 * as another user. As root, it could write to the memory of every process and, below
 * /proc/PID/root, to the files of every process. A filter of system calls cannot forbid such
 * writes, because it does not see paths. */
#ifndef EXPORTER_LIFECYCLE_SWITCH_USER_H
#define EXPORTER_LIFECYCLE_SWITCH_USER_H

#include "collectors/base/err.h"

/* Makes this process run as `user`: a user name, or a number other than 0. The process gets the
 * groups of the user, and its capabilities stay permitted. Does nothing if the process already runs
 * as that user. Call it before other threads start.
 *
 * First gives the files `history` and `cache` and their folders to the user, if root owns them. A
 * folder of root that contains other files is an error. `cache` may be NULL. Errors with `cache`
 * are ignored. */
int switch_user(const char *user, const char *history, const char *cache, struct err *e);

#endif
