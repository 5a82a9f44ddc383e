/* Finds the job of a process. The sources are its environment, its arguments, the rules of
 * --jobs.rules and its pod: the exporter's own pod (--jobs.pod), or any pod of this Kubernetes
 * node. */
#include "exporter/discovery/finder_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/systems.h"
#include "collectors/process/helpers.h"
#include "collectors/process/process.h"
#include "exporter/core/capabilities.h"
#include "exporter/core/counters.h"
#include "exporter/core/identity.h"
#include "exporter/options/options.h"
#include "exporter/discovery/pod.h"
#include "exporter/kubernetes/pod_owners.h"

/* If a file of a process could not be read in time, the process is checked again after this many
 * nanoseconds. */
#define LOOK_AGAIN_NS (5 * NS_PER_S)

static uint64_t fingerprint(struct slice s)
{
	return hash_bytes(s.data, s.len) | 1;
}

/* Counts a process whose environment may not be read, but each process only once. Logs for the
 * first such process which rights are needed, or why the rights of this program are not enough.
 * With --jobs.pod, logs nothing, because the job name then comes from the pod. */
static void note_refused(struct finder *f, struct booked_process *p,
	const struct process_facts *facts)
{
	char number[16];

	if (!facts->refused || p->refused)
		return;
	p->refused = true;
	counters_found_add(FOUND_UNREADABLE, 1);
	if (f->refused_logged || f->pod)
		return;
	const char *why = capabilities_not_enough();

	f->refused_logged = true;
	snprintf(number, sizeof number, "%d", (int)p->pid);
	log_line(LOG_LEVEL_INFO,
		"cannot read environments of other users' processes: jobs named only there are "
		"not found",
		"pid", number, "needs",
		why ? NULL :
		      "the jobs' own user, or the capabilities SYS_PTRACE and DAC_READ_SEARCH",
		"why", why, NULL);
}

/* Returns true if this machine is a Kubernetes node, and processes are named by their pods. This is
 * not so in a sidecar (--jobs.pod), which names all processes by its own pod. */
static bool watches_node(const struct finder *f)
{
	return !f->app->options->jobs_pod && f->app->options->jobs_recognise &&
	       node_pods_here(f->node_pods, f->host);
}

static unsigned wanted_facts(const struct finder *f)
{
	bool per_container = f->pod && f->app->options->jobs_per_container;

	return (f->rules ? job_rules_facts(f->rules) : 0) |
	       (per_container || watches_node(f) ? FACT_CGROUP : 0);
}

static bool read_process(struct finder *f, struct booked_process *p, struct process_facts *ret)
{
	if (!facts_begin(f->reader, f->host, p->shown_by, ret))
		return false;
	uint64_t program = fingerprint(ret->text.command_line);

	if (recognise_is_worker(ret->text.command_line))
		p->look_at.ns = 0;
	if (program == p->program)
		return false;
	p->program = program;
	facts_complete(f->reader, f->host, wanted_facts(f), ret);
	note_refused(f, p, ret);
	return true;
}

/* ---- the pod ---- */

/* Warns about options for pods that have no effect. */
static void warn_of_pod(const struct options *o)
{
	struct err e = {0};

	if (!o->jobs_pod && o->jobs_pod_info)
		log_line(LOG_LEVEL_WARN, "--jobs.pod-info does nothing without --jobs.pod", NULL);
	if (!o->jobs_pod && o->jobs_per_container)
		log_line(LOG_LEVEL_WARN, "--jobs.per-container does nothing without --jobs.pod",
			NULL);
	if (o->jobs_pod && o->jobs_pod_info && pod_info_check(o->jobs_pod_info, &e))
		log_line(LOG_LEVEL_WARN, "--jobs.pod-info has no labels or annotations of the pod",
			"err", e.text, NULL);
}

