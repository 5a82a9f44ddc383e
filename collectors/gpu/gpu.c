/* The gpu collector. It reports the GPUs of all sources (NVML and DRM drivers). It also finds the
 * GPU use of each run, by the pids of the processes that use a GPU. */
#include "collectors/gpu/gpu.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/gpu/nvml_thread.h"
#include "collectors/gpu/nvml_pid.h"
#include "collectors/gpu/users.h"
#include "collectors/process/tree.h"

/* clang-format off */
#define GPU_MORE_METRICS(X) \
X(GPU_DESCRIPTION, .name = "rightsize_gpu", .type = METRIC_INFO, \
  .labels = {"gpu", "name", "uuid", "pci", "driver", "driver_version"}, .help = "Model and driver of the GPU") \
X(GPU_CLOCK, .name = "rightsize_gpu_clock_hertz", .unit = "hertz", .labels = {"gpu", "clock"}, \
  .help = "Clock rate of a part of the GPU right now") \
X(GPU_THROTTLED, .name = "rightsize_gpu_throttled", .labels = {"gpu", "reason"}, \
  .help = "1 while the driver holds the clocks down for this reason") \
X(GPU_ECC_ERRORS, .name = "rightsize_gpu_ecc_errors", .labels = {"gpu", "type"}, .type = METRIC_COUNTER, \
  .help = "Memory errors that ECC found since the driver was loaded") \
X(GPU_SLICE, .name = "rightsize_gpu_mig", .type = METRIC_INFO, .labels = {"gpu", "mig", "name", "uuid"}, \
  .help = "A slice of a GPU that was split up; mig is GPU instance/compute instance") \
X(GPU_SLICE_USED, .name = "rightsize_gpu_mig_memory_used_bytes", .unit = "bytes", .labels = {"gpu", "mig"}, \
  .help = "Memory in use on the slice of the GPU") \
X(GPU_SLICE_TOTAL, .name = "rightsize_gpu_mig_memory_total_bytes", .unit = "bytes", .labels = {"gpu", "mig"}, \
  .help = "Memory of the slice of the GPU") \
X(GPU_USED, .name = "rightsize_gpus_used", .fold = FOLD_VALUE, .column = "system_gpus_used", \
  .help = "GPUs that had work in the driver's last sample period, or a process where that is not told") \
X(GPU_UNATTRIBUTED, .name = "rightsize_gpu_unattributed_processes", \
  .help = "Processes that NVML lists under a pid that leads to no process here, so no run is given their GPU use")

/* The metrics of GPU_VALUES come first, so that their ids are also the indexes of the values in
 * struct gpu_device. */
enum { GPU_LAST_VALUE = GPU_N_VALUES - 1, GPU_MORE_METRICS(METRIC_ID) GPU_N_METRICS };
static const struct metric gpu_metrics[] = { GPU_VALUES(METRIC_ROW) GPU_MORE_METRICS(METRIC_ROW) };
/* clang-format on */

static const char *const clock_names[NVML_CLOCKS] = {
	[NVML_CLOCK_GRAPHICS] = "graphics",
	[NVML_CLOCK_SM] = "sm",
	[NVML_CLOCK_MEMORY] = "memory",
	[NVML_CLOCK_VIDEO] = "video",
};

static const char *const ecc_names[NVML_ECC_TYPES] = {
	[NVML_ECC_CORRECTED] = "corrected",
	[NVML_ECC_UNCORRECTED] = "uncorrected",
};

/* Bits that nvmlDeviceGetCurrentClocksEventReasons returns. The bits for "idle" and for the user's
 * own settings are left out. */
static const struct {
	uint64_t bit;
	const char *name;
} throttle_reasons[] = {
	{0x04, "power_cap"},
	{0x08, "hardware_slowdown"},
	{0x10, "sync_boost"},
	{0x20, "software_thermal"},
	{0x40, "hardware_thermal"},
	{0x80, "power_brake"},
};

/* A process counts as new if it started after the NVML table was made, or at most this many seconds
 * before. NVML lists a process only after CUDA has started in it and has made the first context. A
 * new process may therefore use a GPU and be missing in the table. */
#define CUDA_START_SECONDS 2.0

/* A process of the latest NVML table, with its pid in host->proc. */
struct attributed {
	pid_t pid;
	size_t device;
	double utilization, vram_bytes;
};

struct gpus {
	struct host *host; /* host->gpus points to this struct */
	bool has_library;
	struct gpu_nvml *nvml; /* NULL = no library, or its driver is not loaded */
	struct gpu_drm *drm;   /* NULL = no GPU of AMD, Intel or another DRM driver */
	struct gpu_users *users;
	struct gpu_sum sum;

