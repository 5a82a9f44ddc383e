/*
 * Threads that read in somebody's stead what may never be given. They may outlive whoever started them: who leaves last frees
 * what they share. Nobody waits for one longer than TREE_GUARD_SECONDS in which it does nothing, and not at all while the same
 * process has not answered the same kind of question.
 */
#ifndef COLLECTORS_BASE_TREE_GUARD_ASK_H
#define COLLECTORS_BASE_TREE_GUARD_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/base/tree.h"

/* What may hold an answer back; each has threads of its own, so that it does not take those of the other. */
enum asks_kind { ASKS_LOCKS, ASKS_FILES, ASKS_KINDS };

struct asks;

/* t is taken; several threads use it at once. The asks themselves are for one. */
struct asks *asks_new(struct tree *t);
void asks_done(struct asks *a);

/*
 * 0: it was done, and ret is what tree_get gave; idle_seconds: for so long nobody worked at it. -ETIMEDOUT: not yet, -EBUSY: nor
 * what was asked about the process before, -ENOSPC: nor have TREE_GUARD_THREADS others (and calm: TREE_GUARD_CALM of those who
 * were calm), -EAGAIN: no thread can be had. A list's names and the mounts of a foreign file are told to the caller's functions,
 * by the caller's thread.
 */
int asks_do(struct asks *a, enum asks_kind kind, bool calm, pid_t pid, const struct tree_request *r,
	int64_t *ret, double *idle_seconds);

/* Has it no answer yet? */
bool asks_waits(struct asks *a, enum asks_kind kind, pid_t pid);

/* But for what of it the asks do not know. */
void asks_tell(struct asks *a, struct tree_waits *ret);

#endif