void identify_pod(struct finder *f)
{
	const struct options *o = f->app->options;
	struct recognised is;
	struct err e = {0};

	warn_of_pod(o);
	if (!o->jobs_pod)
		return;
	if (f->app->self->pid == 1)
		log_line(LOG_LEVEL_ERROR,
			"this process has PID 1, so it sees no other container: set "
			"shareProcessNamespace: true in the pod",
			NULL);
	if (pod_recognise(o->jobs_pod_info, &f->pod_text, &is, &e)) {
		log_line(LOG_LEVEL_WARN, "the pod is not recorded as a job", "err", e.text, NULL);
		return;
	}
	f->pod = xmalloc(sizeof *f->pod);
	*f->pod = is;
	log_line(LOG_LEVEL_INFO, "all processes of this pod are one job", "job_name", is.job_name,
		"system", is.system, NULL);
}

static bool is_own(const struct finder *f, const struct booked_process *p)
{
	for (size_t steps = 0; p && steps < PROCESS_BOOK_MAX; steps++) {
		if (p->pid == f->host->self)
			return true;
		p = p->ppid ? process_book_find(f->book, p->ppid) : NULL;
	}
	return false;
}

struct slice identify_program(struct slice command_line)
{
	struct slice program = {command_line.data, strnlen(command_line.data, command_line.len)};
	const char *slash = memrchr(program.data, '/', program.len);
	size_t skip = slash ? (size_t)(slash + 1 - program.data) : 0;

	return (struct slice){program.data + skip, program.len - skip};
}

static void add_program(struct slice command_line, char *name, size_t size)
{
	struct slice program = identify_program(command_line);
	size_t n = strlen(name);
	char text[JOB_WORD_MAX];

	utf8_clean_plain(program.data, program.len, '_', text, sizeof text);
	snprintf(name + n, size - n, "/%s", text);
}

/* Finds the open run of a container, or returns NULL. */
static const struct recognised *run_of_container(const struct finder *f, const char *container,
	const char *run)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->named[i]->open && strcmp(f->named[i]->is.task, container) == 0 &&
			strcmp(f->named[i]->is.run, run) == 0)
			return &f->named[i]->is;
	return NULL;
}

/* Names the run of a container after the first program that was seen in the container. */
static void name_container(const struct finder *f, const struct process_facts *facts,
	struct recognised *r)
{
	const struct recognised *known = run_of_container(f, facts->container, r->run);
	char name[JOB_NAME_MAX + JOB_WORD_MAX];

	if (known) {
		*r = *known;
		return;
	}
	text_copy(facts->container, r->task, sizeof r->task);
	text_copy(r->job_name, name, sizeof name);
	add_program(facts->text.command_line, name, sizeof name);
	utf8_clean(name, strlen(name), r->job_name, sizeof r->job_name);
}

void identify_again(const struct finder *f, struct recognised *r)
{
	const struct recognised *known;

	if (!f->pod || !f->app->options->jobs_per_container || strcmp(r->run, f->pod->run) != 0)
		return;
	known = run_of_container(f, r->task, r->run);
	if (known)
		*r = *known;
}

/* Returns true for a container runtime, which must not get a job name. The first process of a
 * container is at first the runtime, which runs as root outside of the container's files and
 * limits. It then executes the job, and the finder sees the new command line. */
static bool is_runtime(struct slice command_line)
{
	static const char *const runtimes[] = {"runc", "crun", "youki"};
	struct slice program = identify_program(command_line);

	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
		if (slice_is(program, runtimes[i]))
			return true;
	return false;
}

/* Returns true when a process may belong to the job of the exporter's pod. Returns false for the
 * exporter and its descendants, and for process 1, which is the pause container if the containers
 * share a PID namespace. */
static bool is_of_pod(const struct finder *f, const struct booked_process *p)
{
	return f->pod && p->pid != 1 && !is_own(f, p);
}

static bool name_by_pod(const struct finder *f, const struct booked_process *p,
	const struct process_facts *facts, struct recognised *ret)
{
	if (!is_of_pod(f, p) || is_runtime(facts->text.command_line))
		return false;
	*ret = *f->pod;
	if (f->app->options->jobs_per_container && facts->container[0])
		name_container(f, facts, ret);
	return true;
}

