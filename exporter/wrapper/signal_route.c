/* Handing on signals. */
#include "exporter/wrapper/signal_route.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/number.h"
#include "exporter/wrapper/job_signals.h"

#define STAT_MAX 4096
/* A job of more generations than that is not looked through: who sends from so deep is a stranger. */
#define GENERATIONS_MAX 10000
/* Flags of a process that ends, or that a signal ends: include/linux/sched.h; part of /proc/PID/stat, so they stay. */
#define PF_EXITING  0x4
#define PF_SIGNALED 0x400

/* Fields of /proc/PID/stat, by their numbers in proc(5). The masks have the first 31 signals. */
enum route_stat_field {
	STAT_PARENT = STAT_FIELD_FIRST,
	STAT_GROUP,
	STAT_FLAGS = 9,
	STAT_PENDING = 31,
	STAT_BLOCKED,
	STAT_IGNORED,
	STAT_CAUGHT,
	STAT_FIELDS
};

/* What a terminal, or the end of a session, tells a whole group. */
static const int of_groups[] = {SIGHUP, SIGCONT, SIGINT, SIGQUIT, SIGTSTP, SIGWINCH};

static bool is_of_groups(int number)
{
	for (size_t i = 0; i < ARRAY_LEN(of_groups); i++)
		if (of_groups[i] == number)
			return true;
	return false;
}

static bool read_stat(pid_t pid, uint64_t ret[STAT_FIELDS])
{
	char path[64], text[STAT_MAX];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

	return n > 0 && numbers_of_stat(SCAN(text, n), ret, STAT_FIELDS);
}

/* Of a sender that was waited for already, as /bin/kill soon is, this cannot be told: a stranger, too. */
static bool is_of_job(const struct signal_route *r, pid_t pid)
{
	uint64_t field[STAT_FIELDS];

	for (int up = 0; pid > 1 && up < GENERATIONS_MAX; up++) {
		if (pid == r->job)
			return true;
		if (!read_stat(pid, field))
			return false;
		if ((pid_t)field[STAT_PARENT] == getpid())
			return !inherited_child(r->inherited, pid);
		pid = (pid_t)field[STAT_PARENT];
	}
	return false;
}

/*
 * A signal that ends whoever did not prepare for it, at once and without a core. Whoever ends by himself may have undone what he
 * prepared, as Python does.
 */
static bool survived(const uint64_t field[STAT_FIELDS], int number)
{
	uint64_t prepared = field[STAT_BLOCKED] | field[STAT_IGNORED] | field[STAT_CAUGHT];
	bool dies = field[STAT_PENDING] >> (SIGKILL - 1) & 1 ||
		    field[STAT_FLAGS] & (PF_EXITING | PF_SIGNALED);

	return (number == SIGHUP || number == SIGINT || number == SIGTERM) && !dies &&
	       !(prepared >> (number - 1) & 1);
}

/*
 * Somebody of the job sent it: to us, whom he takes for the caller, or by kill(0, ...) to the group that we share, in which
 * case all had it whom it was for. The kernel tells us the same of both. It was for us where he is in another group, or goes
 * on as a signal to his group would not have let him. Else we go by the signal: by these groups are ended and stopped, by
 * others a parent is told something. So what cannot be told: kill(0, SIGUSR1), which reaches a caller in the group twice,
 * kill(getppid(), SIGTERM) of a job that catches or ignores SIGTERM itself, or ends right after it, which does not reach him,
 * and a signal to our number, kept by who became us, by which a child means the job.
 */
static bool is_for_group(const siginfo_t *info)
{
	uint64_t field[STAT_FIELDS];

	if (info->si_signo != SIGTERM && !is_of_groups(info->si_signo))
		return false;
	return !read_stat(info->si_pid, field) ||
	       ((pid_t)field[STAT_GROUP] == getpgrp() && !survived(field, info->si_signo));
}

/* As whoever took our caller's place knows nothing of the job. */
static pid_t caller_of(const struct signal_route *r)
{
	pid_t parent = getppid();

	return parent == r->caller && parent > 1 ? parent : 0;
}

