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
/* Maximum number of ancestors of a signal's sender that are checked, to find out whether the sender
 * belongs to the job. A sender deeper in the process tree counts as outside of the job. */
#define GENERATIONS_MAX 10000
/* Flags of an exiting or killed process (include/linux/sched.h). Their values cannot change,
 * because /proc/PID/stat shows them to programs. */
#define PF_EXITING  0x4
#define PF_SIGNALED 0x400

/* Fields of /proc/PID/stat, numbered as in proc(5). STAT_PENDING to STAT_CAUGHT are sets of
 * signals, as masks with the signals 1 to 31. */
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

/* Signals that a terminal or the end of a session sends to a whole process group. */
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

/* Returns true when the process `pid` belongs to the job. Returns false for a process that was
 * already reaped, such as a short /bin/kill, because its parent is unknown. */
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

/* Returns true when the sender of a signal still runs although the signal would have ended it. The
 * sender thus did not signal its own process group. This works only for SIGHUP, SIGINT and SIGTERM,
 * and only if the sender does not block, ignore or catch the signal.
 *
 * Returns false for a sender that is exiting. It may have caught the signal and removed its
 * handlers since, as Python does. */
static bool survived(const uint64_t field[STAT_FIELDS], int number)
{
	uint64_t prepared = field[STAT_BLOCKED] | field[STAT_IGNORED] | field[STAT_CAUGHT];
	bool dies = field[STAT_PENDING] >> (SIGKILL - 1) & 1 ||
		    field[STAT_FLAGS] & (PF_EXITING | PF_SIGNALED);

	return (number == SIGHUP || number == SIGINT || number == SIGTERM) && !dies &&
	       !(prepared >> (number - 1) & 1);
}

/* Call it when the wrapper received a signal from a process of the job. Returns true if that
 * process probably signalled its whole process group, which includes the wrapper, as kill(0, ...)
 * does. Returns false if it probably signalled only its parent, the wrapper. The kernel reports
 * both in the same way, so the result is a guess. The first rule that applies decides:
 * - The sender is in another group: false.
 * - The sender survived a signal that would have ended it: false.
 * - The signal ends or stops a process: true, because such signals usually go to groups.
 * - All other signals: false, because they usually go to a parent.
 *
 * The guess is wrong in three cases:
 * - The job calls kill(0, SIGUSR1): a caller in the same group gets the signal twice.
 * - A process calls kill(getppid(), SIGTERM), and SIGTERM would not have ended it, or it exits at
 *   once: the caller does not get the signal.
 * - The wrapper's process had a child before it became the wrapper by execve(2). If this child
 *   signals its parent, the signal is meant for the job. */
static bool is_for_group(const siginfo_t *info)
{
	uint64_t field[STAT_FIELDS];

	if (info->si_signo != SIGTERM && !is_of_groups(info->si_signo))
		return false;
	return !read_stat(info->si_pid, field) ||
	       ((pid_t)field[STAT_GROUP] == getpgrp() && !survived(field, info->si_signo));
}

/* Returns the PID of the wrapper's caller. 0 = the caller has ended, and another process, such as
 * init, is now the parent of the wrapper. */
static pid_t caller_of(const struct signal_route *r)
{
	pid_t parent = getppid();

	return parent == r->caller && parent > 1 ? parent : 0;
}

/* Returns true when the job has left the process group of the wrapper for a new one, by setpgid(0,
 * 0), and the wrapper leads its group. Without the wrapper, the job would have led this group, and
 * setpgid(0, 0) would have had no effect.
 *
 * Returns false if the wrapper does not lead its group, for example in a script. Without the
 * wrapper, setpgid(0, 0) would have made a new group, too. */
static bool leads_in_our_place(pid_t job)
{
	return getpgrp() == getpid() && job != getpgrp() && getpgid(job) == job;
}

/* Returns true when the wrapper's process group is orphaned. The kernel does not stop such a group,
 * because no parent in its session could continue it. */
static bool is_group_orphaned(void)
{
	pid_t parent = getppid();

	return getsid(parent) != getsid(0) || getpgid(parent) == getpgrp();
}

/* Like target_of, for a signal from a terminal. A terminal signals its whole foreground group, so
 * the job usually has the signal, and the result is 0. The job does not have it if it left the
 * wrapper's group. A hangup goes only to the session leader, together with a SIGCONT (tty_ioctl(2),
 * TIOCNOTTY). The job does not have it if the wrapper is that leader. */
static pid_t target_of_terminal(const struct signal_route *r, int number)
{
	if ((number == SIGHUP || number == SIGCONT) && getsid(0) == getpid())
		return r->job;
	if (!leads_in_our_place(r->job) || (number == SIGTSTP && is_group_orphaned()))
		return 0;
	return -r->job;
}

/* Like target_of, for a signal from a process of the job. Usually this process meant the caller of
 * the wrapper, because without the wrapper the caller would be the job's parent. There is no caller
 * if the wrapper is process 1 of a container, or if its parent is init. The process then meant the
 * job. */
static pid_t target_of_job(const struct signal_route *r, const siginfo_t *info)
{
	if (r->caller <= 1 && info->si_pid != r->job)
		return r->job;
	if (is_for_group(info))
		return 0;
	return r->caller == 0 ? r->job : caller_of(r);
}

/* Returns to which process a signal must be forwarded, as an argument of kill(2): a PID, or the
 * negative number of a process group. 0 = do not forward it. */
static pid_t target_of(const struct signal_route *r, const siginfo_t *info)
{
	int number = info->si_signo, code = info->si_code;

	if (code > 0 && is_of_groups(number))
		return target_of_terminal(r, number);
	/* SIGXCPU is about the wrapper's own CPU time. The job has its own limit. */
	if (code > 0 && number == SIGXCPU)
		return 0;
	/* si_pid, the sender of the signal, is valid for these codes only. */
	if ((code == SI_USER || code == SI_QUEUE || code == SI_TKILL) && is_of_job(r, info->si_pid))
		return target_of_job(r, info);
	if (number == SIGTSTP && leads_in_our_place(r->job) && is_group_orphaned())
		return 0;
	/* Send SIGCONT to the whole group of the job. A terminal stops a whole group, and a shell
	 * continues a whole group. */
	return number == SIGCONT && leads_in_our_place(r->job) ? -r->job : r->job;
}

/* Sends the signal to `to`. If it was queued with a value (sigqueue(3)), also sends the value when
 * the kernel permits that. */
static void hand_on(pid_t to, const siginfo_t *info)
{
	if (to > 0 && info->si_code < 0 &&
		syscall(SYS_rt_sigqueueinfo, to, info->si_signo, info) == 0)
		return;
	kill(to, info->si_signo);
}

void signal_route_send(struct signal_route *r, const siginfo_t *info)
{
	pid_t to = target_of(r, info);

	if (to)
		hand_on(to, info);
	if (info->si_signo == SIGTSTP || info->si_signo == SIGCONT)
		r->is_to_stop = info->si_signo == SIGTSTP;
	signal_route_stop(r);
}

/* Stops the wrapper only after the job has stopped: a job that ignores SIGTSTP goes on, and so does
 * the wrapper. */
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
		pid_t to = target_of(r, &info);

		/* Do not signal the job, because another process may have its PID now. */
		if (to && to != r->job && to != -r->job)
			hand_on(to, &info);
		else
			sigaddset(&others, info.si_signo);
	}
	for (int n = 1; n <= SIGRTMAX; n++)
		if (sigismember(&others, n) == 1)
			kill(getpid(), n);
}
