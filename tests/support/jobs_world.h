/* A /proc in memory with simulated processes, and the jobs that follow them. */
#ifndef TESTS_SUPPORT_JOBS_WORLD_H
#define TESTS_SUPPORT_JOBS_WORLD_H

#include "collectors/followed/jobs.h"
#include "tests/support/test_tree.h"

struct world {
	struct tree *proc, *sys, *root;
	struct host host;
	struct snapshot snapshot;
};

struct fake {
	int pid, ppid;
	unsigned long user, system, waited_user, faults, waited_faults, rss_pages, start;
	unsigned long peak_kib, stack;
	unsigned long code;   /* size of the program's code */
	const char *name;     /* name of the process; NULL = "job" */
	const char *children; /* pids of the children: "11 12 "; NULL = unchanged */
};

struct world *world_new(void);
void world_freep(struct world **owner); /* for AUTO */
void put(struct world *w, const struct fake *f);
#define PUT(w, ...) put((w), &(struct fake){__VA_ARGS__}) /* PUT(w, .pid = 10, .ppid = 1) */
void children(struct world *w, int pid, const char *list);
void gone(struct world *w, int pid);
const struct run_reading *look(struct world *w);
void follow(struct world *w, int pid, int reaper);

#endif
