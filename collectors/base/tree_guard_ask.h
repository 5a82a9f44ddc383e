/*
 * Threads that ask for a file of a process which may never be given. They may outlive whoever started them: who leaves last
 * frees what they share. Each function waits TREE_GUARD_SECONDS at most, and not at all while the same process has not
 * answered the same kind of question.
 */
#ifndef BASE_TREE_GUARD_ASK_H
#define BASE_TREE_GUARD_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/base/tree.h"

struct asks;

/* Paths are below fd, which is taken. One thread uses it. */
struct asks *asks_new(int fd);
void asks_done(struct asks *a);

/* ---- locks of a process: a file of it, of which only counts that it comes ---- */

/* Has it no answer yet? full: nor have TREE_GUARD_THREADS others. */
bool asks_waits(struct asks *a, pid_t pid, bool *full);

/* Without a thread (there may be no room for one more process) nobody knows: otherwise. */
bool asks_answered(struct asks *a, pid_t pid, const char *file, bool otherwise);

/* Processes without an answer. */
size_t asks_unanswered(struct asks *a);

/* ---- file systems of a process: -ETIMEDOUT, there is no answer, or no thread to ask with ---- */

/* As tree_head; ASKS_HEAD_MAX bytes at most. */
#define ASKS_HEAD_MAX 4096
ssize_t asks_head(struct asks *a, pid_t pid, const char *path, char *buf, size_t size);

/* As tree_space. */
int asks_space(struct asks *a, pid_t pid, const char *path, struct tree_space *ret);

#endif
