/* Prints what the gpu collector sees on this machine, to compare with nvidia-smi and similar tools:
 *
 * gpu_look [PID [READINGS]]
 *
 * prints the collector's metrics and the GPU use of the process tree of PID, once a second. The
 * exit code is 2 when there is no GPU.
 *
 * gpu_look --library
 *
 * calls only NVIDIA's library. It does so even if no driver is loaded. The collector would not call
 * the library then. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/gpu/gpu.h"
#include "collectors/gpu/nvml_thread.h"
#include "collectors/followed/jobs.h"

static const struct collector *const list[] = {&collector_gpu, NULL};

static void print_points(const struct block *b)
{
	for (size_t i = 0; i < collector_gpu.n_metrics; i++) {
		const struct metric *m = &collector_gpu.metrics[i];

		for (const struct point *p = b->points[i].first; p; p = p->next) {
			printf("%s", m->name);
			for (size_t k = 0; k < METRIC_LABELS_MAX && m->labels[k]; k++)
				printf("%s%s=\"%s\"", k ? "," : "{", m->labels[k], p->labels[k]);
			printf("%s %.15g\n", m->labels[0] ? "}" : "", p->value);
		}
	}
}

static void print_run(const struct snapshot *s)
{
	static const enum run_metric ids[] = {
		RUN_GPUS_USED, RUN_GPU_USAGE, RUN_VRAM_BYTES, RUN_VRAM_PEAK_BYTES};

	for (size_t i = 0; s->n_runs && i < sizeof ids / sizeof ids[0]; i++)
		printf("%s%s=%.15g", i ? " " : "run: ", run_metrics[ids[i]].column,
			s->runs[0].value[ids[i]]);
	if (s->n_runs)
		printf("\n");
}

static uint64_t number(const char *text)
{
	struct scan s = SCAN(text, strlen(text));
	uint64_t v;

	if (!scan_u64(&s, &v) || !scan_end(&s) || v > INT32_MAX) {
		fprintf(stderr, "gpu_look: %s is no number\n", text);
		exit(1);
	}
	return v;
}

/* Makes one tick and returns the collector's code. */
static int look(const struct host *h, void *state, struct snapshot *s, struct err *e)
{
	if (!gpus_wait(state, 60))
		fprintf(stderr, "gpu_look: NVML is slow to answer\n");
	jobs_read(h->jobs, h, s);
	return collector_gpu.collect(state, h, &s->blocks[0], e);
}

static int end(int code, const struct err *e)
{
	if (code == 0)
		return 0;
	if (code == -ENOENT && !e->text[0]) {
		printf("no GPU\n");
		return 2;
	}
	fprintf(stderr, "gpu_look: error %d: %s\n", code, e->text);
	return 1;
}

static int ask_library(void)
{
	struct gpu_nvml *n;
	struct err e = {0};
	const struct nvml_table *t;

	if (gpu_nvml_start(&n, NVML_LIBRARY, &e) < 0) {
		fprintf(stderr, "gpu_look: no %s\n", NVML_LIBRARY);
		return 1;
	}
	gpu_nvml_wait(n, 60);
	int code = gpu_nvml_table(n, now_read().mono, &t, &e);

	if (code == 0) {
		printf("%zu GPUs, %zu slices, %zu processes\n", t->n_devices, t->n_slices,
			t->n_users);
		gpu_nvml_table_drop(t);
	}
	gpu_nvml_stop(n);
	return end(code, &e);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--library") == 0)
		return ask_library();

	struct host h = {0};
	struct snapshot_pool *pool = snapshot_pool_new(list);
	struct err e = {0};
	void *state = NULL;
	uint64_t readings = argc > 2 ? number(argv[2]) : 1;
	int code = host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, &e);

	h.jobs = jobs_new(NULL);
	if (code == 0 && argc > 1) {
		struct run_spec spec = {
			.run_id = "r1", .job_name = "look", .pid = (pid_t)number(argv[1])};

		code = jobs_follow(h.jobs, &h, &spec, &e);
	}
	if (code == 0)
		code = collector_gpu.start(&state, &h, &e);
	for (uint64_t i = 0; code == 0 && i < readings; i++) {
		struct snapshot *s = snapshot_take(pool);

		if (i)
			nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
		h.now = now_read();
		code = look(&h, state, s, &e);
		if (code == 0 && i == 0)
			print_points(&s->blocks[0]);
		if (code == 0)
			print_run(s);
		shared_drop(&s->shared);
	}
	if (state)
		collector_gpu.stop(state);
	snapshot_pool_free(pool);
	jobs_free(h.jobs);
	tree_free(h.proc);
	tree_free(h.sys);
	free(h.scratch);
	return end(code, &e);
}
