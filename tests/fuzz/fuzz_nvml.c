/* The input is the answers of NVIDIA's library, call after call: a code, the length written, and
 * the data. The layout of a record and the counts are arbitrary, and functions may be missing. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/gpu/nvml_thread.h"
#include "tests/fuzz/fuzz.h"

static struct {
	const uint8_t *data;
	size_t size;
} input;

static unsigned char next_byte(void)
{
	if (!input.size)
		return 0;
	input.size--;
	return *input.data++;
}

/* Copies up to `len` bytes of the remaining input to `out`, and zeroes the rest. */
static void next_bytes(void *out, size_t len)
{
	size_t n = len < input.size ? len : input.size;

	memset(out, 0, len);
	if (n)
		memcpy(out, input.data, n);
	input.data += n;
	input.size -= n;
}

/* Returns NVML_OK for most bytes, so that a short input is enough for many calls. */
static int next_code(void)
{
	static const int codes[] = {NVML_NOT_SUPPORTED, NVML_NO_PERMISSION, NVML_NOT_FOUND,
		NVML_TOO_SMALL, NVML_NO_FUNCTION, NVML_LOST, NVML_UNKNOWN, -7};
	unsigned char b = next_byte();

	return b < 0xf0 ? NVML_OK : codes[b & 7];
}

static int text(char *out, unsigned size)
{
	int code = next_code();

	next_bytes(out, size < 8 ? size : 8);
	out[size < 8 ? size - 1 : 7] = '\0';
	return code;
}

static int give(void *ret, size_t len)
{
	int code = next_code();

	next_bytes(ret, len);
	return code;
}

/* clang-format off */
static const char *error_string(int code) { return code & 1 ? "a word" : NULL; }
static int init(void) { return NVML_OK; }
static int shut(void) { return NVML_OK; }
static int version(char *out, unsigned size) { return text(out, size); }
static int count(unsigned *ret) { *ret = next_byte(); return next_code(); }
static int by_index(unsigned i, void **ret) { *ret = &input; (void)i; return next_code(); }
static int name(void *d, char *out, unsigned size) { assert(d); return text(out, size); }
static int pci(void *d, struct nvml_pci *ret) { assert(d); return give(ret, sizeof *ret); }
static int memory_v2(void *d, struct nvml_memory_v2 *ret) { assert(d); return give(ret, sizeof *ret); }
static int memory(void *d, struct nvml_memory *ret) { assert(d); return give(ret, sizeof *ret); }
static int utilization(void *d, struct nvml_rates *ret) { assert(d); return give(ret, sizeof *ret); }
static int number(void *d, unsigned *ret) { assert(d); return give(ret, sizeof *ret); }
static int small(void *d, unsigned *ret) { assert(d); *ret = next_byte(); return next_code(); }
static int big(void *d, unsigned long long *ret) { assert(d); return give(ret, sizeof *ret); }
static int typed(void *d, unsigned type, unsigned *ret) { (void)type; return number(d, ret); }
static int ecc(void *d, unsigned type, unsigned which, unsigned long long *ret) { (void)type; (void)which; return big(d, ret); }
static int mode(void *d, unsigned *now, unsigned *pending) { assert(d); *now = next_byte() & 1; *pending = 0; return next_code(); }
static int slice(void *d, unsigned i, void **ret) { assert(d); (void)i; *ret = &input; return next_code(); }
/* clang-format on */

/* Answers a call for a list of records of `size` bytes each. Sets `*count_` to a length from the
 * input, and writes no more records than the caller's buffer has room for. */
static int records(void *out, unsigned *count_, size_t size, size_t cleared)
{
	unsigned room = *count_, n = next_byte();
	int code = next_code();

	*count_ = next_byte() < 0x10 ? n * 257 : n;
	if (code != NVML_OK || *count_ > room)
		return code;
	if (next_byte() & 1)
		memset(out, 0, cleared);
	for (unsigned i = 0; i < n && i < room; i++)
		next_bytes((unsigned char *)out + i * size, size);
	return code;
}

static int samples(void *d, struct nvml_sample *out, unsigned *n, unsigned long long since)
{
	assert(d && since);
	return records(out, n, sizeof *out, *n * sizeof *out);
}

static int list(void *d, unsigned *n, void *out)
{
	static const size_t sizes[] = {16, 24, 24, 32};

	assert(d);
	return records(out, n, sizes[next_byte() & 3], (size_t)*n * 24);
}

static int short_list(void *d, unsigned *n, void *out)
{
	assert(d);
	return records(out, n, 16, 0);
}

static void check(const struct nvml_table *t)
{
	for (size_t i = 0; i < t->n_slices; i++)
		assert(t->slice[i].device < t->n_devices);
	for (size_t i = 0; i < t->n_users; i++) {
		assert(t->user[i].device < t->n_devices && t->user[i].pid != 0);
		assert(!(t->user[i].utilization < 0) && !(t->user[i].utilization > 1));
	}
	for (size_t i = 0; i < t->n_devices; i++)
		assert(!isnan(t->device[i].value[GPU_UP]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvml n = {.error_string = error_string,
		.init = init,
		.shutdown = shut,
		.driver_version = version,
		.count = count,
		.by_index = by_index,
		.name = name,
		.uuid = name,
		.pci = pci,
		.memory_v2 = memory_v2,
		.memory = memory,
		.utilization = utilization,
		.power = number,
		.power_limit = number,
		.energy = big,
		.temperature = typed,
		.clock = typed,
		.throttle = big,
		.ecc = ecc,
		.process_samples = samples,
		.mig_mode = mode,
		.mig_max = small,
		.mig_device = slice,
		.mig_gpu_instance = number,
		.mig_compute_instance = number};
	struct nvml_progress progress = {.call = NULL};
	struct nvml_gpu *gpu = NULL;
	size_t n_gpus = 0;

	input.data = data;
	input.size = size;
	unsigned char missing = next_byte();

	for (unsigned kind = 0; kind < NVML_KINDS; kind++) {
		n.list[kind][0] = missing & 1 ? NULL : list;
		n.list[kind][1] = missing & 2 ? NULL : list;
		n.list[kind][2] = missing & 4 ? NULL : short_list;
	}
	if (missing & 8)
		n.memory_v2 = NULL;
	if (missing & 16)
		n.process_samples = NULL;
	if (missing & 32)
		n.mig_mode = NULL;
	assert(nvml_words(&n, missing));
	if (nvml_read_gpus(&n, &progress, &gpu, &n_gpus) != NVML_OK) {
		assert(!gpu);
		return 0;
	}
	struct nvml_table *t = nvml_read_table(&n, &progress, gpu, n_gpus);

	assert(t->n_devices == n_gpus);
	check(t);
	gpu_nvml_table_drop(t);
	free(gpu);
	return 0;
}
