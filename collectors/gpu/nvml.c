/* Loads NVIDIA's library and wraps the calls whose records differ between drivers. */
#include "collectors/gpu/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

/* ---- loading ---- */

static void *find_symbol(void *library, const char *const *names)
{
	void *found = NULL;

	for (size_t i = 0; names[i] && !found; i++)
		found = dlsym(library, names[i]);
	return found;
}

static const char *const list_names[NVML_KINDS] = {
	[NVML_COMPUTE] = "nvmlDeviceGetComputeRunningProcesses",
	[NVML_GRAPHICS] = "nvmlDeviceGetGraphicsRunningProcesses",
	[NVML_MPS] = "nvmlDeviceGetMPSComputeRunningProcesses",
};

/* dlsym returns a function as an object pointer. ISO C defines no cast from an object pointer to a
 * function pointer, so this macro copies the bytes. */
#define SET_FUNCTION(field, symbol)                                                                \
	do {                                                                                       \
		void *symbol_ = (symbol);                                                          \
		memcpy(&(field), &symbol_, sizeof(field));                                         \
	} while (0)

static void find_functions(struct nvml *n)
{
#define FIND(result, field, arguments, ...)                                                        \
	SET_FUNCTION(n->field, find_symbol(n->library, (const char *const[]){__VA_ARGS__, NULL}));
	NVML_FUNCTIONS(FIND)
#undef FIND
	static const char *const suffixes[NVML_LIST_VERSIONS] = {"_v3", "_v2", ""};

	for (size_t kind = 0; kind < NVML_KINDS; kind++)
		for (size_t v = 0; v < NVML_LIST_VERSIONS; v++) {
			char name[64];

			snprintf(name, sizeof name, "%s%s", list_names[kind], suffixes[v]);
			SET_FUNCTION(n->list[kind][v], dlsym(n->library, name));
		}
}

int nvml_open(struct nvml *ret, const char *library)
{
	struct nvml n = {.library = dlopen(library, RTLD_NOW | RTLD_NODELETE)};

	if (!n.library)
		return -ENOENT;
	find_functions(&n);
	if (!n.init || !n.shutdown || !n.count || !n.by_index) {
		dlclose(n.library);
		return -ENOENT;
	}
	*ret = n;
	return 0;
}

void nvml_close(struct nvml *n)
{
	if (n->library)
		dlclose(n->library);
	*n = (struct nvml){0};
}

const char *nvml_words(const struct nvml *n, int code)
{
	const char *words = n->error_string ? n->error_string(code) : NULL;

	return words ? words : "the library has no text for this code";
}

int nvml_read_memory(const struct nvml *n, void *device, uint64_t *ret_used, uint64_t *ret_total)
{
	struct nvml_memory_v2 v2 = {.version = sizeof v2 | 2U << 24};
	struct nvml_memory v1 = {0};

	if (n->memory_v2 && n->memory_v2(device, &v2) == NVML_OK) {
		*ret_used = v2.used;
		*ret_total = v2.total;
		return NVML_OK;
	}
	int code = n->memory ? n->memory(device, &v1) : NVML_NO_FUNCTION;

	if (code == NVML_OK) {
		*ret_used = v1.used;
		*ret_total = v1.total;
	}
	return code;
}

/* ---- processes ---- */

/* Sizes of the three record layouts. Each record begins with a pid and has the used bytes at offset
 * 8. */
#define RECORD_V1  16
#define RECORD     24
#define RECORD_535 32

/* Before a call, the buffer is filled with this byte. After the call, other bytes show how far the
 * driver wrote. A driver is unlikely to write a whole record of this byte. */
#define PATTERN 0xA5
/* The buffer has room for this many records more than the count that the library gets. If the
 * library writes too many records, the excess stays in the buffer and can be detected. */
#define SPARE 4
/* Largest pid: PID_MAX_LIMIT of the kernel (include/linux/threads.h). */
#define PID_MOST (4U << 20)

void nvml_processes_done(struct nvml_processes *p)
{
	free(p->process);
	free(p->buffer);
	*p = (struct nvml_processes){0};
}

static void add_process(struct nvml_processes *p, uint32_t pid, double vram_bytes)
{
	for (size_t i = 0; i < p->n; i++) {
		struct nvml_process *known = &p->process[i];

		if (known->pid != pid)
			continue;
		/* The driver may list one process twice, each time with all its memory. */
		if (isnan(known->vram_bytes) || vram_bytes > known->vram_bytes)
			known->vram_bytes = vram_bytes;
		return;
	}
	if (p->n >= NVML_PROCESSES_MAX)
		return;
	GROW(p->process, p->n, p->room);
	p->process[p->n++] =
		(struct nvml_process){.pid = pid, .vram_bytes = vram_bytes, .utilization = NAN};
}

/* Makes the buffer large enough for `records` records and fills it with PATTERN. */
static void prepare(struct nvml_processes *p, size_t records)
{
	size_t size = (records + SPARE) * RECORD_535;

	if (size > p->buffer_size) {
		p->buffer = xrealloc(p->buffer, size);
		p->buffer_size = size;
	}
	memset(p->buffer, PATTERN, p->buffer_size);
}

/* Calls `list` with a growing buffer, until all records fit. Sets *ret to the number of records. */
static int fetch_list(nvml_list_function *list, void *device, struct nvml_processes *p,
	unsigned *ret)
{
	unsigned room = 32;

	for (int tries = 0; tries < 4; tries++) {
		unsigned n = room;

		prepare(p, room);
		int code = list(device, &n, p->buffer);

		if (code == NVML_OK && n <= room) {
			*ret = n;
			return NVML_OK;
		}
		if (code == NVML_OK)
			return NVML_UNKNOWN;
		if (code != NVML_TOO_SMALL || n > NVML_PROCESSES_MAX)
			return code;
		/* Make more room than is needed now, because more processes may start before the
		 * next call. */
		room = (n > room ? n : room) + 32;
	}
	return NVML_TOO_SMALL;
}

