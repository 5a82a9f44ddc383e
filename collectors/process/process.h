/*
 * One process as the kernel shows it: /proc/PID/{stat,status,io,smaps_rollup,fd}. The parsers are functions
 * from bytes to a struct; fields are those of proc(5) (https://man7.org/linux/man-pages/man5/proc.5.html).
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
	 * Another thread, when the first has ended and the process goes on without it: its own files show a zombie without
	 * memory, links and descriptors, those of this number show what the process has. 0 = not needed. Left by the parser.
	 */
	pid_t thread;
	uint64_t minor_faults, waited_minor_faults, major_faults, waited_major_faults;
	/* USER_HZ ticks; waited: of children that were waited for, and theirs. */
	uint64_t user_ticks, system_ticks, waited_user_ticks, waited_system_ticks;
	uint64_t threads, start_ticks, rss_pages;
	/*
	 * Address of the stack's start, 0 when it may not be read: a forked child has its parent's until it
	 * executes something, when it is given one of its own.
	 */
	uint64_t stack_start;
	/* SIGCHLD: the kernel then reaps its children, and adds their times to nobody's. False when it is not told. */
	bool ignores_children;
};

/* The name in parentheses may hold anything, parentheses and newlines too: the last ")" ends it. */
bool process_stat_parse(struct scan text, struct process_stat *ret);

/* What memory is made of: the first three make RSS, the last is beside it. */
enum memory_kind { MEMORY_ANONYMOUS, MEMORY_FILE, MEMORY_SHMEM, MEMORY_HUGETLB, MEMORY_KINDS };

struct process_status { /* bytes; a kernel thread or zombie has no memory fields: 0 */
	uint64_t peak_bytes, swap_bytes; /* VmHWM, VmSwap */
	uint64_t kind_bytes[MEMORY_KINDS];
	bool kinds_known; /* Linux 4.5 */
	uint64_t voluntary_switches, involuntary_switches;
};

/* Lines that are missing leave 0. False when the text is no status file at all. */
bool process_status_parse(struct scan text, struct process_status *ret);

struct process_io {
	uint64_t read_chars, written_chars, read_bytes, written_bytes;
};

bool process_io_parse(struct scan text, struct process_io *ret);

struct process_pss { /* of one moment: the RSS of the stat file may be of another */
	uint64_t rss_bytes, pss_bytes;
	uint64_t huge_bytes;  /* of RSS, in transparent huge pages of any kind */
	uint64_t shmem_bytes; /* of PSS, shared memory and tmpfs; Linux 5.4 */
	bool shmem_known;
};

bool process_pss_parse(struct scan text, struct process_pss *ret); /* of smaps_rollup */

/* Path below host->proc of a file of a process; returns out. */
#define PROCESS_PATH_MAX 64
const char *process_path(char out[PROCESS_PATH_MAX], pid_t pid, const char *file);

/*
 * Reading: 0, or a negative errno: -ENOENT and -ESRCH when the process is gone, -EACCES and -EPERM when it
 * belongs to somebody else, -ETIMEDOUT when it does not answer, -EBADMSG when the text makes no sense. All go through
 * host->scratch. A kept descriptor of the file spares opening it; NULL, or one with nothing kept, is opened anew.
 */
bool process_gone(int code);
bool process_refused(int code);
/* It may answer later: collectors/base/tree_guard.h. */
bool process_unanswered(int code);
/* Of a process that goes on when its first thread has ended, state, RSS and stack are those of another thread. */
int process_read_stat(const struct host *h, pid_t pid, struct process_stat *ret);
int process_read_stat_kept(const struct host *h, pid_t pid, struct kept *k,
	struct process_stat *ret);
int process_read_status(const struct host *h, pid_t pid, struct process_status *ret);
int process_read_io(const struct host *h, pid_t pid, struct kept *k, struct process_io *ret);
int process_read_pss(const struct host *h, pid_t pid, struct process_pss *ret);
int process_read_open_fds(const struct host *h, pid_t pid, uint64_t *ret);

/* Is it in the same namespace as we are: "mnt", "user"? False when that cannot be told. */
bool process_shares(const struct host *h, pid_t pid, const char *namespace);

/* ret: the rest of the line of its status file that begins with start ("Uid:"); false when there is none. */
bool process_status_line(const struct host *h, pid_t pid, const char *start, struct scan *ret);

/*
 * Whose thread has this number: that of a process is its own. Threads have numbers of the same row, and files below /proc, but
 * are not listed there. 0 when it cannot be told.
 */
pid_t process_of(const struct host *h, pid_t pid);

/*
 * CPU time of a live process or zombie, all its threads included, in nanoseconds, without reading a file:
 * clock_gettime(2) on the process's CPU clock. 0 when it cannot be told (the process is gone, or
 * host->own_pid_namespace is false).
 */
uint64_t process_cpu_clock(const struct host *h, pid_t pid);

/* CPU time of the calling thread in nanoseconds. */
uint64_t process_thread_clock(void);

/*
 * Calls each with the pids of the children that any thread of pid made. each must not read through host: the
 * text is still in its scratch. k: of the first thread's file, used when it is the only one. -ENOENT: gone, or a kernel without CONFIG_PROC_CHILDREN.
 */
int process_children(const struct host *h, pid_t pid, uint64_t threads, struct kept *k,
	void (*each)(void *context, pid_t child), void *context);

/* Keeps a file of a process open. */
struct kept process_keep(const struct host *h, pid_t pid, const char *file);
struct kept process_keep_children(const struct host *h, pid_t pid);

/* The process whose folder in /proc has this name; 0: it is none. */
pid_t process_of_name(const char *name);

/* Calls each with every pid in /proc. */
int process_list(const struct host *h, void (*each)(void *context, pid_t pid), void *context);

/*
 * Calls each with the number and the target of every descriptor, until it returns non-zero, which
 * is then returned. *left is how many links may be read; it goes down, and -EAGAIN says that it did
 * not suffice. Other codes as tree_list: -EACCES for somebody else's process. Does not use
 * host->scratch.
 */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context);

#endif
