/* NVIDIA's management library (NVML), loaded at run time, so that the build needs no file of
 * NVIDIA. The declarations follow the API reference (https://docs.nvidia.com/deploy/nvml-api/).
 *
 * A call may take seconds or never return when a driver is in trouble. Only the thread of
 * collectors/gpu/nvml_thread.c makes calls. */
#ifndef COLLECTORS_GPU_NVML_H
#define COLLECTORS_GPU_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the library in driver packages and container runtimes. */
#define NVML_LIBRARY "libnvidia-ml.so.1"

enum nvml_code { /* nvmlReturn_t; other values are possible */
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_TOO_SMALL = 7,
	NVML_NO_DRIVER = 9,
	NVML_NO_FUNCTION = 13, /* this program also uses it when the library lacks a function */
	NVML_LOST = 15,        /* the GPU fell off the bus or is unreachable */
	NVML_UNKNOWN = 999,
};

enum nvml_clock {
	NVML_CLOCK_GRAPHICS,
	NVML_CLOCK_SM,
	NVML_CLOCK_MEMORY,
	NVML_CLOCK_VIDEO,
	NVML_CLOCKS
};
enum nvml_ecc { NVML_ECC_CORRECTED, NVML_ECC_UNCORRECTED, NVML_ECC_TYPES };
enum nvml_kind { NVML_COMPUTE, NVML_GRAPHICS, NVML_MPS, NVML_KINDS };

struct nvml_pci {
	char legacy_bus_id[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32]; /* "00000000:3B:00.0" */
};
_Static_assert(sizeof(struct nvml_pci) == 68, "as the library has it");

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version; /* sizeof(struct nvml_memory_v2) | 2 << 24 */
	unsigned long long total, reserved, free, used;
};
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "as the library has it");

struct nvml_rates { /* busy share of the last sample period, per cent */
	unsigned gpu, memory;
};

struct nvml_sample { /* one sample of a process */
	unsigned pid;
	unsigned long long timestamp_us;
	unsigned sm, memory, encoder, decoder; /* busy time in per cent */
};
_Static_assert(sizeof(struct nvml_sample) == 32, "as the library has it");

typedef int nvml_list_function(void *device, unsigned *count, void *records);

/* One row for each function: X(result type, member of struct nvml, arguments, names of the
 * function, the newest first). */
