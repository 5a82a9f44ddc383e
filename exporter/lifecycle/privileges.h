/*
 * What the server gives up once it knows what it was asked to do, so that whoever takes it over has less: capabilities
 * but those of the table in privileges.c, ways to gain others (no_new_privs), core dumps and being read by other
 * processes of its user (PR_SET_DUMPABLE), system calls that a watcher never makes (the table in seccomp.c), and
 * rights of others to what it makes (umask).
 *
 * For serve. A job would inherit the filter, the empty set, no_new_privs and the umask from the wrapper, and sudo in it
 * would no longer work, so run gives up nothing but, once the job is there, its own core dumps.
 */
#ifndef EXPORTER_LIFECYCLE_PRIVILEGES_H
#define EXPORTER_LIFECYCLE_PRIVILEGES_H

#include "collectors/base/err.h"
#include "exporter/options/options.h"

/*
 * Before any thread starts: capabilities and filters are a thread's own, and later threads take them over. Logs what is left, and what
 * could not be given up; the server goes on in that case, as it would have without. An error where it was asked to become another user
 * and cannot: it would have rights that whoever asked believes it has not.
 */
int privileges_drop(const struct options *o, const char *history_path, struct err *e);

/*
 * No core dump of this process, and none of its user may read its memory: when the options name a secret, which it then
 * has. Programs that it executes start anew in this.
 */
void privileges_hide_secrets(const struct options *o);

/*
 * From now on forbidden system calls fail with EPERM. An error, not a signal: what is forbidden is then a message
 * about one thing that does not work, not a server that is gone. 0, or a negative errno. Needs no_new_privs or CAP_SYS_ADMIN.
 */
int seccomp_forbid(void);

#endif
