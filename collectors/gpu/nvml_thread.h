/* A thread that reads NVIDIA GPUs and their processes. If a call of NVML hangs or fails, only the
 * GPU numbers have a gap. Other threads never wait for NVML.
 *
 * The thread publishes a table about every 1 to 5 s, shortly before a tick. It learns the times of
 * the ticks from the calls of gpu_nvml_table. Any thread may take the latest table at any time. */
#ifndef COLLECTORS_GPU_NVML_THREAD_H
#define COLLECTORS_GPU_NVML_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "collectors/base/latest.h"
#include "collectors/gpu/device.h"
#include "collectors/gpu/nvml.h"

/* Maximum age of a table in seconds. If the latest table is older, the caller gets an error. */
#define NVML_STALE_SECONDS 15

struct nvml_user {
	size_t device; /* index of the GPU in the table's devices */
	uint32_t pid;  /* the driver's pid: see collectors/gpu/nvml_pid.h */
	double utilization, vram_bytes;
};

struct nvml_table { /* immutable once published */
	struct shared shared;
	struct mono at;
	size_t n_devices, n_slices, n_users, slices_room, users_room;
	struct gpu_device *device;
	struct gpu_slice *slice;
	struct nvml_user *user;
};

struct gpu_nvml;

/* Loads the library and starts the thread. Returns -ENOENT when there is no such library. */
int gpu_nvml_start(struct gpu_nvml **ret, const char *library, struct err *e);

/* Gets the latest table. The caller releases it with gpu_nvml_table_drop. Errors:
 * - -ENOENT: there is no driver or no GPU.
 * - -EINPROGRESS: there is no table yet, and the thread started at most NVML_STALE_SECONDS ago.
 * - Any other code comes with a message: NVML does not answer, or answers with an error. */
int gpu_nvml_table(struct gpu_nvml *w, struct mono now, const struct nvml_table **ret,
	struct err *e);
void gpu_nvml_table_drop(const struct nvml_table *t); /* NULL does nothing */

/* Requests a new table and waits for it. Returns false after `seconds`. Returns true without a new
 * table if the thread has ended. */
bool gpu_nvml_wait(struct gpu_nvml *w, double seconds);

/* Stops the thread. Returns within about 1 s, even if a call of NVML hangs. In that case the thread
 * itself frees `w` when the call returns. */
void gpu_nvml_stop(struct gpu_nvml *w);

/* Returns how many seconds the thread must wait after a reading, so that the next reading ends
 * shortly before a tick. `spent`: duration of the last reading. `since_tick`: time since the last
 * tick. `period`: time between two ticks. All are in seconds. */
double nvml_pause(double spent, double since_tick, double period);

/* ---- collectors/gpu/nvml_read.c: used by the thread ---- */

/* The call in progress, for the message about a call that hangs. */
struct nvml_progress {
	_Atomic(const char *) call;
	atomic_uint device;
};

/* The energy counter is read once in this many readings. On an H100 with driver 580, the call keeps
 * a CPU busy for 4 ms, longer than all other calls together. */
#define NVML_ENERGY_READINGS 5

struct nvml_gpu {
	void *handle;              /* NULL: the GPU was already lost when the GPUs were listed */
	struct gpu_device fixed;   /* names and addresses only, no numbers */
	uint64_t newest_sample_us; /* see nvml_read_utilization */
	unsigned energy_age;       /* readings since the energy was read; 0 = read it now */
	double energy_joules;
};

/* Lists the GPUs of an initialised library. The caller frees *ret. Returns an enum nvml_code. */
int nvml_read_gpus(const struct nvml *n, struct nvml_progress *progress, struct nvml_gpu **ret,
	size_t *ret_n);

/* Reads all numbers of all GPUs. */
struct nvml_table *nvml_read_table(const struct nvml *n, struct nvml_progress *progress,
	struct nvml_gpu *gpu, size_t n_gpus);

#endif
