/*
 * What can be told about a process from outside: what rules and the recognition of jobs look at. Texts are of the
 * reader's buffers, and valid until its next use. What may not be read is empty, and said so.
 */
#ifndef COLLECTORS_PROCESS_FACTS_H
#define COLLECTORS_PROCESS_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/host.h"
#include "collectors/naming/recognise.h"

#define USER_NAME_MAX    64
#define CONTAINER_ID_MAX 80

/* What is read only when somebody asks for it. */
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
	struct slice
		cgroup; /* of /proc/PID/cgroup: v2's path, else that of v1's memory, else the first */
	char user[USER_NAME_MAX];         /* of the real uid: its name, or the number */
	char container[CONTAINER_ID_MAX]; /* its id: 32 hexadecimal digits or more in the cgroup */
	bool refused; /* the environment belongs to somebody else, and so do its links */
};

struct facts_reader;

struct facts_reader *facts_reader_new(void);
void facts_reader_free(struct facts_reader *r);

/*
 * Of an environment that is too large to be kept, such as that of a job whose input is in a variable, only variables
 * that somebody looks at are kept: recognise, and who wants others here.
 */
void facts_reader_wants(struct facts_reader *r,
	bool (*wants)(const void *context, struct slice variable), const void *context);

/* The command line alone, of a longer one the first HOST_SCRATCH_SIZE bytes; false for kernel threads, zombies, and who is gone. */
bool facts_begin(struct facts_reader *r, const struct host *h, pid_t pid,
	struct process_facts *ret);

/* Then the environment, the file that a name may be in, and what is asked for of enum fact. */
void facts_complete(struct facts_reader *r, const struct host *h, unsigned which,
	struct process_facts *facts);

/* The container of a cgroup path, "" when there is none: docker-ID.scope, cri-containerd-ID.scope, /ID. */
void facts_container(struct slice cgroup, char out[CONTAINER_ID_MAX]);

#endif