/* clang-format off */
#define NVML_FUNCTIONS(X) \
X(const char *, error_string, (int code), "nvmlErrorString") \
X(int, init, (void), "nvmlInit_v2", "nvmlInit") \
X(int, shutdown, (void), "nvmlShutdown") \
X(int, driver_version, (char *text, unsigned size), "nvmlSystemGetDriverVersion") \
X(int, count, (unsigned *ret), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") \
X(int, by_index, (unsigned index, void **ret), "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") \
X(int, name, (void *device, char *text, unsigned size), "nvmlDeviceGetName") \
X(int, uuid, (void *device, char *text, unsigned size), "nvmlDeviceGetUUID") \
X(int, pci, (void *device, struct nvml_pci *ret), "nvmlDeviceGetPciInfo_v3") \
X(int, memory_v2, (void *device, struct nvml_memory_v2 *ret), "nvmlDeviceGetMemoryInfo_v2") \
X(int, memory, (void *device, struct nvml_memory *ret), "nvmlDeviceGetMemoryInfo") \
X(int, utilization, (void *device, struct nvml_rates *ret), "nvmlDeviceGetUtilizationRates") \
X(int, power, (void *device, unsigned *ret_mw), "nvmlDeviceGetPowerUsage") \
X(int, power_limit, (void *device, unsigned *ret_mw), "nvmlDeviceGetEnforcedPowerLimit") \
X(int, energy, (void *device, unsigned long long *ret_mj), "nvmlDeviceGetTotalEnergyConsumption") \
X(int, temperature, (void *device, unsigned sensor, unsigned *ret), "nvmlDeviceGetTemperature") \
X(int, clock, (void *device, unsigned type, unsigned *ret_mhz), "nvmlDeviceGetClockInfo") \
X(int, throttle, (void *device, unsigned long long *ret), \
  "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons") \
X(int, ecc, (void *device, unsigned type, unsigned counter, unsigned long long *ret), "nvmlDeviceGetTotalEccErrors") \
X(int, process_samples, (void *device, struct nvml_sample *samples, unsigned *count, unsigned long long since_us), \
  "nvmlDeviceGetProcessUtilization") \
X(int, mig_mode, (void *device, unsigned *ret_now, unsigned *ret_pending), "nvmlDeviceGetMigMode") \
X(int, mig_max, (void *device, unsigned *ret), "nvmlDeviceGetMaxMigDeviceCount") \
X(int, mig_device, (void *device, unsigned index, void **ret), "nvmlDeviceGetMigDeviceHandleByIndex") \
X(int, mig_gpu_instance, (void *device, unsigned *ret), "nvmlDeviceGetGpuInstanceId") \
X(int, mig_compute_instance, (void *device, unsigned *ret), "nvmlDeviceGetComputeInstanceId")
/* clang-format on */

#define NVML_LIST_VERSIONS 3 /* a function may have the suffix _v3, _v2 or none */

struct nvml { /* a function that the library lacks is NULL */
	void *library;
#define NVML_FIELD(result, field, arguments, ...) result(*field) arguments;
	NVML_FUNCTIONS(NVML_FIELD)
#undef NVML_FIELD
	nvml_list_function *list[NVML_KINDS][NVML_LIST_VERSIONS];
};

/* Loads the library but does not initialise it. Returns -ENOENT when the library or a required
 * function is missing. */
int nvml_open(struct nvml *ret, const char *library);
void nvml_close(struct nvml *n);

/* Returns the library's text for an error code. */
const char *nvml_words(const struct nvml *n, int code);

/* Reads the memory of a GPU in bytes. Used memory excludes the driver's reserve if the library
 * reports the reserve separately. */
int nvml_read_memory(const struct nvml *n, void *device, uint64_t *ret_used, uint64_t *ret_total);

struct nvml_process {
	uint32_t pid;       /* the driver's pid: see collectors/gpu/nvml_pid.h */
	double vram_bytes;  /* NaN = unknown */
	double utilization; /* 0 to 1; NaN = unknown */
};

/* Maximum number of processes of one GPU. */
#define NVML_PROCESSES_MAX 4096

struct nvml_processes {
	size_t n, room;
	struct nvml_process *process;
	size_t buffer_size; /* bytes; the next call reuses the buffer */
	unsigned char *buffer;
};

void nvml_processes_done(struct nvml_processes *p);

/* Adds to `p` the processes that have a context of this kind on the device, each pid once.
 *
 * The library writes an array of records, whose size may differ from the size in the API. For
 * example, some drivers of the 535 series wrote 32 bytes instead of 24 through the _v3 function.
 * Therefore the size is found from the bytes that were written. If the size remains unclear, the
 * _v2 function is called. If the size is unclear there too, 24 bytes are assumed. */
int nvml_list_processes(const struct nvml *n, void *device, enum nvml_kind kind,
	struct nvml_processes *p);

/* Maximum age of the process samples that are read, in microseconds. Drivers take a sample of each
 * GPU at least every second (an H100 with driver 580: every 200 ms). They keep samples of many
 * seconds, which are slow to search. */
#define NVML_SAMPLES_WINDOW_US 2500000

/* Sets the utilization of each process in `p` from its newest sample; 0 = no sample, so the process
 * did not work on the device. *newest_us is the time of the newest sample of the previous call; 0
 * in the first call. Reads only samples after *newest_us, and sets *newest_us for the next call.
 *
 * Reads all samples of the last NVML_SAMPLES_WINDOW_US if *newest_us is outside this window, or if
 * there is no newer sample. `now_us` and *newest_us are in microseconds since the Unix epoch. */
int nvml_read_utilization(const struct nvml *n, void *device, uint64_t now_us, uint64_t *newest_us,
	struct nvml_processes *p);

#endif
