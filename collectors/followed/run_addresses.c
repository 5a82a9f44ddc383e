#include "collectors/followed/run_addresses.h"

#include "collectors/process/process.h"

/* Maximum number of programs of a run whose limits are read, because a run may start many short
 * programs. */
#define LOOKS_MAX 64

static const struct member *largest_of(const struct process_tree *tree)
{
	const struct member *largest = NULL;

	for (size_t i = 0; i < tree->n; i++) {
		const struct member *m = &tree->member[i];

		if (!member_counts(m) || m->zombie)
			continue;
		if (!largest || m->rss_bytes > largest->rss_bytes)
			largest = m;
	}
	return largest;
}

/* Returns the soft limit in a line of /proc/PID/limits; UINT64_MAX = unlimited, or unknown. */
static uint64_t limit_of(struct scan text, const char *name)
{
	struct scan line;
	uint64_t limit;

	return scan_line_of(&text, name, &line) && scan_u64(&line, &limit) ? limit : UINT64_MAX;
}

static void read_limits(struct run_addresses *a, const struct host *h, const struct member *m)
{
	pid_t pid = member_shown_by(m);
	char path[PROCESS_PATH_MAX];
	ssize_t n =
		tree_read(h->proc, process_path(path, pid, "limits"), h->scratch, h->scratch_size);
	struct scan text = SCAN(h->scratch, n > 0 ? n : 0);
	uint64_t addresses = limit_of(text, "Max address space"),
		 data = limit_of(text, "Max data size");
	uint64_t smaller = data < addresses ? data : addresses;

	if (smaller == UINT64_MAX)
		return;
	if (a->limit_bytes != smaller)
		a->peak_bytes = 0;
	a->limit_bytes = smaller;
	a->limits_data = data < addresses;
	a->limited_pid = pid;
	a->limited_stack_start = m->stack_start;
}

/* Returns true while the process with the limit lives and executes the same program. Its pid alone
 * does not show this, because another process may have the pid now. */
static bool limited_lives(const struct run_addresses *a, const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++) {
		const struct member *m = &tree->member[i];

		if (member_counts(m) && !m->zombie && member_shown_by(m) == a->limited_pid &&
			m->stack_start == a->limited_stack_start)
			return true;
	}
	return false;
}

/* Raises peak_bytes to the memory that counts against the limit. For RLIMIT_AS this is VmPeak, the
 * kernel's peak of VmSize. For RLIMIT_DATA it is the current VmData, because the kernel keeps no
 * peak of VmData. */
static void read_peak(struct run_addresses *a, const struct host *h)
{
	const char *name = a->limits_data ? "VmData:" : "VmPeak:";
	struct scan line;
	uint64_t kib;

	if (process_status_line(h, a->limited_pid, name, &line) && scan_u64(&line, &kib) &&
		kib <= UINT64_MAX / 1024 && kib * 1024 > a->peak_bytes)
		a->peak_bytes = kib * 1024;
}

void run_addresses_look(struct run_addresses *a, const struct host *h,
	const struct process_tree *tree)
{
	const struct member *m = largest_of(tree);
	bool same = m && m->pid == a->pid && m->stack_start == a->stack_start;

	if (m && !same && a->looks < LOOKS_MAX) {
		a->looks++;
		a->pid = m->pid;
		a->stack_start = m->stack_start;
		read_limits(a, h, m);
	}
	if (a->limit_bytes && limited_lives(a, tree))
		read_peak(a, h);
}
