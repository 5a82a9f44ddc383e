/* A loose thread is a thread that the end of the program does not wait for.
 *
 * A thread that waits for a dead NFS or FUSE server cannot be killed. A process ends only when its
 * last thread has ended. Such a thread would therefore keep this program alive, and a shell that
 * waits for the program would hang. A loose thread is a separate process for the kernel: clone(2)
 * without CLONE_THREAD. It shares memory and open files with the program, so that locks, condition
 * variables and POSIX record locks work as between threads.
 *
 * Use a loose thread only for a call that may never return. It differs from a usual thread:
 * - exit(3) and _exit(2) end only the loose thread, so it cannot end the program.
 * - getpid(2) and /proc/self give the PID and the files of the loose thread, not of the program.
 * - prlimit(2) changes a limit only for the thread that calls it.
 * - Its CPU time is not part of the CPU time of the program. */
#ifndef EXPORTER_CORE_LOOSE_THREAD_H
#define EXPORTER_CORE_LOOSE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectors/base/err.h"

/* With ThreadSanitizer, loose_thread_start starts usual threads, because ThreadSanitizer hangs in a
 * process that shares its memory with another. */
#ifdef __has_feature
#define LOOSE_THREADS (!__has_feature(thread_sanitizer))
#else
#define LOOSE_THREADS 1
#endif

/* Flags of clone(2) for a loose thread. The filter of system calls (exporter/lifecycle/seccomp.c)
 * allows exactly these flags. */
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

/* Starts a loose thread. `name` has at most 15 bytes. `*t` must stay valid until loose_thread_join.
 * If `loose` is false, or if the kernel does not allow a loose thread, starts a usual thread. */
int loose_thread_start(struct loose_thread *t, bool loose, const char *name,
	void *(*function)(void *context), void *context, struct err *e);

/* Returns the CPU time of the thread in nanoseconds. 0 = unknown. Any thread. */
int64_t loose_thread_cpu_ns(const struct loose_thread *t);

/* Waits for the end of the thread. */
void loose_thread_join(struct loose_thread *t);

/* Ends the program by _exit(2) while loose threads still run. Closes pipes, sockets and terminals
 * first. A loose thread that hangs would keep them open, and programs that read from them would
 * wait for the end of the data. Does not close files, because closing a file may hang. Call it on a
 * usual thread. */
_Noreturn void loose_threads_leave(int exit_code);

#endif
