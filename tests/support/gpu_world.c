#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "tests/support/gpu_world.h"

static const struct collector *const list[] = {&collector_gpu, NULL};

struct gpu_world *gpu_world_new(void)
{
	struct gpu_world *w = xcalloc(1, sizeof *w);

	w->proc = memory_tree();
	w->sys = memory_tree();
	w->pool = snapshot_pool_new(list);
	w->host = (struct host){
		.proc = w->proc,
		.sys = w->sys,
		.now = now_read(),
		.ticks_per_second = 100,
		.page_size = 4096,
		.scratch = xmalloc(HOST_SCRATCH_SIZE),
		.scratch_size = HOST_SCRATCH_SIZE,
		.jobs = jobs_new(NULL),
	};
	return w;
}

void gpu_world_nvidia(struct gpu_world *w)
{
	memory_tree_text(w->sys, "module/nvidia/version", "999.10\n");
}

void gpu_world_freep(struct gpu_world **owner)
{
	struct gpu_world *w = *owner;

	if (w->state)
		collector_gpu.stop(w->state);
	if (w->snapshot)
		shared_drop(&w->snapshot->shared);
	snapshot_pool_free(w->pool);
	jobs_free(w->host.jobs);
	free(w->host.scratch);
	tree_free(w->proc);
	tree_free(w->sys);
	free(w);
}

void gpu_world_process(struct gpu_world *w, int pid, int ppid, const char *children)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "%d/stat", pid);
	snprintf(text, sizeof text,
		"%d (train) S %d 1 1 0 -1 0 9 0 0 0 5 5 0 0 20 0 1 0 7 1000000 100 0\n", pid, ppid);
	memory_tree_text(w->proc, path, text);
	snprintf(path, sizeof path, "%d/task/%d/children", pid, pid);
	memory_tree_text(w->proc, path, children);
}

void gpu_world_fd(struct gpu_world *w, int pid, int fd, const char *target, const char *fdinfo)
{
	char path[64];

	snprintf(path, sizeof path, "%d/fd/%d", pid, fd);
	memory_tree_link(w->proc, path, target);
	snprintf(path, sizeof path, "%d/fdinfo/%d", pid, fd);
	if (fdinfo)
		memory_tree_text(w->proc, path, fdinfo);
}

void gpu_world_gone(struct gpu_world *w, int pid)
{
	char path[32];

	snprintf(path, sizeof path, "%d", pid);
	memory_tree_remove(w->proc, path);
}

void gpu_world_follow(struct gpu_world *w, int pid)
{
	struct run_spec spec = {.run_id = "r1", .job_name = "train", .pid = pid};

	assert_int_equal(jobs_follow(w->host.jobs, &w->host, &spec, NULL), 0);
}

void gpu_world_card(struct gpu_world *w, const char *card, const char *driver, const char *pci)
{
	char path[96], text[96];

	snprintf(path, sizeof path, "class/drm/%s/device/drm/renderD128/dev", card);
	memory_tree_text(w->sys, path, "226:128\n");
	snprintf(path, sizeof path, "class/drm/%s/device/uevent", card);
	snprintf(text, sizeof text, "DRIVER=%s\nPCI_ID=1002:740F\nPCI_SLOT_NAME=%s\n", driver, pci);
	memory_tree_text(w->sys, path, text);
}

int gpu_world_start(struct gpu_world *w)
{
	return collector_gpu.start(&w->state, &w->host, &w->err);
}

int gpu_world_tick(struct gpu_world *w, double seconds)
{
	w->host.now.mono.ns += (int64_t)(seconds * 1e9);
	if (w->snapshot)
		shared_drop(&w->snapshot->shared);
	w->snapshot = snapshot_take(w->pool);
	w->block = snapshot_block(w->snapshot, &collector_gpu);
	w->err = (struct err){0};
	jobs_read(w->host.jobs, &w->host, w->snapshot);
	return collector_gpu.collect(w->state, &w->host, &w->snapshot->blocks[0], &w->err);
}

void assert_gpu_kind(const struct gpu_world *w, const char *manufacturer, const char *model)
{
	struct account_note note;

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	assert_string_equal(note.gpu_manufacturer, manufacturer);
	assert_string_equal(note.gpu_model, model);
}

double gpu_world_run(const struct gpu_world *w, enum run_metric id)
{
	assert_int_equal(w->snapshot->n_runs, 1);
	return w->snapshot->runs[0].value[id];
}

static bool has_labels(const struct metric *m, const struct point *p, const char *labels)
{
	char joined[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < METRIC_LABELS_MAX && m->labels[i]; i++)
		len += (size_t)snprintf(joined + len, sizeof joined - len, "%s%s", i ? "|" : "",
			p->labels[i]);
	return strcmp(joined, labels) == 0;
}

double gpu_world_value(const struct gpu_world *w, const char *name, const char *labels)
{
	const struct metric *m = collector_gpu.metrics;

	for (size_t i = 0; i < collector_gpu.n_metrics; i++) {
		if (strcmp(m[i].name, name) != 0)
			continue;
		for (const struct point *p = w->block->points[i].first; p; p = p->next)
			if (has_labels(&m[i], p, labels))
				return p->value;
		return NAN;
	}
	fail_msg("no metric is called %s", name);
	return NAN;
}