/* Replaces the job name of a process by a better one from the labels of its pod, if both are of the
 * same system. Example: the command line of a Spark driver contains only a class name, and a label
 * of its pod contains the user's name for the job. */
static void complete_by_pod(const struct finder *f, const struct booked_process *p,
	const struct process_text *text, struct recognised *r)
{
	struct process_text both = *text;
	struct recognised more;

	if (!is_of_pod(f, p))
		return;
	both.pod = (struct slice){f->pod_text.data, f->pod_text.len};
	if (recognise(&both, &more) && more.system == r->system && more.own_name == r->own_name)
		*r = more;
}

/* ---- pods of a node ---- */

/* Kubernetes sets this variable in each container of an indexed Job. */
#define INDEX_VARIABLE "JOB_COMPLETION_INDEX"

/* A pod's run ends when the pod has had no process for this many seconds. The kubelet needs a
 * second or two between an init container and the next container, so both belong to one run. Before
 * the kubelet restarts a failed container, it waits 10 s or more (containerrestartpolicy of
 * kubernetes.io). The restarted container is another attempt with its own run. */
#define BETWEEN_CONTAINERS_SECONDS 8

bool identify_reads(struct slice variable)
{
	return slice_is(variable, INDEX_VARIABLE);
}

/* Returns the value of INDEX_VARIABLE; data NULL = not set. */
static struct slice index_in(struct slice environment)
{
	const size_t n = sizeof INDEX_VARIABLE;
	struct scan s = scan_slice(environment);
	struct slice piece;

	while (environment.data && scan_piece(&s, '\0', &piece))
		if (slice_starts(piece, INDEX_VARIABLE "="))
			return (struct slice){piece.data + n, piece.len - n};
	return (struct slice){NULL, 0};
}

/* Finds the open run that got its name from the pod `uid`. NULL = there is none. */
static const struct recognised *run_of_pod(const struct finder *f, const char *uid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->named[i]->open && strcmp(f->named[i]->pod, uid) == 0)
			return &f->named[i]->is;
	return NULL;
}

static bool read_network(const struct host *h, pid_t pid, char *ret, size_t size)
{
	char path[PROCESS_PATH_MAX];

	return tree_link(h->proc, process_path(path, pid, "ns/net"), ret, size) > 0;
}

/* Returns true if the process uses the network of the machine. Pods of DaemonSets often do, and
 * pods of Jobs do not. The network of the machine is that of process 1. If it cannot be read, the
 * network of the parent is used instead, because the parent of a pod's first process is outside of
 * the pod. Returns false if a network is unknown. */
static bool on_host_network(const struct host *h, const struct booked_process *p)
{
	char its[64], machine[64]; /* network namespaces: "net:[4026531840]" */

	return read_network(h, p->pid, its, sizeof its) &&
	       (read_network(h, 1, machine, sizeof machine) ||
		       (p->ppid && read_network(h, p->ppid, machine, sizeof machine))) &&
	       strcmp(its, machine) == 0;
}

/* Returns true for the process that holds the namespaces of a pod. It starts before the first
 * container and ends after the last. Kubernetes names this program "pause" (build/pause). */
static bool is_pause(struct slice command_line)
{
	return slice_is(identify_program(command_line), "pause");
}

/* Returns true if the process belongs to a run: the process itself or one of its ancestors is in
 * the run. */
static bool is_within_a_run(const struct finder *f, const struct booked_process *p)
{
	for (size_t steps = 0; p && steps < PROCESS_BOOK_MAX; steps++) {
		if (p->note)
			return true;
		p = p->ppid ? process_book_find(f->book, p->ppid) : NULL;
	}
	return false;
}

/* Returns true if the pod is a job. The first of these that is known decides:
 * 1. The user gave the job a name.
 * 2. The kind of the pod's owner (`class`).
 * 3. A system other than Kubernetes, such as Argo, names the run.
 * 4. The form of the pod's name. Only pods of CronJobs have a form of their own. Pods of Jobs and
 *    of DaemonSets have the same form. Such a pod counts as a DaemonSet's if it uses the network of
 *    the machine, and as a Job's otherwise. */
