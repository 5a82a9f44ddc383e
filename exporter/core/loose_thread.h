/* A loose thread is a thread that the end of the program does not wait for.
 *
 * A thread that waits for a dead NFS or FUSE server cannot be killed, and the kernel reports the
 * end of a process only after the end of its last thread. Whoever waits for the process would wait
 * for the server, too. A loose thread is therefore a separate process for the kernel: clone(2)
 * without CLONE_THREAD. It shares memory and open files with the program, so that locks, condition
 * variables and POSIX record locks work as between threads. Use a loose thread only where a call
 * may never return, because it differs from a usual thread: exit(3) and _exit(2) end only the loose
 * thread, so it cannot end the program. getpid(2) and /proc/self show the loose thread. A limit
 * that prlimit(2) changes later changes only for the thread that calls it. The CPU time of a loose
 * thread is not in the CPU time of the program. */
#ifndef EXPORTER_CORE_LOOSE_THREAD_H
#define EXPORTER_CORE_LOOSE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"

/* With ThreadSanitizer all threads are usual ones, because it hangs in a process that shares its
 * memory. */
#ifdef __has_feature
#define LOOSE_THREADS (!__has_feature(thread_sanitizer))
#else
#define LOOSE_THREADS 1
#endif

/* Flags of clone(2) for a loose thread. The filter of system calls allows exactly these. */
#define LOOSE_THREAD_FLAGS (CLONE_VM | CLONE_FILES | CLONE_FS)

struct loose_thread {
	pthread_t thread;
	void *(*function)(void *context);
	void *context;
	char name[16];
	bool loose;
	pid_t program;
	sigset_t signals;        /* the signals that the caller of loose_thread_start blocks */
	_Atomic clockid_t clock; /* CPU clock of the thread; 0 = the thread has not begun */
};

/* Starts a loose thread. `name` has at most 15 bytes. `*t` must stay valid until
 * loose_thread_join. If `loose` is false, or if the kernel does not allow it, starts a usual
 * thread. */
int loose_thread_start(struct loose_thread *t, bool loose, const char *name,
	void *(*function)(void *context), void *context, struct err *e);

/* Returns the CPU time of the thread in nanoseconds. 0 = unknown. Any thread. */
int64_t loose_thread_cpu_ns(const struct loose_thread *t);

/* Waits for the end of the thread. */
void loose_thread_join(struct loose_thread *t);

/* Ends the program by _exit(2) while loose threads still run. Closes pipes, sockets and terminals
 * first: a loose thread that hangs holds them open, and whoever reads from them would wait for
 * their end. Does not close files, because closing a file may hang. Call it on a thread that is not
 * loose. */
_Noreturn void loose_threads_leave(int exit_code);

#endif
