#include "collectors/accounting/clock_threads.h"

#include "collectors/process/pids.h"

struct thread_walk {
	const struct host *host;
	struct clock_threads *ret;
};

static int add_thread(void *context, const char *name)
{
	const struct thread_walk *w = context;
	struct clock_threads *ret = w->ret;
	pid_t thread = process_of_name(name);

	ret->too_many = ret->too_many || ret->n == CLOCK_THREADS_MAX;
	if (thread && !ret->too_many)
		ret->thread[ret->n++] = process_number_here(w->host, thread);
	return ret->too_many;
}

void clock_threads_list(struct clock_threads *ret, const struct host *h,
	const struct process_tree *tree)
{
	struct thread_walk w = {h, ret};
	char path[PROCESS_PATH_MAX];

	ret->n = 0;
	ret->too_many = false;
	for (size_t i = 0; i < tree->n; i++)
		if (member_lives(&tree->member[i]))
			tree_list(h->proc, process_path(path, tree->member[i].pid, "task"),
				add_thread, &w);
}

size_t clock_members_until(const struct process_tree *tree, uint64_t ticks)
{
	size_t n = 0;

	for (size_t i = 0; i < tree->n; i++)
		n += !tree->member[i].reaper && tree->member[i].start_ticks <= ticks;
	return n;
}

void clock_threads_tell(struct lineage *l, const struct host *h, const struct process_tree *tree)
{
	struct process_stat stat;

	for (size_t i = 0; i < tree->n; i++)
		if (process_read_stat(h, tree->member[i].pid, &stat) == 0 && stat.threads == 1)
			lineage_has_one_thread(l, tree->member[i].pid);
}
