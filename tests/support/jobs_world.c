#include "tests/support/jobs_world.h"

#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->proc = memory_tree();
	w->sys = memory_tree();
	w->root = memory_tree();
	w->host = (struct host){
		.proc = w->proc,
		.sys = w->sys,
		.root = w->root,
		.ticks_per_second = 100,
		.page_size = 4096,
		.scratch = xmalloc(HOST_SCRATCH_SIZE),
		.scratch_size = HOST_SCRATCH_SIZE,
		.jobs = jobs_new(NULL),
	};
	return w;
}

void world_freep(struct world **owner)
{
	struct world *w = *owner;

	jobs_free(w->host.jobs);
	free(w->host.scratch);
	arena_done(&w->snapshot.arena);
	tree_free(w->proc);
	tree_free(w->sys);
	tree_free(w->root);
	free(w);
}

void children(struct world *w, int pid, const char *list)
{
	char path[64];

	snprintf(path, sizeof path, "%d/task/%d/children", pid, pid);
	memory_tree_text(w->proc, path, list);
}

void put(struct world *w, const struct fake *f)
{
	char path[64], text[400];

	snprintf(path, sizeof path, "%d/stat", f->pid);
	snprintf(text, sizeof text,
		"%d (%s) S %d 1 1 0 -1 0 %lu %lu 0 0 %lu %lu %lu 0 20 0 1 0 %lu 1000000 %lu 0 0 %lu "
		"%lu\n",
		f->pid, f->name ? f->name : "job", f->ppid, f->faults, f->waited_faults, f->user,
		f->system, f->waited_user, f->start, f->rss_pages, f->code, f->stack);
	memory_tree_text(w->proc, path, text);
	snprintf(path, sizeof path, "%d/status", f->pid);
	snprintf(text, sizeof text, "Pid:\t%d\nVmHWM:\t%lu kB\n", f->pid, f->peak_kib);
	memory_tree_text(w->proc, path, text);
	if (f->children)
		children(w, f->pid, f->children);
}

void gone(struct world *w, int pid)
{
	char path[64];

	snprintf(path, sizeof path, "%d", pid);
	memory_tree_remove(w->proc, path);
}

const struct run_reading *look(struct world *w)
{
	arena_reset(&w->snapshot.arena);
	w->host.now.mono.ns += NS_PER_S;
	jobs_read(w->host.jobs, &w->host, &w->snapshot);
	return w->snapshot.runs;
}

void follow(struct world *w, int pid, int reaper)
{
	struct run_spec spec = {
		.run_id = "r1", .job_name = "etl", .pid = pid, .reaper_pid = reaper};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
}
