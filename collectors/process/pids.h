/*
 * A growing list of processes, for the many that hand them over one by one.
 */
#ifndef COLLECTORS_PIDS_H
#define COLLECTORS_PIDS_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "collectors/base/mem.h"

struct pids {
	size_t n, room;
	pid_t *pid;
};

/* context is a struct pids. */
static inline void pids_add(void *context, pid_t pid)
{
	struct pids *p = context;

	GROW(p->pid, p->n, p->room);
	p->pid[p->n++] = pid;
}

static inline void pids_done(struct pids *p)
{
	free(p->pid);
	*p = (struct pids){0};
}

#endif
