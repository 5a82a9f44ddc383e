/* Begins and ends runs that clients announce. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "collectors/process/process.h"
#include "exporter/discovery/finder_state.h"

static struct named_process *announced_at(const struct finder *f, const char *job, pid_t pid,
	uint64_t start_ticks)
{
	for (size_t i = 0; i < f->n; i++) {
		struct named_process *n = f->named[i];

		if (n->open && n->announced && n->root.pid == pid &&
			n->root.start_ticks == start_ticks && strcmp(n->job, job) == 0)
			return n;
	}
	return NULL;
}

static struct named_process *named_new(const struct announcement *a)
{
	struct named_process *n = xcalloc(1, sizeof *n);

	n->announced = true;
	n->is = (struct recognised){
		.system = a->system ? a->system : "announced",
		.attempt = a->attempt,
		.cpu_cores = a->cpu_cores,
		.memory_bytes = a->memory_bytes,
		.input_bytes = a->input_bytes,
		.n_labels = a->n_labels,
	};
	text_copy(a->job, n->job, sizeof n->job);
	memcpy(n->is.label, a->label, sizeof n->is.label);
	return n;
}

/* Finds the process with the announced PID in host->proc. Returns an error if the PID is that of a
 * thread. */
static int find_process(const struct host *host, pid_t announced, struct process_stat *ret,
	struct err *e)
{
	/* The PID may be of the PID namespace of this program, or of the one that /proc shows. If
	 * this program's namespace has such a process, assume the first, and convert the PID to
	 * that in /proc. */
	bool here = kill(announced, 0) == 0 || errno == EPERM;
	pid_t pid = here ? process_number(host, announced) : announced;

	if (!pid)
		return err_set(e, -ESRCH,
			"--path.procfs shows another PID namespace, and not process %d",
			(int)announced);
	int unread = process_read_stat(host, pid, ret);

	if (process_unanswered(unread))
		return err_set(e, unread,
			"process %d does not answer: it waits for a file system; try again later",
			(int)announced);
	if (unread)
		return err_set(e, -ESRCH, "there is no process %d", (int)announced);
	pid_t process = process_of(host, pid);

	if (process && process != pid)
		return err_set(e, -ESRCH, "%d is a thread of process %d", (int)announced,
			(int)process);
	return 0;
}

int finder_declare_helper(struct finder *f, const struct host *host, pid_t pid, struct err *e)
{
	struct process_stat stat = {0};

	f->host = host;
	int code = find_process(host, pid, &stat, e);

	return code ? code : jobs_declare_helper(host->jobs, host, stat.pid, e);
}

int finder_announce(struct finder *f, const struct host *host, const struct announcement *a,
	struct announced_run *ret, struct err *e)
{
	struct process_stat stat = {0};

	f->host = host;
	int unread = find_process(host, a->pid, &stat, e);

	if (unread)
		return unread;
	struct named_process *n = announced_at(f, a->job, stat.pid, stat.start_ticks);

	ret->known = n;
	if (!n) {
		n = named_new(a);
		n->from_now = a->from_now;
		int code = finder_begin(f, stat.pid, stat.start_ticks, n, e);

		if (code)
			return code;
	}
	text_copy(n->run_id, ret->run_id, sizeof ret->run_id);
	return 0;
}

static struct named_process *open_of_id(const struct finder *f, const char *run_id)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->named[i]->open && strcmp(f->named[i]->run_id, run_id) == 0)
			return f->named[i];
	return NULL;
}

/* Continues a run that a client announced to an earlier exporter. Returns NULL when the run cannot
 * be continued, for example because its process is gone. */
static struct named_process *take_up(struct finder *f, const struct host *host, const char *run_id)
{
	const struct left_open_run *r = left_open_find_id(f->left_open, run_id);
	struct process_stat stat;

	if (!r || r->recorded_elsewhere || process_read_stat(host, r->root.pid, &stat) < 0 ||
		stat.start_ticks != r->root.start_ticks)
		return NULL;
	struct announcement a = {
		.pid = r->root.pid,
		.cpu_cores = NAN,
		.memory_bytes = NAN,
		.input_bytes = NAN,
		.attempt = NAN,
	};

	text_copy(r->job_name, a.job, sizeof a.job);
	struct named_process *n = named_new(&a);

	f->host = host;
	return finder_begin(f, a.pid, stat.start_ticks, n, NULL) ? NULL : n;
}

int finder_finish(struct finder *f, const struct host *host, const char *run_id,
	const struct reported_end *end)
{
	struct named_process *n = open_of_id(f, run_id);

	if (!n)
		n = take_up(f, host, run_id);
	if (!n)
		return -ENOENT;
	n->reported = *end;
	finder_conclude(host, n);
	return 0;
}
