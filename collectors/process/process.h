/*
 * One process as the kernel shows it in /proc/PID/{stat,status,io,smaps_rollup,fd}. Each parser
 * turns bytes into a struct. Fields are those of proc(5)
 * (https://man7.org/linux/man-pages/man5/proc.5.html).
 */
#ifndef COLLECTORS_PROCESS_PROCESS_H
#define COLLECTORS_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/scan.h"
#include "collectors/host.h"

struct process_stat {
	pid_t pid, ppid;
	char state; /* R S D Z T t X I ... */
	/*
	 * When the first thread has ended and others run on, one of those others; else 0. The
	 * process's own files then show a zombie without memory, links and descriptors; the files
	 * of this thread show them. The parser leaves it 0.
	 */
	pid_t thread;
	uint64_t minor_faults, waited_minor_faults, major_faults, waited_major_faults;
	/* USER_HZ ticks; waited: of children waited for, and of their children. */
	uint64_t user_ticks, system_ticks, waited_user_ticks, waited_system_ticks;
	uint64_t threads, start_ticks, rss_pages;
	/*
	 * Address of the stack's start; 0 when we may not read it. A forked child has the address
	 * of its parent until it executes a program, which gets a new stack.
	 */
	uint64_t stack_start;
	bool kernel_thread;
	/*
	 * The process ignores SIGCHLD: the kernel reaps its children and adds their times to no
	 * process. Also false when the stat file lacks the field.
	 */
	bool ignores_children;
};

/* The name may contain any byte, parentheses and newlines too: the last ")" ends it. */
bool process_stat_parse(struct scan text, struct process_stat *ret);

/* The kinds of memory. RSS is the sum of the first three; hugetlb pages are not part of RSS. */
enum memory_kind { MEMORY_ANONYMOUS, MEMORY_FILE, MEMORY_SHMEM, MEMORY_HUGETLB, MEMORY_KINDS };

struct process_status { /* bytes; 0 for a kernel thread or zombie, which has no memory fields */
	uint64_t peak_bytes, swap_bytes; /* VmHWM, VmSwap */
	uint64_t kind_bytes[MEMORY_KINDS];
	bool kinds_known; /* Linux 4.5 and later */
	uint64_t voluntary_switches, involuntary_switches;
};

/* A missing line leaves 0. False when the text is not a status file. */
bool process_status_parse(struct scan text, struct process_status *ret);

struct process_io {
	uint64_t read_chars, written_chars, read_bytes, written_bytes;
};

bool process_io_parse(struct scan text, struct process_io *ret);

struct process_pss { /* from one reading; the RSS of the stat file may be from another moment */
	uint64_t rss_bytes, pss_bytes;
	uint64_t huge_bytes;  /* of RSS, in transparent huge pages of any kind */
	uint64_t shmem_bytes; /* of PSS, shared memory and tmpfs; Linux 5.4 */
	bool shmem_known;
};

bool process_pss_parse(struct scan text, struct process_pss *ret); /* of smaps_rollup */

/* The path of a process's file below host->proc; returns out. */
#define PROCESS_PATH_MAX 64
const char *process_path(char out[PROCESS_PATH_MAX], pid_t pid, const char *file);

/*
 * The readers return 0 or a negative errno. -ENOENT, -ESRCH: the process is gone. -EACCES, -EPERM:
 * it belongs to another user. -ETIMEDOUT: no answer in time. -EBADMSG: the text cannot be parsed.
 * All use host->scratch. A kept descriptor saves opening the file; with NULL or an empty one the
 * file is opened.
 */
bool process_gone(int code);
bool process_refused(int code);
/* True for -ETIMEDOUT: the file may answer later (collectors/base/tree_guard.h). */
bool process_unanswered(int code);
/* State, RSS and stack are those of another thread if the first one has ended. */
int process_read_stat(const struct host *h, pid_t pid, struct process_stat *ret);
int process_read_stat_kept(const struct host *h, pid_t pid, struct kept *k,
	struct process_stat *ret);
int process_read_status(const struct host *h, pid_t pid, struct process_status *ret);
int process_read_io(const struct host *h, pid_t pid, struct kept *k, struct process_io *ret);
int process_read_pss(const struct host *h, pid_t pid, struct process_pss *ret);
int process_read_open_fds(const struct host *h, pid_t pid, uint64_t *ret);

/* Is the process in our namespace ("mnt", "user")? False when that is unreadable. */
bool process_shares(const struct host *h, pid_t pid, const char *namespace);

/* ret: the rest of the line of status that begins with start ("Uid:"); false = none. */
bool process_status_line(const struct host *h, pid_t pid, const char *start, struct scan *ret);

/*
 * The process that the thread with this number belongs to; a process number gives itself. Threads
 * and processes share one number range; threads have files below /proc but are not listed there. 0
 * = unknown.
 */
pid_t process_of(const struct host *h, pid_t pid);

/*
 * CPU time of a live process or zombie with all its threads, in nanoseconds, by clock_gettime(2) on
 * the process's CPU clock: no file is read. 0 = unknown: the process is gone, or
 * host->own_pid_namespace is false.
 */
uint64_t process_cpu_clock(const struct host *h, pid_t pid);

/*
 * The pid in host->proc of a process that our own PID namespace knows as pid; 0 = none, or not
 * certain. The same number unless proc shows another PID namespace.
 */
pid_t process_number(const struct host *h, pid_t pid);

/* Does a process with this pid exist, even one that hidepid (proc(5)) hides? False = unknown too. */
bool process_exists(const struct host *h, pid_t pid);

/* CPU time of the calling thread in nanoseconds. */
uint64_t process_thread_clock(void);

/*
 * Calls each with the pids of the children of all threads of pid. each must not read through host,
 * because the text is still in host->scratch. k, the children file of the first thread, is used
 * when there is only one thread. -ENOENT: the process is gone, or the kernel lacks
 * CONFIG_PROC_CHILDREN.
 */
int process_children(const struct host *h, pid_t pid, uint64_t threads, struct kept *k,
	void (*each)(void *context, pid_t child), void *context);

/* Keeps a file of a process open. */
struct kept process_keep(const struct host *h, pid_t pid, const char *file);
struct kept process_keep_children(const struct host *h, pid_t pid);

/* The process number that a file name in /proc stands for; 0 = not a process. */
pid_t process_of_name(const char *name);

/* Calls each with every pid in /proc. */
int process_list(const struct host *h, void (*each)(void *context, pid_t pid), void *context);

/*
 * Calls each with the number and target of every descriptor until it returns non-zero, and returns
 * that value. *left is the number of links that may still be read and counts down; -EAGAIN: it ran
 * out. Other codes as tree_list: -EACCES for a process of another user. Does not use host->scratch.
 */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context);

#endif
