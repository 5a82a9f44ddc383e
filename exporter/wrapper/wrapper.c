#include "exporter/wrapper/wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "exporter/history/historian.h"
#include "exporter/wrapper/inherited.h"
#include "exporter/wrapper/signal_route.h"
#include "exporter/wrapper/job_signals.h"
#include "exporter/core/log.h"
#include "exporter/core/worker.h"
#include "exporter/this_server/this_server.h"
#include "exporter/lifecycle/privileges.h"
#include "exporter/cli/query.h"
#include "exporter/wrapper/run_accounts.h"
#include "exporter/sampling/sampler.h"
#include "exporter/wrapper/summary.h"

#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define EXIT_SIGNAL         128
#define FLUSH_SECONDS       10

static struct inherited inherited;
static struct fork_losses losses;
static pid_t caller;

void wrapper_prepare(void)
{
	caller = getppid();
	inherited_read(&inherited);
	fork_losses_read(&losses);
	job_signals_block();
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

struct cpu_times {
	double user, system; /* CPU time in user mode and in the kernel, seconds */
};

struct wrapped_job {
	pid_t pid;
	struct now started;
	int status; /* exit status as in wait(2); valid if `ended` */
	bool ended;
	double largest_rss; /* largest ru_maxrss of all reaped processes, bytes */
	/* Memory and CPU time that the child used between fork(2) and execve(2), while it was a
	 * copy of the wrapper; see largest_rss_of. */
	double forked_rss;
	struct cpu_times forked;
	/* Usage of children that ended before the job started: for example, a shell may run
	 * programs and then become the wrapper by execve(2). */
	struct rusage waited_before;
	bool peak_seen; /* the sampler measured the memory peak of the job */
	bool killed;    /* SIGKILL ended a process of the job */
	char run_id[RUN_ID_MAX];
	bool followed;
	bool unanswered; /* true = the sampler timed out and may still use the accounts */
	struct run_accounts accounts;
};

static double max_rss(const struct rusage *used)
{
	return (double)used->ru_maxrss * 1024;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct cpu_times cpu_times(const struct rusage *used)
{
	return (struct cpu_times){seconds_of(used->ru_utime), seconds_of(used->ru_stime)};
}

/* Executes the command. Returns errno on failure. The child of a process with threads may call only
 * async-signal-safe functions (signal-safety(7)). execvp is not one of these, but in glibc and musl
 * it takes no lock and allocates no memory. */
static int become(char *const command[])
{
	job_signals_restore();
	execvp(command[0], command);
	return errno;
}

static int exit_code_of(int failure)
{
	return failure == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int not_started(const char *subject, int failure)
{
	struct err e = {0};

	err_system(&e, -failure, "%s", subject);
	log_line(LOG_LEVEL_ERROR, "command not started", "err", e.text, NULL);
	return exit_code_of(failure);
}

int wrapper_become(char *const command[])
{
	/* Undo PR_SET_CHILD_SUBREAPER of wrapper_prepare. It would stay after execve(2), and the
	 * command does not expect to adopt orphans. */
	prctl(PR_SET_CHILD_SUBREAPER, losses.adopts, 0, 0, 0);
	inherited_keep_only(&inherited);
	return not_started(command[0], become(command));
}

/* The child writes this report to a pipe right before execve(2). If execve(2) fails, errno
 * follows. */
struct child_report {
	double rss;
	struct cpu_times cpu;
	bool in_cgroup;
};

/* In the child: writes the report and executes the command. If that fails, writes errno. The report
 * and errno are shorter than PIPE_BUF, so the parent reads each completely or not at all. */
static _Noreturn void report_and_become(const struct wrapped_job *job, char *const command[],
	int fd)
{
	struct child_report r = {.in_cgroup = own_group_enter(&job->accounts.cgroup)};
	struct rusage used = {0};

	getrusage(RUSAGE_SELF, &used);
	r.rss = max_rss(&used);
	r.cpu = cpu_times(&used);
	inherited_keep_only(&inherited);
	fork_losses_make_good(&losses);
	bool reported = write(fd, &r, sizeof r) == sizeof r;
	int failure = become(command);

	reported = reported && write(fd, &failure, sizeof failure) == sizeof failure;
	_exit(reported ? exit_code_of(failure) : EXIT_NOT_EXECUTABLE);
}

/* Executes the command in place of this process, unwatched, because the call `subject` failed with
 * the errno `failure`. execve(2) also ends the other threads. This loses nothing, because nothing
 * is recorded yet. */
static int go_unwatched(struct wrapped_job *job, const char *subject, int failure,
	char *const command[])
{
	struct err e = {0};

	err_system(&e, -failure, "%s", subject);
	log_line(LOG_LEVEL_ERROR, "the run is not watched", "err", e.text, NULL);
	/* Close the accounts, because the control group of the run would outlive execve(2). */
	run_accounts_close(&job->accounts);
	return wrapper_become(command);
}

/* Starts the command. Returns 0, or an exit code when the command did not start. */
static int start(struct wrapped_job *job, char *const command[])
{
	int pipe_fds[2], failure = 0;
	struct child_report r = {0};

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return go_unwatched(job, "pipe", errno, command);
	getrusage(RUSAGE_CHILDREN, &job->waited_before);
	/* Take the pending signals now, because the child of fork(2) does not inherit them. */
	job_signals_take_early();
	job->started = now_read();
	job->pid = fork();
	if (job->pid == 0)
		report_and_become(job, command, pipe_fds[1]);
	failure = job->pid < 0 ? errno : 0;
	close(pipe_fds[1]);
	AUTO(closep) int result = pipe_fds[0];

	if (failure)
		return go_unwatched(job, "fork", failure, command);
	if (read(result, &r, sizeof r) == sizeof r) {
		job->forked_rss = r.rss;
		job->forked = r.cpu;
	}
	run_accounts_started(&job->accounts, r.in_cgroup);
	/* If execve(2) succeeds, it closes the pipe, and no errno arrives. */
	if (read(result, &failure, sizeof failure) == sizeof failure) {
		waitpid(job->pid, NULL, 0);
		return not_started(command[0], failure);
	}
	return 0;
}

static void follow_job(struct app *app, const struct identity *self, const struct command_run *run,
	struct wrapped_job *job)
{
	const struct options *o = app->options;
	struct account_note note = {0};
	struct err e = {0};

	identity_make_run_id(job->run_id, job->started.wall);

	struct run_spec spec = {
		.run_id = job->run_id,
		.job_name = run->job,
		.pid = job->pid,
		.own_numbers = true,
		.own_group = job->accounts.cgroup.self >= 0,
		.reaper_pid = self->pid,
		.started_at = job->started.wall,
		.started_mono = job->started.mono,
		.awaits_conclusion = true,
		.clock = job->accounts.clock.n ? &job->accounts.clock : NULL,
		.quota = &job->accounts.quota,
		.forked_seconds = job->forked.user + job->forked.system,
	};
	struct run_begin begin = {
		.run_id = job->run_id,
		.job_name = run->job,
		.host = self->host,
		.started_at = wall_seconds(job->started.wall),
		.interval_seconds = o->sample_interval,
		.root = self->here,
		.requested_cpu_cores = run->is.cpu_cores,
		.requested_memory_bytes = run->is.memory_bytes,
		.memory_limit_bytes = NAN,
		.input_bytes = run->is.input_bytes,
		.attempt = run->is.attempt,
		.system = run->system,
		.system_run = run->system && run->is.run[0] ? run->is.run : NULL,
		.labels = run->labels,
		.owner_pid = self->pid,
		.owner_start_ticks = self->start_ticks,
	};

	begin.root.pid = job->pid;
	begin.root.start_ticks = identity_start_ticks(job->pid);
	begin.root.reaper_pid = self->pid;
	begin.root.reaper_start_ticks = self->start_ticks;
	int code = sampler_follow(app->sampler, &spec, &begin, SAMPLER_PATIENCE_SECONDS, &note, &e);

	job->followed = code == 0;
	job->unanswered = code == -ECANCELED;
	/* After a timeout the sampler may still read the accounts. */
	if (!job->unanswered)
		run_accounts_followed(&job->accounts, note.uses_clock);
	if (code == 0 && note.not_shown)
		log_line(LOG_LEVEL_WARN, "only the CPU time of the run is measured", "err",
			"--path.procfs does not show the process of the command", NULL);
	if (code)
		log_line(LOG_LEVEL_WARN, "the run is not recorded", "err", e.text, NULL);
	else if (app->not_in_history.code)
		log_line(LOG_LEVEL_WARN, "the run will not be in the history", "run_id",
			job->run_id, "err", app->not_in_history.text, NULL);
	if (code == 0 && !o->quiet && note.cpu_source)
		run_accounts_advise(&note);
}

/* Reaps one child that has ended, as wait4(-1, ..., WNOHANG) does. Skips children that the
 * wrapper's caller started, because their usage does not belong to the job. */
static pid_t wait_for_one(int *status, struct rusage *used)
{
	AUTO(freep) pid_t *child = NULL;
	size_t n = inherited.n_children ? inherited_children(&child) : 0;

	if (!inherited.n_children)
		return wait4(-1, status, WNOHANG, used);
	for (size_t i = 0; i < n; i++)
		if (!inherited_child(&inherited, child[i]) &&
			wait4(child[i], status, WNOHANG, used) > 0)
			return child[i];
	return 0;
}

/* Reaps one child that has ended. Returns false when there is none. */
static bool reap(struct wrapped_job *job)
{
	struct rusage used;
	int status;
	pid_t pid = wait_for_one(&status, &used);

	if (pid <= 0)
		return false;
	if (max_rss(&used) > job->largest_rss)
		job->largest_rss = max_rss(&used);
	job->killed = job->killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (pid == job->pid) {
		job->ended = true;
		job->status = status;
	}
	return true;
}

static void note_peak(struct wrapped_job *job, struct snapshot *last)
{
	for (size_t i = 0; last && i < last->n_runs; i++)
		if (strcmp(last->runs[i].run_id, job->run_id) == 0)
			job->peak_seen = !isnan(last->runs[i].value[RUN_MEMORY_PEAK_BYTES]);
	if (last)
		shared_drop(&last->shared);
}

/* Reaps all children that have ended. If the command is among them, first takes a sample, because
 * its counters cannot be read after it was reaped. */
static void on_child(struct app *app, struct wrapped_job *job)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == job->pid && job->followed)
		note_peak(job, sampler_runs(app->sampler, 0, 1));
	while (reap(job))
		;
}

static void wait_for_end(struct app *app, struct wrapped_job *job)
{
	struct signal_route route = {.job = job->pid, .caller = caller, .inherited = &inherited};
	sigset_t set;

	job_signals_fill(&set);
	/* The job may already have ended, so do not wait for its SIGCHLD first. */
	on_child(app, job);
	while (!job->ended) {
		siginfo_t info = {0};

		if (sigwaitinfo(&set, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			signal_route_send(&route, &info);
			continue;
		}
		on_child(app, job);
		if (!job->ended)
			signal_route_stop(&route);
	}
	signal_route_end(&route);
}

/* Returns the largest RSS of a process of the job; NaN = unknown. Before execve(2), the child is a
 * copy of the wrapper, and ru_maxrss includes the memory of this copy, job->forked_rss (exec_mmap()
 * in fs/exec.c). If job->largest_rss is not larger, it may be only this memory. It is then used
 * only if the sampler has no peak. */
static double largest_rss_of(const struct wrapped_job *job)
{
	return job->largest_rss > job->forked_rss || !job->peak_seen ? job->largest_rss :
								       (double)NAN;
}

/* Sets the values of `final` that getrusage(2) gives exactly. Subtracts the usage that is not the
 * job's: that of children that ended before the job started, and that of the child before
 * execve(2). */
static void final_of(const struct wrapped_job *job, double final[RUN_N_METRICS])
{
	struct rusage used;

	for (size_t i = 0; i < RUN_N_METRICS; i++)
		final[i] = NAN;
	if (getrusage(RUSAGE_CHILDREN, &used) < 0)
		return;
	const struct rusage *first = &job->waited_before;
	struct cpu_times all = cpu_times(&used), before = cpu_times(first);
	double user = fmax(all.user - before.user - job->forked.user, 0);
	double system = fmax(all.system - before.system - job->forked.system, 0);

	final[RUN_CPU_SECONDS] = user + system;
	final[RUN_CPU_USER_SECONDS] = user;
	final[RUN_CPU_SYSTEM_SECONDS] = system;
	final[RUN_MINOR_FAULTS] = (double)(used.ru_minflt - first->ru_minflt);
	final[RUN_MAJOR_FAULTS] = (double)(used.ru_majflt - first->ru_majflt);
	final[RUN_VOLUNTARY_SWITCHES] = (double)(used.ru_nvcsw - first->ru_nvcsw);
	final[RUN_INVOLUNTARY_SWITCHES] = (double)(used.ru_nivcsw - first->ru_nivcsw);
	final[RUN_MEMORY_PEAK_BYTES] = final[RUN_MEMORY_PEAK_PROCESS_BYTES] = largest_rss_of(job);
}

/* Writes the report. Errors go to stderr and do not change the exit code. */
static void write_report(struct app *app, const struct wrapped_job *job)
{
	const char *const run_command[][2] = {{"run", job->run_id}, {NULL}};
	struct err e = {0};

	if (query_save(app, "report", run_command, app->options->run_report, &e))
		fprintf(stderr, "rightsize-exporter report: %s\n", e.text);
}

static int exit_code_of_job(const struct wrapped_job *job)
{
	return WIFEXITED(job->status) ? WEXITSTATUS(job->status) :
					EXIT_SIGNAL + WTERMSIG(job->status);
}

/* Ends the run after the sampler has timed out. The record has only the values of the samples taken
 * so far. */
static void finish_unseen(struct app *app, struct wrapped_job *job, struct run_finish *finish,
	const struct err *e)
{
	struct machine machine;

	job->unanswered = true;
	log_line(LOG_LEVEL_ERROR, "the end of the run was not seen", "run_id", job->run_id, "err",
		e->text, NULL);
	finish->cpu_source = "proc";
	finish->memory_source = "samples";
	finish->server = this_server_of_run(app, &machine);
	historian_run_finish(app->historian, finish);
}

/* The work of the thread that reads the history for the summary and writes the report. */
struct summary_work {
	struct worker worker;
	struct app *app;
	const struct run_root *here;
	const struct wrapped_job *job;
	struct buf text;
};

static double summarize(void *context)
{
	struct summary_work *w = context;

	if (!w->app->options->quiet)
		summary_make(w->app, w->here, w->job->run_id, &w->text);
	if (w->app->options->run_report)
		write_report(w->app, w->job);
	return WORKER_END;
}

/* Prints the summary and writes the report. Another thread makes both, because the disk of the
 * history may have stopped responding. That thread has a time limit; printing the summary has
 * none. */
static void print_summary(struct app *app, const struct identity *self,
	const struct wrapped_job *job)
{
	/* Static, because a thread that hangs still uses it. */
	static struct summary_work w;

	w = (struct summary_work){
		.app = app, .here = &self->here, .job = job, .text = BUF_MAX(SUMMARY_MAX)};
	worker_init(&w.worker);
	w.worker.loose = historian_is_loose(app->historian);
	if (worker_start(&w.worker, "summary", summarize, &w, NULL))
		summarize(&w);
	if (!worker_join_while_active(&w.worker, historian_patience(app->historian))) {
		log_line(LOG_LEVEL_ERROR,
			"the run is in the history, but its summary is missing: the disk does not answer",
			"run_id", job->run_id, NULL);
		historian_give_up(app->historian);
		return;
	}
	worker_done(&w.worker);
	summary_print(&w.text);
}

static void tell_loss(struct app *app, const struct wrapped_job *job)
{
	struct err why = {0};

	historian_why(app->historian, &why);
	log_line(LOG_LEVEL_ERROR, "the end of the run is not in the history", "run_id", job->run_id,
		"err", why.text, NULL);
}

static void conclude(struct app *app, const struct identity *self, struct wrapped_job *job)
{
	double final[RUN_N_METRICS];
	struct err e = {0};
	struct now ended = now_read();
	bool exited = WIFEXITED(job->status);
	struct run_finish finish = {
		.run_id = job->run_id,
		.ended_at = wall_seconds(ended.wall),
		.duration_seconds = mono_seconds_between(job->started.mono, ended.mono),
		.outcome = exited && WEXITSTATUS(job->status) == 0 ? OUTCOME_SUCCEEDED :
								     OUTCOME_FAILED,
		.killed = job->killed,
		.exit_code = exited ? (double)WEXITSTATUS(job->status) : (double)NAN,
		.exit_signal = exited ? (double)NAN : (double)WTERMSIG(job->status),
		.cpu_source = "rusage",
		RUN_FINISH_UNKNOWN,
	};

	final_of(job, final);
	final[RUN_DURATION_SECONDS] = finish.duration_seconds;
	if (sampler_conclude(app->sampler, job->run_id, final, FINAL_AT_LEAST, &finish,
		    SAMPLER_PATIENCE_SECONDS, &e))
		finish_unseen(app, job, &finish, &e);
	if (historian_settle(app->historian, FLUSH_SECONDS))
		print_summary(app, self, job);
	else
		tell_loss(app, job);
}

static int run_command(struct app *app, const struct identity *self, const struct command_run *run,
	struct wrapped_job *job, char *const command[])
{
	int code = start(job, command);

	if (code)
		return code;
	/* Forbid core files of the wrapper only now. The job, which was forked before, must be able
	 * to have a core file. */
	privileges_hide_secrets(app->options);
	follow_job(app, self, run, job);
	wait_for_end(app, job);
	if (job->followed)
		conclude(app, self, job);
	return exit_code_of_job(job);
}

int wrapper_run(struct app *app, const struct identity *self, const struct command_run *run,
	char *const command[])
{
	/* The job is static, because the sampler's thread may still use it after a timeout. */
	static struct wrapped_job job;
	struct err e = {0};

	/* If run_accounts_open fails, the sampler may hang in a file. In that case, do not execute
	 * the command in place of this process: execve(2) would wait for the end of all other
	 * threads (de_thread() in fs/exec.c), and a thread that hangs does not end. A child has
	 * only one thread. */
	if (run_accounts_open(&job.accounts, app, &e))
		log_line(LOG_LEVEL_WARN, "the resources of the run are counted less exactly", "err",
			e.text, NULL);
	int code = run_command(app, self, run, &job, command);

	if (!job.unanswered)
		run_accounts_close(&job.accounts);
	return code;
}