	/* Result of the call of gpu_nvml_table in this tick. */
	int nvml_code;
	struct err nvml_error;
	const struct nvml_table *table; /* NULL = there is no table, or it is too old */
	struct gpu_pids pids;
	size_t n_attributed, unattributed, room;
	struct attributed *attributed; /* sorted by pid */
	uint32_t *numbers;
};

/* ---- use by runs ---- */

static int by_pid(const void *a, const void *b)
{
	const struct attributed *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

static void attribute_users(struct gpus *g, const struct host *h)
{
	const struct nvml_table *t = g->table;

	g->n_attributed = g->unattributed = 0;
	if (!t || t->n_users == 0)
		return;
	if (t->n_users > g->room) {
		g->room = t->n_users;
		g->attributed = xreallocarray(g->attributed, g->room, sizeof *g->attributed);
		g->numbers = xreallocarray(g->numbers, g->room, sizeof *g->numbers);
	}
	for (size_t i = 0; i < t->n_users; i++)
		g->numbers[i] = t->user[i].pid;
	gpu_pids_update(&g->pids, h, g->numbers, t->n_users);
	for (size_t i = 0; i < t->n_users; i++) {
		const struct nvml_user *u = &t->user[i];
		pid_t pid = gpu_pid_of(&g->pids, u->pid);

		if (pid)
			g->attributed[g->n_attributed++] =
				(struct attributed){pid, u->device, u->utilization, u->vram_bytes};
		else
			g->unattributed++;
	}
	if (g->n_attributed)
		qsort(g->attributed, g->n_attributed, sizeof *g->attributed, by_pid);
}

/* Returns true when an NVIDIA driver is loaded. If none is loaded, NVML must not be started: NVML
 * would load the driver and create device nodes, which an exporter must not cause. */
static bool driver_is_loaded(const struct host *h)
{
	return tree_size(h->sys, "module/nvidia") >= 0 || tree_size(h->sys, "module/nvgpu") >= 0 ||
	       /* nvgpu is the driver of Tegra, dev/dxg the device of WSL. */
	       (h->root && tree_size(h->root, "dev/dxg") >= 0);
}

static int start_nvml(struct gpus *g, const struct host *h, struct err *e)
{
	if (!g->has_library || !driver_is_loaded(h))
		return -ENOENT;
	g->nvml_code = -EINPROGRESS;
	return gpu_nvml_start(&g->nvml, NVML_LIBRARY, e);
}

static void take_news(struct gpus *g, const struct host *h)
{
	const struct nvml_table *t = NULL;

	g->nvml_error = (struct err){0};
	if (!g->nvml)
		g->nvml_code = start_nvml(g, h, &g->nvml_error);
	if (!g->nvml)
		return;
	g->nvml_code = gpu_nvml_table(g->nvml, h->now.mono, &t, &g->nvml_error);
	if (t && t == g->table) { /* same table as before: drop the second reference */
		gpu_nvml_table_drop(t);
		return;
	}
	gpu_nvml_table_drop(g->table);
	g->table = t;
	attribute_users(g, h);
	/* The driver was unloaded, perhaps for an update. Release the library and report no
	 * error. */
	if (g->nvml_code < 0 && g->nvml_code != -EINPROGRESS && !driver_is_loaded(h)) {
		gpu_nvml_stop(g->nvml);
		g->nvml = NULL;
		g->nvml_code = -ENOENT;
	}
}

void gpus_begin(struct gpus *g, const struct host *h)
{
	if (!g)
		return;
	take_news(g, h);
	gpu_users_begin(g->users);
}

static double born_seconds(const struct host *h, const struct member *m)
{
	return (double)m->start_ticks / (double)h->ticks_per_second;
}

static double table_seconds(const struct gpus *g)
{
	return (double)g->table->at.ns / 1e9;
}

/* Adds the GPU use that NVML reports for the process to g->sum. Returns false when NVML does not
 * list the process. */
static bool add_nvml(struct gpus *g, const struct host *h, const struct member *m)
{
	struct attributed key = {.pid = m->pid};
	const struct attributed *end, *p;

	if (g->n_attributed == 0)
		return false;
	end = g->attributed + g->n_attributed;
	p = bsearch(&key, g->attributed, g->n_attributed, sizeof key, by_pid);
	/* The table is older than the process, so it lists an earlier process with the same pid. */
	if (!p || born_seconds(h, m) > table_seconds(g))
		return false;
	while (p > g->attributed && p[-1].pid == m->pid)
		p--;
	for (; p < end && p->pid == m->pid; p++)
		gpu_sum_add(&g->sum, p->device, p->utilization, p->vram_bytes);
	return true;
}

static bool nvml_is_there(const struct gpus *g)
{
	return g->nvml_code != -ENOENT;
}

/* Returns true when NVML may not show all users of the GPUs. Either the driver hides the processes
 * of a GPU, or a listed pid belongs to no process that is visible here. */
static bool nvml_hides(const struct gpus *g)
{
	if (!nvml_is_there(g))
		return false;
	for (size_t i = 0; g->table && i < g->table->n_devices; i++)
		if (g->table->device[i].processes_unknown)
			return true;
	return !g->table || g->unattributed > 0;
}

static struct gpu_use add_up(const struct gpu_sum *s)
{
	struct gpu_use use = {0, NAN, NAN};

	for (size_t i = 0; i < s->n_shares; i++) {
		const struct gpu_share *share = &s->share[i];

		use.gpus += share->used;
		use.usage = gpu_add_known(use.usage, share->utilization);
		use.vram_bytes = gpu_add_known(use.vram_bytes, share->vram_bytes);
	}
	if (use.gpus == 0 && !s->unknown)
		use.usage = use.vram_bytes = 0;
	if (use.gpus == 0 && s->unknown)
		use.gpus = NAN;
	return use;
}

/* Returns true when the process may have opened a GPU since the table was made. */
static bool is_new_to_table(const struct gpus *g, const struct host *h, const struct member *m)
{
	return born_seconds(h, m) > table_seconds(g) - CUDA_START_SECONDS;
}

/* Adds the GPU use of one process to g->sum. `first_drm`: see gpu_users_look. */
static void add_member(struct gpus *g, const struct host *h, const struct member *m,
	size_t first_drm)
{
	bool nvml = nvml_is_there(g);
	/* In a container with its own PID namespace, older drivers list no processes. Therefore
	 * check whether each process has /dev/nvidia-uvm open. The GPU use of a process that has it
	 * open, but is not listed, is unknown. */
	bool check = nvml && !gpu_pids_are_same(&g->pids, h);
	bool listed = nvml && add_nvml(g, h, m);
	bool doubtful = nvml && !listed && (check || is_new_to_table(g, h, m));
	bool unknown = g->sum.unknown;

	if (!g->drm && !check && !doubtful)
		return;
	bool opened = gpu_users_look(g->users, g->drm, h, m, first_drm, &g->sum);

	/* If the descriptors were read only because the process is new, an unreadable descriptor
	 * does not make the use unknown: NVML lists the processes of all users. */
	if (!g->drm && !check)
		g->sum.unknown = unknown;
	g->sum.unknown = g->sum.unknown || (doubtful && opened);
}

/* Adds the used GPUs of g->sum to `kind`. `first_drm`: see gpu_users_look. */
static void add_kinds(const struct gpus *g, size_t first_drm, struct gpu_kind *kind)
{
	for (size_t i = 0; i < g->sum.n_shares; i++)
		if (g->sum.share[i].used)
			gpu_kind_add(kind, i < first_drm ? &g->table->device[i] :
							   gpu_drm_device(g->drm, i - first_drm));
}

struct gpu_use gpus_of_run(struct gpus *g, const struct host *h, const struct process_tree *t,
	struct gpu_kind *kind)
{
	const struct gpu_use unknown = {NAN, NAN, NAN};

	if (!g)
		return unknown;
	bool nvml = nvml_is_there(g);

	if ((!nvml && !g->drm) || (nvml && !g->table))
		return unknown;
	size_t first_drm = g->table ? g->table->n_devices : 0;

	gpu_sum_reset(&g->sum, first_drm + (g->drm ? gpu_drm_count(g->drm) : 0));
	for (size_t i = 0; i < t->n; i++) {
		const struct member *m = &t->member[i];

		if (member_counts(m) && !m->zombie)
			add_member(g, h, m, first_drm);
	}
	g->sum.unknown = g->sum.unknown || nvml_hides(g);
	add_kinds(g, first_drm, kind);
	return add_up(&g->sum);
}

/* ---- points ---- */

static void add_device(const struct gpu_device *d, struct block *out)
{
	for (unsigned i = 0; i < GPU_N_VALUES; i++)
		POINT(out, i, d->value[i], d->gpu);
	POINT(out, GPU_DESCRIPTION, 1, d->gpu, d->name, d->uuid, d->pci, d->driver,
		d->driver_version);
	for (size_t i = 0; i < NVML_CLOCKS; i++)
		POINT(out, GPU_CLOCK, d->clock_hz[i], d->gpu, clock_names[i]);
	for (size_t i = 0; i < NVML_ECC_TYPES; i++)
		POINT(out, GPU_ECC_ERRORS, d->ecc_errors[i], d->gpu, ecc_names[i]);
	for (size_t i = 0; d->throttle_known && i < ARRAY_LEN(throttle_reasons); i++)
		POINT(out, GPU_THROTTLED, (d->throttle & throttle_reasons[i].bit) != 0, d->gpu,
			throttle_reasons[i].name);
}

static void add_slices(const struct nvml_table *t, struct block *out)
{
	for (size_t i = 0; i < t->n_slices; i++) {
		const struct gpu_slice *s = &t->slice[i];
		const char *gpu = t->device[s->device].gpu;

		POINT(out, GPU_SLICE, 1, gpu, s->id, s->name, s->uuid);
		POINT(out, GPU_SLICE_USED, s->used_bytes, gpu, s->id);
		POINT(out, GPU_SLICE_TOTAL, s->total_bytes, gpu, s->id);
	}
}

/* Returns 1 if the GPU is in use, otherwise 0. Decides by utilization or, if that is unknown, by
 * the number of processes. NaN = both are unknown. */
static double in_use(const struct gpu_device *d)
{
	double sign = d->value[GPU_UTILIZATION];

	if (isnan(sign))
		sign = d->value[GPU_PROCESSES];
	return isnan(sign) ? NAN : sign > 0;
}

static int gpu_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct gpus *g = state;
	double used = NAN;

	take_news(g, host);
	/* Do not report a missing table as an error when NVML is absent or still starting. */
	bool quiet = g->nvml_code == -ENOENT || g->nvml_code == -EINPROGRESS;

	if (!quiet && !g->table)
		return err_set(e, g->nvml_code, "%s", g->nvml_error.text);
	if (!g->table && !g->drm)
		return -ENOENT;
	for (size_t i = 0; g->table && i < g->table->n_devices; i++) {
		add_device(&g->table->device[i], out);
		used = gpu_add_known(used, in_use(&g->table->device[i]));
	}
	for (size_t i = 0; g->drm && i < gpu_drm_count(g->drm); i++) {
		struct gpu_device d;

		gpu_drm_read(g->drm, host, i, &d);
		add_device(&d, out);
		used = gpu_add_known(used, in_use(&d));
	}
	if (g->table) {
		add_slices(g->table, out);
		POINT(out, GPU_UNATTRIBUTED, (double)g->unattributed, NULL);
	}
	POINT(out, GPU_USED, used, NULL);
	return 0;
}

