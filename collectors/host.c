#include "collectors/host.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard.h"
#include "collectors/mounts.h"
#include "collectors/kernel_file.h"

/* The descriptor limit is divided into sixteen shares. Connections get 8 shares
 * (exporter/http/http.c). Files and pidfds of runs get 6 shares:
 * - 3 for files of processes, with three descriptors for each process
 * - 1 for files of control groups
 * - 2 for pidfds of root processes, because only a pidfd reports the end of a root process
 * The last 2 shares are left for the history and other files. */
#define DESCRIPTORS_SHARES   16
#define SHARES_OF_ROOT_ENDS  2
#define PROCESSES_KEPT_MAX   64
#define GROUP_FILES_KEPT_MAX 512

bool host_status_is_of(struct scan status, pid_t pid)
{
	struct scan line;
	uint64_t here;

	if (!scan_line_of(&status, "NSpid:", &line) || !scan_u64(&line, &here))
		return false;
	scan_blanks(&line);
	return here == (uint64_t)pid && scan_end(&line);
}

/* Inode of the initial PID namespace on every Linux (PROC_PID_INIT_INO in linux/proc_ns.h). */
#define INITIAL_NAMESPACE "pid:[4026531836]"

static pid_t number_of_self(const struct host *h)
{
	char link[16];
	uint64_t pid;
	ssize_t n = tree_link(h->proc, "self", link, sizeof link);
	struct scan s = SCAN(link, n > 0 ? n : 0);

	return scan_u64(&s, &pid) && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* Finds out which PID namespace `proc` shows. Linux before 4.1 and gVisor have no line NSpid. On
 * these systems, the link /proc/self decides. */
static void find_namespace(struct host *h, const char *proc)
{
	struct statfs fs;
	struct scan text, line;
	char link[64];
	ssize_t n = tree_read(h->proc, "self/status", h->scratch, h->scratch_size);

	text = SCAN(h->scratch, n > 0 ? n : 0);
	h->self = number_of_self(h);
	h->own_pid_namespace = host_status_is_of(text, getpid());
	if (statfs(proc, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		h->other_pid_namespace = scan_line_of(&text, "NSpid:", &line) ?
						 !h->own_pid_namespace :
						 h->self != getpid();
	h->initial_pid_namespace = h->own_pid_namespace &&
				   tree_link(h->proc, "self/ns/pid", link, sizeof link) > 0 &&
				   strcmp(link, INITIAL_NAMESPACE) == 0;
}

/* Divides the descriptor limit. Files of processes are kept open for PROCESSES_KEPT_MAX processes
 * or, if the limit is too low for three descriptors each, for none. */
static void share_descriptors(struct host *h)
{
	struct rlimit l;
	size_t share = getrlimit(RLIMIT_NOFILE, &l) < 0 ? 0 : l.rlim_cur / DESCRIPTORS_SHARES;

	h->processes_kept = xcalloc(1, sizeof *h->processes_kept);
	h->processes_kept_max = share < PROCESSES_KEPT_MAX ? 0 : PROCESSES_KEPT_MAX;
	h->group_files = xcalloc(1, sizeof *h->group_files);
	h->group_files->most = share < GROUP_FILES_KEPT_MAX ? share : GROUP_FILES_KEPT_MAX;
	h->root_ends = xcalloc(1, sizeof *h->root_ends);
	h->root_ends->most = share * SHARES_OF_ROOT_ENDS;
}

/* Opens /sys of the machine when this exporter runs in a container and the machine's files are
 * mounted at `root` (--path.rootfs). Returns NULL if it cannot be opened. */
static struct tree *open_below_root(const char *root)
{
	struct buf path AUTO(buf_done) = BUF_MAX(PATH_MAX);
	struct tree *ret = NULL;

	buf_addf(&path, "%s/sys", root);
	return tree_open(&ret, buf_text(&path), NULL) < 0 ? NULL : ret;
}

/* Largest number of CPUs for which memory is allocated. No kernel is built for so many CPUs. */
#define AFFINITY_CPUS_MAX (1U << 20)

/* Sets `*ret` to the number of CPUs that the first thread of this process may use. `cpus` is the
 * number of CPUs that the mask has room for. Returns -1 with EINVAL if the kernel may have more. */
static int count_affinity_cpus(size_t cpus, unsigned *ret)
{
	size_t size = CPU_ALLOC_SIZE(cpus);
	cpu_set_t *set = xcalloc(1, size);
	int code = sched_getaffinity(getpid(), size, set);

	if (code == 0)
		*ret = (unsigned)CPU_COUNT_S(size, set);
	free(set);
	return code;
}

/* Reads the CPU affinity of the first thread, because jobs inherit the affinity of that thread.
 * taskset(1) without -a changes only that thread. */
void host_look(struct host *h)
{
	size_t cpus = CPU_SETSIZE;

	h->affinity_cpus = 0;
	while (count_affinity_cpus(cpus, &h->affinity_cpus) < 0 && errno == EINVAL &&
		cpus < AFFINITY_CPUS_MAX)
		cpus *= 2;
}

int host_open(struct host *ret, const struct host_paths *paths, struct err *e)
{
	struct host h = {.scratch_size = HOST_SCRATCH_SIZE};
	int code = tree_guard_open(&h.proc, paths->proc, e);

	if (code == 0)
		code = tree_open(&h.sys, paths->sys, e);
	if (code == 0)
		code = tree_open(&h.root, paths->root, e);
	if (code) {
		host_close(&h);
		return code;
	}
	h.root_sys = open_below_root(paths->root);
	h.scratch = xmalloc(h.scratch_size);
	h.text = xcalloc(1, sizeof *h.text);
	share_descriptors(&h);
	h.mounts = mount_watch_new(h.proc);
	h.ticks_per_second = sysconf(_SC_CLK_TCK);
	h.page_size = (size_t)sysconf(_SC_PAGESIZE);
	host_look(&h);
	find_namespace(&h, paths->proc);
	h.clock = now_read;
	h.now = h.clock();
	*ret = h;
	return 0;
}

void host_close(struct host *h)
{
	mount_watch_free(h->mounts);
	tree_free(h->proc);
	tree_free(h->sys);
	tree_free(h->root);
	tree_free(h->root_sys);
	free(h->scratch);
	kernel_file_text_free(h->text);
	free(h->processes_kept);
	free(h->group_files);
	free(h->root_ends);
	*h = (struct host){0};
}
