/* Reads one process from /proc/PID/{stat,status,io,smaps_rollup,fd}. Each parser turns bytes into a
 * struct. proc(5) defines the fields (https://man7.org/linux/man-pages/man5/proc.5.html). */
#ifndef COLLECTORS_PROCESS_PROCESS_H
#define COLLECTORS_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/scan.h"
#include "collectors/host.h"

#define PROCESS_NAME_MAX 16 /* TASK_COMM_LEN of the kernel */

struct process_stat {
	pid_t pid, ppid;
	char name[PROCESS_NAME_MAX]; /* name of the first thread, cut by the kernel */
	char state;                  /* letter of proc(5): R, S, D, Z, ... */
	/* Usually 0. If the first thread has ended before the other threads, the process's own
	 * files show a zombie without memory, links and descriptors. `thread` is then a thread that
	 * still runs; its files show the real values. process_stat_parse always sets 0. */
	pid_t thread;
	uint64_t minor_faults, waited_minor_faults, major_faults, waited_major_faults;
	/* Times in USER_HZ ticks. `waited_*` are the times of children that this process waited
	 * for, including the times of their own children. */
	uint64_t user_ticks, system_ticks, waited_user_ticks, waited_system_ticks;
	uint64_t threads, start_ticks, rss_pages;
	/* Address of the beginning of the stack; 0 = we may not read it. It shows whether a process
	 * has executed a program since its fork: a forked child has the address of its parent, and
	 * exec gives it a new one. */
	uint64_t stack_start;
	uint64_t code_bytes; /* size of the program's code; 0 = we may not read it */
	bool kernel_thread;
	bool exiting; /* the process is exiting, or is a zombie */
	/* true = the process ignores SIGCHLD. The kernel then reaps its children and adds their
	 * times to no process. If the stat file lacks the field, the value is false. */
	bool ignores_children;
};

/* Parses a stat file. The program name in it may contain any byte, even parentheses and newlines.
 * The last ")" ends the name. */
bool process_stat_parse(struct scan text, struct process_stat *ret);

/* Kinds of memory. RSS is the sum of the first three. Hugetlb pages are not part of RSS. */
enum memory_kind { MEMORY_ANONYMOUS, MEMORY_FILE, MEMORY_SHMEM, MEMORY_HUGETLB, MEMORY_KINDS };

struct process_status { /* memory is 0 for a kernel thread or zombie, which has no memory fields */
	uint64_t peak_bytes, swap_bytes; /* VmHWM, VmSwap */
	uint64_t kind_bytes[MEMORY_KINDS];
	bool kinds_known; /* false before Linux 4.5 */
	uint64_t voluntary_switches, involuntary_switches;
};

/* Parses a status file. A missing line leaves 0. Returns false for a text of another kind. */
bool process_status_parse(struct scan text, struct process_status *ret);

struct process_io {
	uint64_t read_chars, written_chars, read_bytes, written_bytes;
	/* Part of written_bytes that never went to disk, because the file was deleted before. */
	uint64_t cancelled_bytes;
};

bool process_io_parse(struct scan text, struct process_io *ret);

/* All values are from one reading of smaps_rollup. The RSS of the stat file may be from another
 * moment. */
struct process_pss {
	uint64_t rss_bytes, pss_bytes;
	uint64_t huge_bytes; /* part of RSS in transparent huge pages of any kind */
	/* Part of pss_bytes that is shared memory or tmpfs. Linux before 5.4 does not report it. */
	uint64_t shmem_bytes;
	bool shmem_known;
};

bool process_pss_parse(struct scan text, struct process_pss *ret);

/* Writes the path of a process's file, relative to host->proc, to `out`. Returns `out`. */
#define PROCESS_PATH_MAX 64
const char *process_path(char out[PROCESS_PATH_MAX], pid_t pid, const char *file);

/* The functions process_read_* return 0 or a negative errno, and use host->scratch:
 * -ENOENT, -ESRCH: the process is gone (process_gone).
 * -EACCES, -EPERM: the process belongs to another user (process_refused).
 * -ETIMEDOUT: the file did not answer in time (process_unanswered).
 * -EBADMSG: the text cannot be parsed.
 *
 * `k` is an open descriptor of the file. If `k` is NULL or holds no descriptor, the function opens
 * the file itself. */
bool process_gone(int code);
bool process_refused(int code);
/* Returns true for -ETIMEDOUT: the file may answer later (collectors/base/tree_guard.h). */
bool process_unanswered(int code);
/* Reads the stat file. If the first thread has ended before the others, ret->thread is another
 * thread. The state, the RSS and the stack in `ret` are then those of ret->thread. */