/* ---- start and stop ---- */

static void gpu_stop(void *state)
{
	struct gpus *g = state;

	if (!g)
		return;
	if (g->host)
		g->host->gpus = NULL;
	gpu_nvml_table_drop(g->table);
	gpu_nvml_stop(g->nvml);
	gpu_drm_close(g->drm);
	gpu_users_free(g->users);
	gpu_pids_done(&g->pids);
	gpu_sum_done(&g->sum);
	free(g->attributed);
	free(g->numbers);
	free(g);
}

static bool has_library(void)
{
	struct nvml n;
	int code = nvml_open(&n, NVML_LIBRARY);

	if (code == 0)
		nvml_close(&n);
	return code == 0;
}

static int gpu_start(void **ret, struct host *host, struct err *e)
{
	struct gpus *g = xcalloc(1, sizeof *g);
	int drm = gpu_drm_open(&g->drm, host);

	g->has_library = has_library();
	if (!g->has_library && drm < 0) {
		gpu_stop(g);
		return -ENOENT;
	}
	g->nvml_code = start_nvml(g, host, e);
	if (g->nvml_code < 0 && g->nvml_code != -ENOENT) {
		int code = g->nvml_code;

		gpu_stop(g);
		return code;
	}
	g->nvml_code = g->nvml ? -EINPROGRESS : -ENOENT;
	g->users = gpu_users_new();
	g->host = host;
	host->gpus = g;
	*ret = g;
	return 0;
}

double gpus_vram_bytes(const struct gpus *g, const struct host *h)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; g && g->table && i < g->table->n_devices; i++, n++)
		sum += g->table->device[i].value[GPU_MEMORY_TOTAL];
	for (size_t i = 0; g && g->drm && i < gpu_drm_count(g->drm); i++, n++) {
		struct gpu_device d;

		gpu_drm_read(g->drm, h, i, &d);
		sum += d.value[GPU_MEMORY_TOTAL];
	}
	return n ? sum : (double)NAN;
}

bool gpus_wait(struct gpus *g, double seconds)
{
	return !g->nvml || gpu_nvml_wait(g->nvml, seconds);
}

const struct collector collector_gpu = {
	.name = "gpu",
	.help = "GPUs: NVIDIA's by NVML, others by the kernel's DRM files; and which run uses them",
	.metrics = gpu_metrics,
	.n_metrics = GPU_N_METRICS,
	.start = gpu_start,
	.collect = gpu_collect,
	.stop = gpu_stop,
};
