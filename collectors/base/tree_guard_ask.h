/* Threads for reads that may never return. A caller gives up after TREE_GUARD_SECONDS without
 * progress, but the thread stays in the read. It may stay even after asks_done, so the last user of
 * struct asks frees it. While a read of a process hangs, further reads of the same kind are refused
 * for that process. */
#ifndef COLLECTORS_BASE_TREE_GUARD_ASK_H
#define COLLECTORS_BASE_TREE_GUARD_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/base/tree.h"

/* The cause of a possible hang: locks of a process, or a file system. Each kind has its own
 * threads. */
enum asks_kind { ASKS_LOCKS, ASKS_FILES, ASKS_KINDS };

struct asks;

/* Takes ownership of `t`. Several threads use `t` at the same time, so `t` must be safe for this.
 * Only one thread may call the functions below. */
struct asks *asks_new(struct tree *t);
void asks_done(struct asks *a);

/* Reads `r` on a thread. Returns 0 if `*ret` was set to the result of tree_get. Errors:
 *
 * - -ETIMEDOUT: no answer in time.
 * - -EBUSY: an earlier read of this process still hangs.
 * - -ENOSPC: too many reads of this kind hang. The limit is TREE_GUARD_THREADS or, if `calm` is
 *   true, TREE_GUARD_THREADS + TREE_GUARD_CALM.
 * - -EAGAIN: no thread can be started.
 *
 * Sets `*idle_seconds` to the part of the waiting time in which the thread used no CPU; after an
 * error, to the whole waiting time. The functions `each` and `allows` of the request run on the
 * caller's thread. */
int asks_do(struct asks *a, enum asks_kind kind, bool calm, pid_t pid, const struct tree_request *r,
	int64_t *ret, double *idle_seconds);

/* Returns true if a read of this process and kind still hangs. */
bool asks_waits(struct asks *a, enum asks_kind kind, pid_t pid);

/* Adds the number of hanging reads and the CPU time of the threads to `ret`. `left_out` stays
 * unchanged. */
void asks_tell(struct asks *a, struct tree_waits *ret);

#endif
