/* Drops privileges of the server after it has read its options, so that an attacker who takes over
 * the server gains less:
 * - capabilities that are not in the table of privileges.c, and ways to gain more (no_new_privs);
 * - core dumps, and access to its memory by other processes of its user (PR_SET_DUMPABLE);
 * - system calls that the server never makes (the table in seccomp.c);
 * - access of other users to files that the server creates (umask).
 *
 * Only the command serve drops these privileges. Under the command run, a job would inherit the
 * restrictions from the wrapper, and sudo in the job would fail. run gives up only its own core
 * dumps, and only after the job has started. */
#ifndef EXPORTER_LIFECYCLE_PRIVILEGES_H
#define EXPORTER_LIFECYCLE_PRIVILEGES_H

#include "collectors/base/err.h"
#include "exporter/options/options.h"

/* Call it before any thread starts: each thread has its own capabilities and filter, and new
 * threads inherit them. Logs the remaining privileges. Logs a privilege that cannot be dropped, and
 * the server continues. Returns an error only if --security.user fails, because the server would
 * keep rights that its administrator believes are gone. */
int privileges_drop(const struct options *o, const char *history_path, struct err *e);

/* Forbids core dumps of this process if the options name a file with secrets. Other processes of
 * the same user then cannot read its memory either. execve(2) undoes this for the new program. */
void privileges_hide_secrets(const struct options *o);

/* Makes forbidden system calls fail with EPERM from now on. The filter sends no signal, so that a
 * forbidden call breaks one function of the server and does not end the server. Returns 0 or a
 * negative errno. Needs no_new_privs or CAP_SYS_ADMIN. */
int seccomp_forbid(void);

#endif
