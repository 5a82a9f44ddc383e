/* Reads all NVIDIA GPUs once, in base units. A value is unknown when its call fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/gpu/nvml_thread.h"

/* Maximum number of GPUs, and of slices of one GPU, that are read. */
#define GPUS_MAX   256
#define SLICES_MAX 64

struct nvml_reading {
	const struct nvml *nvml;
	struct nvml_progress *progress;
	struct nvml_table *table;
	struct nvml_processes processes;
	/* About the GPU that is read now. `lost`: it fell off the bus. `answered`: it answered a
	 * call. */
	bool lost, answered;
};

static void about_to(struct nvml_reading *r, const char *call_name)
{
	atomic_store(&r->progress->call, call_name);
}

static int note_answer(struct nvml_reading *r, int code)
{
	r->lost = r->lost || code == NVML_LOST;
	r->answered = r->answered || code == NVML_OK;
	return code;
}

/* STEP makes the NVML call `expression` and notes the answer. If the GPU is already lost, STEP
 * makes no call and returns NVML_LOST. */
#define STEP(r, call_name, expression)                                                             \
	((r)->lost ? (int)NVML_LOST : (about_to((r), (call_name)), note_answer((r), (expression))))

#define CALL(r, field, ...)                                                                        \
	((r)->nvml->field ? STEP((r), #field, (r)->nvml->field(__VA_ARGS__)) :                     \
			    (int)NVML_NO_FUNCTION)

/* Converts *value to another unit. Returns NaN if `code` shows that the NVML call failed. `value`
 * is a pointer, because the call that gives `code` sets *value: the compiler may evaluate a plain
 * argument before this call. */
static double scaled(int code, const unsigned *value, double unit)
{
	return code == NVML_OK ? (double)*value * unit : NAN;
}

static void read_clocks(struct nvml_reading *r, void *handle, struct gpu_device *d)
{
	unsigned long long count, bits;
	unsigned u = 0;

	for (unsigned i = 0; i < NVML_CLOCKS; i++)
		d->clock_hz[i] = scaled(CALL(r, clock, handle, i, &u), &u, 1e6);
	if (CALL(r, throttle, handle, &bits) == NVML_OK) {
		d->throttle_known = true;
		d->throttle = bits;
	}
	/* Counter type 0 counts errors since the driver was loaded. */
	for (unsigned i = 0; i < NVML_ECC_TYPES; i++)
		if (CALL(r, ecc, handle, i, 0, &count) == NVML_OK)
			d->ecc_errors[i] = (double)count;
}

static double read_energy(struct nvml_reading *r, struct nvml_gpu *gpu)
{
	unsigned long long mj;

	if (gpu->energy_age == 0) {
		if (CALL(r, energy, gpu->handle, &mj) != NVML_OK)
			return NAN;
		gpu->energy_joules = (double)mj / 1e3;
	}
	gpu->energy_age = (gpu->energy_age + 1) % NVML_ENERGY_READINGS;
	return gpu->energy_joules;
}

static void read_numbers(struct nvml_reading *r, struct nvml_gpu *gpu, struct gpu_device *d)
{
	void *handle = gpu->handle;
	struct nvml_rates rates;
	uint64_t used, total;
	unsigned u = 0;

	if (CALL(r, utilization, handle, &rates) == NVML_OK) {
		d->value[GPU_UTILIZATION] = rates.gpu / 100.0;
		d->value[GPU_MEMORY_BUSY] = rates.memory / 100.0;
	}
	if (STEP(r, "memory", nvml_read_memory(r->nvml, handle, &used, &total)) == NVML_OK) {
		d->value[GPU_MEMORY_USED] = (double)used;
		d->value[GPU_MEMORY_TOTAL] = (double)total;
	}
	d->value[GPU_POWER] = scaled(CALL(r, power, handle, &u), &u, 1e-3);
	d->value[GPU_POWER_LIMIT] = scaled(CALL(r, power_limit, handle, &u), &u, 1e-3);
	d->value[GPU_TEMPERATURE] = scaled(CALL(r, temperature, handle, 0, &u), &u, 1);
	d->value[GPU_ENERGY] = read_energy(r, gpu);
	read_clocks(r, handle, d);
}

/* Lists the processes that use the GPU or slice. Returns false when the driver does not report
 * them. */
static bool list_users(struct nvml_reading *r, void *handle)
{
	static const char *const calls[] = {
		"compute processes", "graphics processes", "MPS processes"};
	bool known = false;

	for (unsigned kind = 0; kind < NVML_KINDS; kind++) {
		int code = STEP(r, calls[kind],
			nvml_list_processes(r->nvml, handle, (enum nvml_kind)kind, &r->processes));

		known = known || (code == NVML_OK && kind != NVML_MPS);
	}
	return known;
}

static void read_slice(struct nvml_reading *r, void *handle, size_t device)
{
	struct nvml_table *t = r->table;
	struct gpu_slice s = {.device = device, .used_bytes = NAN, .total_bytes = NAN};
	unsigned gpu_instance = 0, compute_instance = 0;
	uint64_t used, total;

	CALL(r, mig_gpu_instance, handle, &gpu_instance);
	CALL(r, mig_compute_instance, handle, &compute_instance);
	CALL(r, name, handle, s.name, sizeof s.name);
	CALL(r, uuid, handle, s.uuid, sizeof s.uuid);
	snprintf(s.id, sizeof s.id, "%u/%u", gpu_instance, compute_instance);
	if (STEP(r, "memory", nvml_read_memory(r->nvml, handle, &used, &total)) == NVML_OK) {
		s.used_bytes = (double)used;
		s.total_bytes = (double)total;
	}
	GROW(t->slice, t->n_slices, t->slices_room);
	t->slice[t->n_slices++] = s;
}

/* Reads the slices of a GPU and the processes of each slice. Some drivers report the processes of a
 * sliced GPU only by slice. */
static bool read_slices(struct nvml_reading *r, void *handle, size_t device)
{
	unsigned n = 0;
	bool known = true;

	if (CALL(r, mig_max, handle, &n) != NVML_OK)
		return false;
	for (unsigned i = 0; i < n && i < SLICES_MAX; i++) {
		void *slice = NULL;

		if (CALL(r, mig_device, handle, i, &slice) != NVML_OK)
			continue; /* there is no slice at this index */
		read_slice(r, slice, device);
		known = list_users(r, slice) && known;
	}
	return known;
}

static void read_users(struct nvml_reading *r, struct nvml_gpu *gpu, size_t device)
{
	struct nvml_table *t = r->table;
	struct gpu_device *d = &t->device[device];
	void *handle = gpu->handle;
	unsigned mig = 0, pending;
	uint64_t now_us = (uint64_t)now_read().wall.ns / 1000;

	r->processes.n = 0;
	if (CALL(r, mig_mode, handle, &mig, &pending) == NVML_OK && mig == 1) {
		d->processes_unknown = !read_slices(r, handle, device);
	} else {
		d->processes_unknown = !list_users(r, handle);
		if (r->processes.n)
			STEP(r, "process utilization",
				nvml_read_utilization(r->nvml, handle, now_us,
					&gpu->newest_sample_us, &r->processes));
	}
	if (d->processes_unknown)
		return;
	d->value[GPU_PROCESSES] = (double)r->processes.n;
	for (size_t i = 0; i < r->processes.n; i++) {
		const struct nvml_process *p = &r->processes.process[i];

		GROW(t->user, t->n_users, t->users_room);
		t->user[t->n_users++] =
			(struct nvml_user){device, p->pid, p->utilization, p->vram_bytes};
	}
}

static void read_gpu(struct nvml_reading *r, struct nvml_gpu *gpu, size_t device)
{
	struct nvml_table *t = r->table;
	struct gpu_device *d = &t->device[device];
	size_t slices = t->n_slices, users = t->n_users;

	*d = gpu->fixed;
	gpu_device_clear(d);
	atomic_store(&r->progress->device, (unsigned)device);
	r->lost = !gpu->handle;
	r->answered = false;
	read_numbers(r, gpu, d);
	read_users(r, gpu, device);
	bool up = r->answered && !r->lost;

	if (!up) { /* drop a partial reading */
		gpu_device_clear(d);
		d->processes_unknown = true;
		t->n_slices = slices;
		t->n_users = users;
	}
	d->value[GPU_UP] = up;
}

static void table_release(struct shared *shared)
{
	struct nvml_table *t = (struct nvml_table *)(void *)shared;

	free(t->device);
	free(t->slice);
	free(t->user);
	free(t);
}

void gpu_nvml_table_drop(const struct nvml_table *t)
{
	if (t)
		shared_drop((struct shared *)(uintptr_t)&t->shared);
}

struct nvml_table *nvml_read_table(const struct nvml *n, struct nvml_progress *progress,
	struct nvml_gpu *gpu, size_t n_gpus)
{
	struct nvml_table *t = xcalloc(1, sizeof *t);
	struct nvml_reading r = {.nvml = n, .progress = progress, .table = t};

	shared_init(&t->shared, table_release);
	t->device = xcalloc(n_gpus + 1, sizeof *t->device);
	t->n_devices = n_gpus;
	for (size_t i = 0; i < n_gpus; i++)
		read_gpu(&r, &gpu[i], i);
	nvml_processes_done(&r.processes);
	atomic_store(&progress->call, NULL);
	t->at = now_read().mono;
	return t;
}

/* Formats a PCI address as the kernel does: "0000:3b:00.0". */
static void pci_text(const struct nvml_pci *pci, char *out, size_t size)
{
	snprintf(out, size, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device);
}

int nvml_read_gpus(const struct nvml *n, struct nvml_progress *progress, struct nvml_gpu **ret,
	size_t *ret_n)
{
	struct nvml_reading r = {.nvml = n, .progress = progress};
	char version[sizeof((struct gpu_device *)0)->driver_version] = "";
	unsigned count = 0;
	int code = CALL(&r, count, &count);

	if (code != NVML_OK)
		return code;
	if (count > GPUS_MAX)
		count = GPUS_MAX;
	CALL(&r, driver_version, version, sizeof version);

	struct nvml_gpu *gpu = xcalloc(count + 1, sizeof *gpu);

	for (unsigned i = 0; i < count; i++) {
		struct gpu_device *d = &gpu[i].fixed;
		struct nvml_pci pci = {0};

		r.lost = false;
		atomic_store(&progress->device, i);
		snprintf(d->gpu, sizeof d->gpu, "%u", i);
		text_copy("nvidia", d->driver, sizeof d->driver);
		d->manufacturer = "NVIDIA";
		text_copy(version, d->driver_version, sizeof d->driver_version);
		if (CALL(&r, by_index, i, &gpu[i].handle) != NVML_OK) {
			gpu[i].handle = NULL;
			continue;
		}
		CALL(&r, name, gpu[i].handle, d->name, sizeof d->name);
		d->named = d->name[0];
		CALL(&r, uuid, gpu[i].handle, d->uuid, sizeof d->uuid);
		if (CALL(&r, pci, gpu[i].handle, &pci) == NVML_OK)
			pci_text(&pci, d->pci, sizeof d->pci);
	}
	*ret = gpu;
	*ret_n = count;
	return NVML_OK;
}
