/*
 * Drops privileges of the server after it has read its options, so that an attacker who takes it
 * over gains less:
 * - capabilities that are not in the table of privileges.c, and ways to gain others (no_new_privs);
 * - core dumps, and access to its memory by other processes of its user (PR_SET_DUMPABLE);
 * - system calls that the server never makes (the table in seccomp.c);
 * - access of other users to files that it creates (umask).
 *
 * Only serve drops these. A job would inherit them from the wrapper, and sudo in the job would
 * fail. run gives up its own core dumps only, and only after the job has started.
 */
#ifndef EXPORTER_LIFECYCLE_PRIVILEGES_H
#define EXPORTER_LIFECYCLE_PRIVILEGES_H

#include "collectors/base/err.h"
#include "exporter/options/options.h"

/*
 * Call before any thread starts: each thread has its own capabilities and filter, and new threads
 * inherit them. Logs the remaining privileges. A privilege that cannot be dropped is logged, and
 * the server goes on. An error only if --security.user fails: the server would keep rights that its
 * administrator believes are gone.
 */
int privileges_drop(const struct options *o, const char *history_path, struct err *e);

/*
 * If the options name a secret file: no core dump of this process, and no process of the same user
 * may read its memory. execve(2) undoes this for the new program.
 */
void privileges_hide_secrets(const struct options *o);

/*
 * From now on forbidden system calls fail with EPERM. No signal is sent, so that one forbidden call
 * breaks one function of the server and does not end it. Returns 0 or a negative errno. Needs
 * no_new_privs or CAP_SYS_ADMIN.
 */
int seccomp_forbid(void);

#endif
