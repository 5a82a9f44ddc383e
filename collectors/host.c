#include "collectors/host.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/tree_guard.h"
#include "collectors/mounts.h"
#include "collectors/kernel_file.h"

/*
 * Connections take half of the descriptor limit (exporter/http/http.c). Runs keep at most 6/16 of it
 * open: 3/16 for processes (three descriptors each), 1/16 for files of control groups, 2/16 for pidfds
 * of root processes, whose ends nothing else reports. The rest is left for the history and other files.
 */
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

static bool shows_own_namespace(const struct host *h)
{
	ssize_t n = tree_read(h->proc, "self/status", h->scratch, h->scratch_size);

	return host_status_is_of(SCAN(h->scratch, n > 0 ? n : 0), getpid());
}

/* Processes are kept open only if the share suffices for all PROCESSES_KEPT_MAX. */
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

/* The sysfs of the machine that a container monitors (--path.rootfs). */
static struct tree *open_below_root(const char *root)
{
	struct buf path AUTO(buf_done) = BUF_MAX(PATH_MAX);
	struct tree *ret = NULL;

	buf_addf(&path, "%s/sys", root);
	return tree_open(&ret, buf_text(&path), NULL) < 0 ? NULL : ret;
}

/*
 * Reads the affinity of the first thread, which starts jobs. taskset(1) without -a changes only that
 * thread.
 */
void host_look(struct host *h)
{
	cpu_set_t set;

	h->affinity_cpus =
		sched_getaffinity(getpid(), sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
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
	h.own_pid_namespace = shows_own_namespace(&h);
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