int process_read_stat(const struct host *h, pid_t pid, struct process_stat *ret);
/* Sets `*ret` to the wait status of a zombie (exit_code, field 52 of its stat file), as in wait(2).
 * Returns false if there is no such zombie, or if the field is 0. A reader without permission
 * always gets 0. */
bool process_zombie_status(const struct host *h, pid_t pid, uint64_t start_ticks, int *ret);
int process_read_stat_kept(const struct host *h, pid_t pid, struct kept *k,
	struct process_stat *ret);
int process_read_status(const struct host *h, pid_t pid, struct process_status *ret);
int process_read_io(const struct host *h, pid_t pid, struct kept *k, struct process_io *ret);
int process_read_pss(const struct host *h, pid_t pid, struct process_pss *ret);
int process_read_open_fds(const struct host *h, pid_t pid, uint64_t *ret);

/* Returns true when this process and the process `pid` are in the same `namespace` ("mnt", "user").
 * Returns false when the namespace of `pid` is unreadable. */
bool process_shares(const struct host *h, pid_t pid, const char *namespace);

/* Finds the line of the status file that begins with `start` ("Uid:"). Sets `ret` to the text after
 * `start`. Returns false when there is no such line. */
bool process_status_line(const struct host *h, pid_t pid, const char *start, struct scan *ret);

/* Returns the process to which the thread `pid` belongs; 0 = unknown. If `pid` is a process,
 * returns `pid`. Threads and processes have numbers from the same range. /proc/PID also exists for
 * a thread, but a listing of /proc has only processes. */
pid_t process_of(const struct host *h, pid_t pid);

/* Returns the CPU time of all threads of a live process or a zombie, in nanoseconds. Reads the CPU
 * clock of the process with clock_gettime(2), which opens no file. Returns 0 when the process is
 * gone or host->own_pid_namespace is false. */
uint64_t process_cpu_clock(const struct host *h, pid_t pid);

/* Converts a pid of our own PID namespace to the pid of the same process in host->proc. The two
 * differ only if host->proc shows another PID namespace. Returns 0 if no process or more than one
 * may be the right one. */
pid_t process_number(const struct host *h, pid_t pid);

/* Converts the pid of a process or thread in host->proc to its pid in our own PID namespace; 0 =
 * not found. */
pid_t process_number_here(const struct host *h, pid_t pid);

/* Returns the pid that the kernel assigned last in our PID namespace (last number in
 * /proc/loadavg); 0 = unknown. If two calls return the same pid, no process was created between
 * them: the kernel counts pids up to a maximum, and then starts again. */
uint64_t process_last_pid(const struct host *h);

/* Returns true when a process with this pid exists, even if hidepid (proc(5)) hides it. Returns
 * false when this is unknown. */
bool process_exists(const struct host *h, pid_t pid);

/* Returns the CPU time of the calling thread in nanoseconds. */
uint64_t process_thread_clock(void);

/* Calls `each` for each child of all threads of `pid`. `each` must not read other files through the
 * host, because host->scratch still holds the list of children. `threads` is the number of threads
 * of `pid`. `k` is NULL or, for a process with one thread, the open file with the children of this
 * thread. Returns 0 or a negative errno. -ENOENT: the process is gone, or the kernel lacks
 * CONFIG_PROC_CHILDREN. */
int process_children(const struct host *h, pid_t pid, uint64_t threads, struct kept *k,
	void (*each)(void *context, pid_t child), void *context);

/* Opens a file of a process for repeated reading (see tree_keep). The second function opens the
 * file that lists the children of the first thread. */
struct kept process_keep(const struct host *h, pid_t pid, const char *file);
struct kept process_keep_children(const struct host *h, pid_t pid);

/* Converts a file name in /proc to a pid; 0 = not a process. */
pid_t process_of_name(const char *name);

/* Calls `each` for every pid in /proc. */
int process_list(const struct host *h, void (*each)(void *context, pid_t pid), void *context);

/* Calls `each` with the number and the link target of every descriptor. If `each` returns a
 * non-zero value, process_fds stops and returns that value. `*left` is the number of links that may
 * still be read; each link that is read reduces it by 1. Returns -EAGAIN when `*left` is 0. Other
 * errors are those of tree_list, such as -EACCES for a process of another user. Does not use
 * host->scratch. */
int process_fds(const struct host *h, pid_t pid, unsigned *left,
	int (*each)(void *context, int fd, const char *target), void *context);

#endif
