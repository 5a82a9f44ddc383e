#include "exporter/core/loose_thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"

/* The host of a loose thread is a usual thread that starts it and waits for its end. Both use the
 * host's stack: the stack of the loose thread begins this many bytes below the host's frame. */
#define HOST_BYTES 16384

/* Returns false if loose threads do not work: in glibc before 2.25, clone(2) overwrites the thread
 * id that pthread_join needs. */
static bool is_possible(void)
{
#ifdef _CS_GNU_LIBC_VERSION
	char version[64];

	if (confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) &&
		strverscmp(version, "glibc 2.25") < 0)
		return false;
#endif
	return LOOSE_THREADS;
}

/* The first function that the loose thread runs. The loose thread has no thread-local storage of
 * its own and uses that of its host; see host(). */
static int begin(void *context)
{
	struct loose_thread *t = context;
	clockid_t clock;

	/* Let the kernel kill this thread when its parent process, the program, ends. If the parent
	 * is another process, the program has already ended: end at once. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((pid_t)syscall(SYS_getppid) != t->program)
		return 0;
	prctl(PR_SET_NAME, t->name);
	pthread_sigmask(SIG_SETMASK, &t->signals, NULL);
	if (clock_getcpuclockid((pid_t)syscall(SYS_getpid), &clock) == 0)
		atomic_store(&t->clock, clock);
	t->function(t->context);
	return 0;
}

/* The function of the host: starts the loose thread and waits for its end. If no loose thread can
 * be started, the host itself calls t->function. While the loose thread runs, it uses the host's
 * thread-local storage, such as errno. The host must not touch this storage meanwhile. It therefore
 * blocks all signals and makes only one system call, which succeeds and so sets no errno. */
static void *host(void *context)
{
	struct loose_thread *t = context;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	t->program = getpid();
	pid_t pid = t->loose && is_possible() ?
			    clone(begin, (void *)((frame - HOST_BYTES) & ~(uintptr_t)63),
				    LOOSE_THREAD_FLAGS, t) :
			    -1;

	if (pid > 0) {
		while (syscall(SYS_wait4, pid, NULL, __WCLONE, NULL) == -1 && errno == EINTR)
			;
		return NULL;
	}
	clockid_t clock;

	pthread_sigmask(SIG_SETMASK, &t->signals, NULL);
	if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
		atomic_store(&t->clock, clock);
	return t->function(t->context);
}

int loose_thread_start(struct loose_thread *t, bool loose, const char *name,
	void *(*function)(void *context), void *context, struct err *e)
{
	*t = (struct loose_thread){.function = function, .context = context, .loose = loose};
	slice_copy((struct slice){name, strlen(name)}, t->name, sizeof t->name);
	pthread_sigmask(SIG_SETMASK, NULL, &t->signals);
	return thread_start(&t->thread, name, host, t, e);
}

int64_t loose_thread_cpu_ns(const struct loose_thread *t)
{
	clockid_t clock = atomic_load(&t->clock);

	return clock ? clock_read_ns(clock) : 0;
}

void loose_thread_join(struct loose_thread *t)
{
	pthread_join(t->thread, NULL);
}

/* Returns true for a pipe, a socket or a terminal. These have no file position, so lseek(2) fails
 * with ESPIPE. lseek(2) does not use the file system and cannot hang. */
static bool has_reader(int fd)
{
	return lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
}

_Noreturn void loose_threads_leave(int exit_code)
{
	DIR *d = opendir("/proc/self/fd");
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	fflush(stdout);
	/* Replace each descriptor by `nothing` instead of closing it. If descriptor 2 were closed,
	 * a file that another thread opens could get the number 2. Texts for stderr would then go
	 * into this file. */
	for (struct dirent *f; d && nothing >= 0 && (f = readdir(d));) {
		struct scan s = SCAN(f->d_name, strlen(f->d_name));
		uint64_t fd;

		if (scan_u64(&s, &fd) && has_reader((int)fd))
			dup2(nothing, (int)fd);
	}
	_exit(exit_code);
}
