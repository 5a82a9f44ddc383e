#include "exporter/wrapper/job_signals.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"

/* Signals that are neither blocked nor forwarded, because they concern the wrapper itself or cannot
 * be caught.
 *
 * SIGABRT, SIGTRAP and SIGSYS are blocked and forwarded: a supervisor may send them to get a core
 * dump of the job. They still end the wrapper when it calls abort(3), or when the kernel forces the
 * signal. */
static const int not_forwarded[] = {
	SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};

static sigset_t original_mask;
static sigset_t early; /* signals taken before the job began */
static bool is_early;  /* `early` is not empty */

/* Timers of alarm(2) and setitimer(2). They stay after execve(2), but a child of fork(2) does not
 * get them. */
static struct {
	struct itimerval real, user, cpu;
	bool are_stopped;
} timers;

/* Signal dispositions that the wrapper sets for itself:
 * - SIGCHLD: the default. If it were ignored, the kernel would reap children, and wait(2) would not
 *   report their ends.
 * - SIGPIPE and SIGXFSZ: ignored, so that a write fails but does not end the wrapper. SIGPIPE comes
 *   when the reader of the summary is gone, and SIGXFSZ when the history or the log reaches a size
 *   limit. */
static struct disposition {
	int number;
	void (*ours)(int);
	struct sigaction original;
} dispositions[] = {
	{.number = SIGCHLD, .ours = SIG_DFL},
	{.number = SIGPIPE, .ours = SIG_IGN},
	{.number = SIGXFSZ, .ours = SIG_IGN},
};

void job_signals_fill(sigset_t *ret)
{
	sigfillset(ret);
	for (size_t i = 0; i < ARRAY_LEN(not_forwarded); i++)
		sigdelset(ret, not_forwarded[i]);
}

void job_signals_block(void)
{
	sigset_t set;

	job_signals_fill(&set);
	pthread_sigmask(SIG_BLOCK, &set, &original_mask);
	for (size_t i = 0; i < ARRAY_LEN(dispositions); i++) {
		struct disposition *d = &dispositions[i];

		sigaction(d->number, &(struct sigaction){.sa_handler = d->ours}, &d->original);
	}
}

static void let_stop(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
}

static void stop_timers(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){0}, &timers.real);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, &timers.user);
	setitimer(ITIMER_PROF, &(struct itimerval){0}, &timers.cpu);
	timers.are_stopped = true;
}

static void go_on_with_timers(void)
{
	if (!timers.are_stopped)
		return;
	setitimer(ITIMER_REAL, &timers.real, NULL);
	setitimer(ITIMER_VIRTUAL, &timers.user, NULL);
	setitimer(ITIMER_PROF, &timers.cpu, NULL);
}

void job_signals_take_early(void)
{
	/* Do not take these signals, because the wrapper handles them itself. SIGCHLD may be
	 * pending already, because the wrapper's caller may have started children. */
	static const int ours[] = {SIGCHLD, SIGTSTP, SIGCONT};
	sigset_t set;
	int n;

	let_stop();
	/* Stop the timers before the loop takes the signals. The signal of a timer that has expired
	 * is then already pending, so the loop takes it, too. */
	stop_timers();
	job_signals_fill(&set);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		sigdelset(&set, ours[i]);
	sigemptyset(&early);
	while ((n = sigtimedwait(&set, NULL, &(struct timespec){0})) > 0) {
		sigaddset(&early, n);
		is_early = true;
	}
}

void job_signals_restore(void)
{
	for (size_t i = 0; i < ARRAY_LEN(dispositions); i++)
		sigaction(dispositions[i].number, &dispositions[i].original, NULL);
	/* A signal may end this process before execve(2). Prevent a core file, which would contain
	 * the wrapper's secrets. After execve(2), core files of the command are possible again. */
	if (is_early)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	for (int n = 1; is_early && n <= SIGRTMAX; n++)
		if (sigismember(&early, n) == 1)
			kill(getpid(), n);
	go_on_with_timers();
	pthread_sigmask(SIG_SETMASK, &original_mask, NULL);
}

void job_signals_stop(void)
{
	raise(SIGTSTP);
	let_stop();
}