static bool is_written(const struct nvml_processes *p, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < p->buffer_size; i++)
		if (p->buffer[i] != PATTERN)
			return true;
	return false;
}

static uint32_t record_pid(const unsigned char *record)
{
	uint32_t pid;

	memcpy(&pid, record, sizeof pid);
	return pid;
}

static bool all_are_pids(const struct nvml_processes *p, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t pid = record_pid(p->buffer + i * size);

		if (pid == 0 || pid > PID_MOST)
			return false;
	}
	return true;
}

/* Returns the size in bytes of one record, for a buffer with `n` records; 0 = unknown. */
static size_t record_size(const struct nvml_processes *p, size_t n)
{
	if (n < 2)
		return RECORD; /* a single record is at offset 0, so its size does not matter */
	bool past_short = is_written(p, n * RECORD, n * RECORD_535);
	bool past_long = is_written(p, n * RECORD_535, p->buffer_size);
	size_t size = past_short ? RECORD_535 : RECORD;

	/* If `past_long` is true, the driver has overwritten the whole buffer, so the written bytes
	 * do not show the size of a record. */
	return !past_long && all_are_pids(p, n, size) ? size : 0;
}

static void take_records(struct nvml_processes *p, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char *record = p->buffer + i * size;
		unsigned long long used;

		memcpy(&used, record + 8, sizeof used);
		if (record_pid(record))
			add_process(p, record_pid(record), used == UINT64_MAX ? NAN : (double)used);
	}
}

int nvml_list_processes(const struct nvml *n, void *device, enum nvml_kind kind,
	struct nvml_processes *p)
{
	int code = NVML_NO_FUNCTION;

	for (size_t v = 0; v < NVML_LIST_VERSIONS; v++) {
		nvml_list_function *list = n->list[kind][v];
		bool last_of_its_layout = v == 1 || (v == 0 && !n->list[kind][1]);
		unsigned found;

		if (!list)
			continue;
		code = fetch_list(list, device, p, &found);
		if (code == NVML_NO_FUNCTION)
			continue;
		if (code != NVML_OK)
			return code;
		size_t size = v == 2 ? RECORD_V1 : record_size(p, found);

		if (size == 0 && !last_of_its_layout)
			continue;
		take_records(p, found, size ? size : RECORD);
		return NVML_OK;
	}
	return code;
}

/* ---- utilization ---- */

/* Samples up to this many microseconds in the future are accepted, because the driver's clock may
 * be ahead. An H100 with driver 580 is 12 ms ahead. */
#define AHEAD_US 1000000

/* Sets the utilization of each process in `p` from the newest sample of that process. Some drivers
 * return only one sample for each process: the mean since `since_us`. */
static void take_samples(const struct nvml_sample *sample, size_t n, uint64_t since_us,
	struct nvml_processes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct nvml_process *process = &p->process[i];
		uint64_t newest = since_us;

		process->utilization = 0; /* no sample means no work on the GPU */
		for (size_t k = 0; k < n; k++) {
			/* The library sometimes returns values above 100 (nvtop issue 110). */
			if (sample[k].pid != process->pid || sample[k].timestamp_us < newest ||
				sample[k].sm > 100)
				continue;
			newest = sample[k].timestamp_us;
			process->utilization = sample[k].sm / 100.0;
		}
	}
}

/* Gets the samples after `since_us`. Do not pass 0, because the driver would then search all
 * samples that it keeps. The caller frees *ret. It is no error if there is no sample. */
static int fetch_samples(const struct nvml *n, void *device, uint64_t since_us,
	struct nvml_sample **ret, unsigned *ret_n)
{
	unsigned room = 128;

	for (int tries = 0; tries < 4; tries++) {
		unsigned found = room;
		struct nvml_sample *sample = xcalloc(room, sizeof *sample);
		int code = n->process_samples(device, sample, &found, since_us);

		if (code == NVML_OK || code == NVML_NOT_FOUND) {
			*ret = sample;
			*ret_n = code == NVML_OK && found <= room ? found : 0;
			return NVML_OK;
		}
		free(sample);
		if (code != NVML_TOO_SMALL || found > NVML_PROCESSES_MAX)
			return code;
		room = (found > room ? found : room) + 128;
	}
	return NVML_TOO_SMALL;
}

int nvml_read_utilization(const struct nvml *n, void *device, uint64_t now_us, uint64_t *newest_us,
	struct nvml_processes *p)
{
	uint64_t window = now_us > NVML_SAMPLES_WINDOW_US ? now_us - NVML_SAMPLES_WINDOW_US : 1;
	/* If the clock was set back, the time of the newest sample is far in the future, and is not
	 * used. */
	bool is_recent = *newest_us > window && *newest_us <= now_us + AHEAD_US;
	uint64_t since = is_recent ? *newest_us : window, newest = is_recent ? *newest_us : 0;
	AUTO(freep) struct nvml_sample *sample = NULL;
	unsigned found;

	if (!n->process_samples)
		return NVML_NO_FUNCTION;
	int code = fetch_samples(n, device, since, &sample, &found);

	if (code == NVML_OK && found == 0 && is_recent) {
		since = window;
		free(sample);
		sample = NULL;
		code = fetch_samples(n, device, since, &sample, &found);
	}
	if (code != NVML_OK)
		return code;
	take_samples(sample, found, since, p);
	for (unsigned i = 0; i < found; i++)
		if (sample[i].timestamp_us > newest)
			newest = sample[i].timestamp_us;
	*newest_us = newest;
	return NVML_OK;
}
