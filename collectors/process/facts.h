/*
 * Facts about a process that job rules and job recognition look at. Texts lie in the reader's
 * buffers and are valid until its next use. A fact that may not be read is empty, and "refused" is
 * set.
 */
#ifndef COLLECTORS_PROCESS_FACTS_H
#define COLLECTORS_PROCESS_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/host.h"
#include "collectors/naming/recognise.h"

#define USER_NAME_MAX    64
#define CONTAINER_ID_MAX 80

/* Facts that are read only on request. */
enum fact {
	FACT_EXECUTABLE = 1,
	FACT_WORKING_DIRECTORY = 2,
	FACT_CGROUP = 4, /* the container, too */
	FACT_USER = 8,
};

struct process_facts {
	pid_t pid;
	struct process_text text;
	struct slice executable, working_directory; /* where the links point */
	/* Path of v2, else of v1's memory controller, else the first one. */
	struct slice cgroup;
	char user[USER_NAME_MAX];         /* name of the real uid, or the number */
	char container[CONTAINER_ID_MAX]; /* id: 32 hexadecimal digits or more in the cgroup */
	bool refused; /* the process belongs to another user: environment and links are unreadable */
};

struct facts_reader;

struct facts_reader *facts_reader_new(void);
void facts_reader_free(struct facts_reader *r);

/*
 * Sets which variables to keep of an environment that is too large to keep whole (a job may have
 * its input in a variable). Variables that job recognition uses are always kept; wants returns true
 * for others to keep.
 */
void facts_reader_wants(struct facts_reader *r,
	bool (*wants)(const void *context, struct slice variable), const void *context);

/* Reads up to HOST_SCRATCH_SIZE of the command line; false: kernel thread, zombie, or gone. */
bool facts_begin(struct facts_reader *r, const struct host *h, pid_t pid,
	struct process_facts *ret);

/* After facts_begin: reads the environment, the name file, and the facts in which (enum fact). */
void facts_complete(struct facts_reader *r, const struct host *h, unsigned which,
	struct process_facts *facts);

/* The container id in docker-ID.scope, cri-containerd-ID.scope or /ID of a path, else "". */
void facts_container(struct slice cgroup, char out[CONTAINER_ID_MAX]);

#endif
