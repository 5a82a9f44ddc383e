/* Facts about a process, from which the rules and the recognition find its job. Texts are stored in
 * the reader's buffers and are valid until the reader's next use. A fact that we may not read is
 * empty. `refused` is set if we may not read the environment. */
#ifndef COLLECTORS_PROCESS_FACTS_H
#define COLLECTORS_PROCESS_FACTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collectors/host.h"
#include "collectors/naming/recognise.h"

#define USER_NAME_MAX    64
#define CONTAINER_ID_MAX 80

/* Facts that facts_complete reads only if the caller asks for them. */
enum fact {
	FACT_EXECUTABLE = 1,
	FACT_WORKING_DIRECTORY = 2,
	FACT_CGROUP = 4, /* control group, and the container that its path names */
	FACT_USER = 8,
};

struct process_facts {
	pid_t pid;
	struct process_text text;
	struct slice executable, working_directory; /* targets of /proc/PID/exe and cwd */
	/* Path of the process's control group in cgroup v2. Without cgroup v2, the path of the
	 * memory controller in v1 or, if there is none, the first path. The path "/" is used only
	 * if there is no other. */
	struct slice cgroup;
	char user[USER_NAME_MAX]; /* user name of the real uid, or the uid if it has no name */
	/* The last container id in the cgroup path: 32 to 64 hexadecimal digits; "" = none. */
	char container[CONTAINER_ID_MAX];
	/* We may not read the environment: the process belongs to another user. */
	bool refused;
};

struct facts_reader;

struct facts_reader *facts_reader_new(void);
void facts_reader_free(struct facts_reader *r);

/* For an environment that is too large for the buffer: selects additional variables to keep. The
 * reader then keeps only the variables that job recognition uses, and those for which `wants`
 * returns true. A rule may need such a variable, for example the input of a job. `context` is
 * borrowed. */
void facts_reader_wants(struct facts_reader *r,
	bool (*wants)(const void *context, struct slice variable), const void *context);

/* Reads up to HOST_SCRATCH_SIZE bytes of the command line. Returns false for a kernel thread, a
 * zombie, or a process that is gone. */
bool facts_begin(struct facts_reader *r, const struct host *h, pid_t pid,
	struct process_facts *ret);

/* Reads the remaining facts after facts_begin: the environment, the first readable file that may
 * contain the job's name (recognise_file), and the facts in `which` (enum fact). */
void facts_complete(struct facts_reader *r, const struct host *h, unsigned which,
	struct process_facts *facts);

/* Finds the container id in a cgroup path: docker-ID.scope, cri-containerd-ID.scope or /ID. Writes
 * "" when there is no id. */
void facts_container(struct slice cgroup, char out[CONTAINER_ID_MAX]);

#endif
