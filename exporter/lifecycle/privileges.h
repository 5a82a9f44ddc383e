/* Drops privileges of the server after it has read its options, so that an attacker who takes over
 * the server gains less. These are dropped:
 * - capabilities that are not in the table of privileges.c, and all ways to gain capabilities
 *   (no_new_privs);
 * - core dumps, and access to the server's memory by other processes of its user (PR_SET_DUMPABLE);
 * - system calls that the server never makes (the table in seccomp.c);
 * - access of other users to files that the server creates (umask).
 *
 * Only the command serve does this. With the command run, the job would inherit the restrictions,
 * and sudo in the job would fail, for example. The command run only forbids its own core dumps
 * (privileges_hide_secrets), after the job has started. */
#ifndef EXPORTER_LIFECYCLE_PRIVILEGES_H
#define EXPORTER_LIFECYCLE_PRIVILEGES_H

#include "collectors/base/err.h"
#include "exporter/options/options.h"

/* Call it before any thread starts: each thread has its own capabilities and filter, and new
 * threads inherit them. Logs the remaining privileges. If a privilege cannot be dropped, logs this,
 * and the server continues. Only a failure of --security.user is an error, because the server would
 * then keep rights that its administrator wanted to drop. */
int privileges_drop(const struct options *o, const char *history_path, struct err *e);

/* Forbids core dumps of this process if the options name a file with secrets. Other processes of
 * the same user then cannot read the memory of this process either. After execve(2), the new
 * program may dump core again. */
void privileges_hide_secrets(const struct options *o);

/* Makes the forbidden system calls fail with EPERM from now on. They fail instead of ending the
 * server by a signal: if the server makes such a call unexpectedly, only one of its functions is
 * broken. Needs no_new_privs or CAP_SYS_ADMIN. Returns 0 or a negative errno. */
int seccomp_forbid(void);

#endif
