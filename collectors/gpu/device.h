/* One GPU, described in the same way whatever its source is (NVML or sysfs). Also the sum of the
 * GPU use of a run. */
#ifndef COLLECTORS_GPU_DEVICE_H
#define COLLECTORS_GPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/metric.h"
#include "collectors/runs.h"
#include "collectors/gpu/nvml.h"

/* Metrics with one number per GPU. They are the first rows of the collector's metrics. */
/* clang-format off */
#define GPU_VALUES(X) \
X(GPU_UP, .name = "rightsize_gpu_up", .labels = {"gpu"}, \
  .help = "1 while the driver answers for the GPU; 0 when it was lost, and all else of it is unknown") \
X(GPU_UTILIZATION, .name = "rightsize_gpu_utilization_ratio", .unit = "ratio", .labels = {"gpu"}, \
  .fold = FOLD_VALUE, .column = "system_gpu_usage", \
  .help = "Part of the driver's last sample period in which the GPU had work; for history, summed over GPUs") \
X(GPU_MEMORY_BUSY, .name = "rightsize_gpu_memory_busy_ratio", .unit = "ratio", .labels = {"gpu"}, \
  .help = "Part of the driver's last sample period in which the GPU's memory was read or written") \
X(GPU_MEMORY_USED, .name = "rightsize_gpu_memory_used_bytes", .unit = "bytes", .labels = {"gpu"}, \
  .fold = FOLD_VALUE, .column = "system_gpu_vram_bytes", \
  .help = "GPU memory in use by all processes; for history, summed over GPUs") \
X(GPU_MEMORY_TOTAL, .name = "rightsize_gpu_memory_total_bytes", .unit = "bytes", .labels = {"gpu"}, \
  .help = "GPU memory that there is") \
X(GPU_POWER, .name = "rightsize_gpu_power_watts", .unit = "watts", .labels = {"gpu"}, \
  .help = "Power that the GPU's board draws") \
X(GPU_POWER_LIMIT, .name = "rightsize_gpu_power_limit_watts", .unit = "watts", .labels = {"gpu"}, \
  .help = "Power at which the GPU throttles itself") \
X(GPU_ENERGY, .name = "rightsize_gpu_energy_joules", .unit = "joules", .labels = {"gpu"}, .type = METRIC_COUNTER, \
  .help = "Energy that the GPU used since its driver was loaded, read about every 5 s") \
X(GPU_TEMPERATURE, .name = "rightsize_gpu_temperature_celsius", .unit = "celsius", .labels = {"gpu"}, \
  .help = "Temperature of the GPU's chip") \
X(GPU_PROCESSES, .name = "rightsize_gpu_processes", .labels = {"gpu"}, \
  .help = "Processes that hold a compute or graphics context on the GPU, as NVML lists them")
/* clang-format on */

enum gpu_value { GPU_VALUES(METRIC_ID) GPU_N_VALUES };

struct gpu_device {
	char gpu[16]; /* label: the number in nvidia-smi, or "card0" */
	char name[GPU_NAME_MAX], uuid[96], pci[32], driver[32],
		driver_version[80]; /* "" = unknown */
	const char *manufacturer;   /* "NVIDIA", "AMD" or "Intel"; NULL = unknown */
	bool named;                 /* `name` is the name of the product, not its PCI id */
	double value[GPU_N_VALUES];
	double clock_hz[NVML_CLOCKS];
	double ecc_errors[NVML_ECC_TYPES];
	bool throttle_known;
	uint64_t throttle;      /* bits of throttle_reasons in gpu.c */
	bool processes_unknown; /* the driver does not list the GPU's processes */
};

/* A slice of a GPU (NVIDIA's MIG). */
struct gpu_slice {
	size_t device; /* index of the GPU that this is a slice of */
	char id[24];   /* "GPU instance/compute instance" */
	char name[GPU_NAME_MAX], uuid[96];
	double used_bytes, total_bytes;
};

void gpu_device_clear(struct gpu_device *d);

/* Returns the sum of two values. If one value is NaN (unknown), returns the other value. */
double gpu_add_known(double a, double b);

/* Use of one GPU by a run. */
struct gpu_share {
	bool used;                      /* the run had a context or did work on this GPU */
	double utilization, vram_bytes; /* NaN = unknown */
};

/* A DRM client: one opening of a GPU's device file. Several descriptors of a process may belong to
 * the same client, and child processes may share the client. */
struct gpu_client {
	size_t device;
	uint64_t id;
};

/* Use of all GPUs by the processes of a run. It is reset for each run, but keeps its memory. */
struct gpu_sum {
	size_t n_shares, shares_room;
	struct gpu_share *share; /* indexed by device */
	bool unknown;            /* the use by some process is unknown */
	size_t n_clients, clients_room;
	struct gpu_client *client; /* clients that are already counted */
};

/* The manufacturer and the model of the GPUs that a run has used so far. Zeroed memory = it has used
 * none. A text is "" if it is unknown for one of these GPUs, or differs between them. */
struct gpu_kind {
	bool used;
	char manufacturer[GPU_MANUFACTURER_MAX], model[GPU_NAME_MAX];
};
void gpu_kind_add(struct gpu_kind *k, const struct gpu_device *d);

void gpu_sum_add(struct gpu_sum *s, size_t device, double utilization, double vram_bytes);
/* Returns true when the client is new to the sum, and remembers the client. */
bool gpu_sum_first(struct gpu_sum *s, size_t device, uint64_t client_id);
void gpu_sum_reset(struct gpu_sum *s, size_t n_devices);
void gpu_sum_done(struct gpu_sum *s);

#endif
