/* Signals on their way to the job. */
#include "exporter/wrapper/job_signals.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"

/*
 * Signals that are about the program itself or cannot be caught. What the kernel forces on a program ends it, blocked or not,
 * and so does abort(3): so those are not among them by which a supervisor asks for a core.
 */
static const int not_forwarded[] = {
	SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};

static sigset_t original_mask;
static sigset_t early; /* came before there was a job to have them */
static bool is_early;  /* there are some */

/* What alarm(2) and setitimer(2) left running outlives execve(2), but no fork(2). */
static struct {
	struct itimerval real, user, cpu;
	bool are_stopped;
} timers;

/*
 * What we may not have inherited as ignored: the kernel then reaps children itself, and their ends are never told
 * (wait(2)). And what must not end us: the job's reader may be gone when we write its summary, and the history or the log
 * may be as large as a limit allows, which a write says as well.
 */
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
	/* Of children, of which there may be some already, we are told ourselves. */
	static const int ours[] = {SIGCHLD, SIGTSTP, SIGCONT};
	sigset_t set;
	int n;

	let_stop();
	/* First: what one tells before is among those that come early. */
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
	/* Until execve(2), which allows it again, a core would be ours, with what we read from secret files. */
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
