/* A growing list of pids. */
#ifndef COLLECTORS_PROCESS_PIDS_H
#define COLLECTORS_PROCESS_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "collectors/base/mem.h"

struct pids {
	size_t n, room;
	pid_t *pid;
};

/* Adds a pid to the list `context`, a struct pids. It is a callback for process_list and
 * process_children. */
static inline void pids_add(void *context, pid_t pid)
{
	struct pids *p = context;

	GROW(p->pid, p->n, p->room);
	p->pid[p->n++] = pid;
}

static inline int pids_compare(const void *a, const void *b)
{
	const pid_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

static inline void pids_sort(struct pids *p)
{
	if (p->n)
		qsort(p->pid, p->n, sizeof *p->pid, pids_compare);
}

/* Returns true if the list has this pid. The list must be sorted. */
static inline bool pids_has(const struct pids *p, pid_t pid)
{
	return p->n && bsearch(&pid, p->pid, p->n, sizeof pid, pids_compare);
}

static inline void pids_done(struct pids *p)
{
	free(p->pid);
	*p = (struct pids){0};
}

#endif