static bool is_job(const struct finder *f, const struct booked_process *p,
	const struct node_pod *pod, enum pod_class class, const struct recognised *r)
{
	bool by_system = strcmp(r->system, SYSTEM_KUBERNETES) != 0;

	if (r->own_name || class == POD_IS_JOB)
		return true;
	if (class == POD_IS_SERVICE)
		return false;
	return by_system || (pod->of_job && (pod->of_cron_job || !on_host_network(f->host, p)));
}

static bool name_new_pod(const struct finder *f, const struct booked_process *p,
	const struct node_pod *pod, enum pod_class class, const struct buf *words,
	const struct process_facts *facts, struct recognised *ret)
{
	struct buf pod_text AUTO(buf_done) = BUF_MAX(2 * (sizeof *pod + JOB_WORD_MAX) + words->len);
	struct process_text text = facts->text;

	node_pods_text(pod, index_in(text.environment), &pod_text);
	buf_add(&pod_text, words->data, words->len);
	text.pod = (struct slice){pod_text.data, pod_text.len};
	if (!recognise(&text, ret) || !is_job(f, p, pod, class, ret))
		return false;
	ret->grace_seconds = BETWEEN_CONTAINERS_SECONDS;
	return true;
}

static struct node_pod *pod_of(const struct finder *f, const struct process_facts *facts)
{
	return watches_node(f) ? node_pods_find(f->node_pods, f->host, facts->cgroup) : NULL;
}

/* Notes that the pod of this process records its run itself, because an exporter (a sidecar or a
 * wrapper) runs in it. */
static void note_exporter(const struct finder *f, const struct process_facts *facts)
{
	struct node_pod *pod = pod_of(f, facts);

	if (pod)
		pod->recorded = true;
}

/* Names a process by its pod, if the pod is a job. All processes of the pod are one run.
 *
 * The API is asked for the owner of the pod when the first process of the pod is seen. That is
 * "pause", about a second before the others. Until the answer comes, the process is checked at
 * every tick. If it does not come in time (POD_UNANSWERED), the process is checked again later. */
static bool name_by_node_pod(const struct finder *f, struct booked_process *p,
	const struct process_facts *facts, struct process_finding *ret)
{
	const struct node_pod *pod = pod_of(f, facts);

	if (!pod || pod->recorded || is_within_a_run(f, p))
		return false;
	bool waits = !is_runtime(facts->text.command_line) && !is_pause(facts->text.command_line);
	const struct recognised *known = waits ? run_of_pod(f, pod->uid) : NULL;

	text_copy(pod->uid, ret->pod, sizeof ret->pod);
	if (known) {
		ret->is = *known;
		return true;
	}
	struct buf words AUTO(buf_done) = BUF_MAX(OWNER_WORDS_MAX);
	const struct pod_id id = {pod->space, pod->name, pod->uid};
	const struct mono now = f->host->now.mono;
	enum pod_class class;
	bool settled = pod_owners_find(f->app->pod_owners, &id, now, waits, &words, &class);

	if (!waits)
		return false;
	if (settled && name_new_pod(f, p, pod, class, &words, facts, &ret->is))
		return true;
	if (class == POD_UNANSWERED)
		p->program = 0;
	if (!settled)
		p->look_at = now;
	return false;
}

/* ---- all sources together ---- */

static double within(double v, double least, double most)
{
	return v >= least && v <= most ? v : (double)NAN;
}

static double first_known(double a, double b)
{
	return isnan(a) ? b : a;
}

void identify_fill_numbers(struct recognised *r, const struct recognised *other)
{
	r->attempt = first_known(r->attempt, other->attempt);
	r->input_bytes = first_known(r->input_bytes, other->input_bytes);
	r->cpu_cores = first_known(r->cpu_cores, other->cpu_cores);
	r->memory_bytes = first_known(r->memory_bytes, other->memory_bytes);
}