/*
 * A job that made itself the leader of a group: in our place it would have been that of ours, as which setpgid(2) leaves it
 * where it is. Where we are none, as in a script, it would have left the terminal's group as well.
 */
static bool leads_in_our_place(pid_t job)
{
	return getpgrp() == getpid() && job != getpgrp() && getpgid(job) == job;
}

/* Nobody does, of a group that has no parent outside of it in its session: the kernel does not stop it. */
static bool somebody_would_wake_us(void)
{
	pid_t parent = getppid();

	return getsid(parent) == getsid(0) && getpgid(parent) != getpgrp();
}

/*
 * A terminal tells all of its foreground group; but that it was hung up, it tells the leader of the session alone
 * (tty_ioctl(2), TIOCNOTTY), with a SIGCONT.
 */
static pid_t whose_of_terminal(const struct signal_route *r, int number)
{
	if ((number == SIGHUP || number == SIGCONT) && getsid(0) == getpid())
		return r->job;
	if (!leads_in_our_place(r->job) || (number == SIGTSTP && !somebody_would_wake_us()))
		return 0;
	return -r->job;
}

/*
 * Who has no parent, as process 1 of a container, or init, to whom nothing is sent that it did not ask for, is not told anything as
 * a parent: by our number others of the job mean the job, in whose place we are.
 */
static pid_t whose_of_job(const struct signal_route *r, const siginfo_t *info)
{
	if (r->caller <= 1 && info->si_pid != r->job)
		return r->job;
	if (is_for_group(info))
		return 0;
	return r->caller == 0 ? r->job : caller_of(r);
}

/* As kill(2) takes it; 0: nobody's. */
static pid_t whose(const struct signal_route *r, const siginfo_t *info)
{
	int number = info->si_signo, code = info->si_code;

	if (code > 0 && is_of_groups(number))
		return whose_of_terminal(r, number);
	/* Of what we used: the job has the same limit for what it uses. */
	if (code > 0 && number == SIGXCPU)
		return 0;
	/* Others say something else where the sender's number would stand. */
	if ((code == SI_USER || code == SI_QUEUE || code == SI_TKILL) && is_of_job(r, info->si_pid))
		return whose_of_job(r, info);
	if (number == SIGTSTP && leads_in_our_place(r->job) && !somebody_would_wake_us())
		return 0;
	/* A shell lets a whole group go on, and so what the terminal stopped. */
	return number == SIGCONT && leads_in_our_place(r->job) ? -r->job : r->job;
}

/* With what it carries, where it does and the kernel lets us. */
static void hand_on(pid_t to, const siginfo_t *info)
{
	if (to > 0 && info->si_code < 0 &&
		syscall(SYS_rt_sigqueueinfo, to, info->si_signo, info) == 0)
		return;
	kill(to, info->si_signo);
}

void signal_route_send(struct signal_route *r, const siginfo_t *info)
{
	pid_t to = whose(r, info);

	if (to)
		hand_on(to, info);
	if (info->si_signo == SIGTSTP || info->si_signo == SIGCONT)
		r->is_to_stop = info->si_signo == SIGTSTP;
	signal_route_stop(r);
}

/* A job that does something else instead keeps the terminal, and us with it. */
void signal_route_stop(struct signal_route *r)
{
	siginfo_t info = {0};

	if (!r->is_to_stop || waitid(P_PID, (id_t)r->job, &info, WSTOPPED | WNOHANG) < 0 ||
		info.si_pid != r->job)
		return;
	r->is_to_stop = false;
	job_signals_stop();
}

void signal_route_end(const struct signal_route *r)
{
	siginfo_t info;
	sigset_t set, others;

	job_signals_fill(&set);
	sigdelset(&set, SIGCHLD);
	sigemptyset(&others);
	while (sigtimedwait(&set, &info, &(struct timespec){0}) > 0) {
		pid_t to = whose(r, &info);

		/* Nothing to the job, whose number may be another's. */
		if (to && to != r->job && to != -r->job)
			hand_on(to, &info);
		else
			sigaddset(&others, info.si_signo);
	}
	for (int n = 1; n <= SIGRTMAX; n++)
		if (sigismember(&others, n) == 1)
			kill(getpid(), n);
}