void identify_bound_numbers(struct recognised *r)
{
	r->attempt = within(r->attempt, 1, ATTEMPT_MOST);
	r->input_bytes = within(r->input_bytes, 0, QUANTITY_BYTES_MOST);
	r->cpu_cores = within(r->cpu_cores, QUANTITY_CORES_LEAST, QUANTITY_CORES_MOST);
	r->memory_bytes = within(r->memory_bytes, 1, QUANTITY_BYTES_MOST);
}

/* Names a process. RIGHTSIZE_JOB_NAME takes precedence over the rules of --jobs.rules, and the
 * rules over a name from a batch or workflow system. */
static bool name_process(struct finder *f, const struct booked_process *p,
	const struct process_facts *facts, struct recognised *ret, bool *ignored)
{
	struct rule_finding found;
	bool known = f->app->options->jobs_recognise && recognise(&facts->text, ret);

	if (known)
		complete_by_pod(f, p, &facts->text, ret);
	if (!f->rules || (known && ret->own_name))
		return known;
	bool ruled = job_rules_match(f->rules, facts, &found, NULL);

	counters_found_add(FOUND_PATTERN_GAVE_UP, found.gave_up);
	if (found.gave_up && log_complaint_due(&f->patterns_given_up))
		log_line(LOG_LEVEL_WARN,
			"a pattern in --jobs.rules takes too long and does not match: simplify it",
			NULL);
	if (!ruled)
		return known;
	*ignored = found.ignored;
	if (found.ignored)
		return false;
	if (known)
		identify_fill_numbers(&found.is, ret);
	*ret = found.is;
	return true;
}

static bool is_exporter(const struct finder *f, const struct booked_process *p,
	const struct process_text *text)
{
	return p->pid == f->host->self || recognise_is_exporter(text->command_line);
}

/* Returns true for a process that its environment or a client has declared to be a helper
 * (collectors/process/helpers.h). Such a process names no job, even if it has inherited the job's
 * environment. */
static bool is_helper(const struct finder *f, const struct booked_process *p,
	const struct process_text *text)
{
	return recognise_declares_helper(text->environment) ||
	       helpers_declared(f->host->helpers, p->pid, p->start_ticks);
}

/* Sets the namespace of the job. On a Kubernetes node, this is the namespace of the process's pod,
 * not that of the exporter's pod. */
static void take_space(const struct finder *f, const struct process_facts *facts,
	struct recognised *r)
{
	const struct options *o = f->app->options;
	const struct node_pod *pod = pod_of(f, facts);

	if (o->jobs_namespace || !watches_node(f))
		pod_job_space(o, r->space);
	else
		text_copy(pod && o->jobs_pod_namespace ? pod->space : "", r->space,
			sizeof r->space);
}

static bool read_and_name(struct finder *f, struct booked_process *p, struct process_finding *ret)
{
	struct process_facts facts;
	bool ignored = false;

	ret->pod[0] = '\0';
	if (!read_process(f, p, &facts))
		return false;
	if (is_helper(f, p, &facts.text))
		return false;
	ret->exporter = is_exporter(f, p, &facts.text);
	if (ret->exporter)
		note_exporter(f, &facts);
	bool named = name_process(f, p, &facts, &ret->is, &ignored);

	if (named)
		identify_bound_numbers(&ret->is);
	else if (ignored || ret->exporter)
		return false;
	else if (!(named = name_by_node_pod(f, p, &facts, ret))) {
		ret->pod[0] = '\0';
		named = name_by_pod(f, p, &facts, &ret->is);
	}
	if (named)
		take_space(f, &facts, &ret->is);
	return named;
}

/* See finder_state.h. If a file of the process could not be read in time, the process is checked
 * again within LOOK_AGAIN_NS, because the file may contain the job name. */
bool identify_process(struct finder *f, struct booked_process *p, struct process_finding *ret)
{
	uint64_t left_out = tree_waits(f->host->proc).left_out;
	int64_t soon = f->host->now.mono.ns + LOOK_AGAIN_NS;

	if (read_and_name(f, p, ret))
		return true;
	if (tree_waits(f->host->proc).left_out != left_out) {
		p->program = 0;
		if (p->look_at.ns > soon)
			p->look_at.ns = soon;
	}
	return false;
}
