/* A simulated NVML. It is built twice: with FAKE_NVML_OLD it behaves like a very old driver. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/fake_nvml_play.h"

/* NVIDIA's header would declare these functions, but that header is not used here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define GPUS_MAX 16
#define SLICES   2
#define MIB      1048576ULL

static struct device devices[GPUS_MAX][SLICES + 1];

#define ENTER(d)                                                                                   \
	int code_ = fake_enter(__func__, (d));                                                     \
	if (code_)                                                                                 \
	return fake_leave(code_)

static bool is_split(const struct device *d)
{
	return d->slice < 0 && d->gpu == fake_number("mig", -1);
}

static int start(const char *name)
{
	fake_read_environment();
	int code = fake_enter(name, NULL);

	for (int i = 0; i < GPUS_MAX; i++)
		for (int k = 0; k <= SLICES; k++)
			devices[i][k] = (struct device){i, k - 1};
	return fake_leave(code ? code : fake_number("init", 0));
}

int nvmlInit(void)
{
	return start(__func__);
}

int nvmlShutdown(void)
{
	ENTER(NULL);
	return fake_leave(0);
}

const char *nvmlErrorString(int code)
{
	return code == 9  ? "Driver Not Loaded" :
	       code == 18 ? "Driver/library version mismatch" :
			    "Error";
}

int nvmlDeviceGetCount(unsigned *ret)
{
	ENTER(NULL);
	*ret = (unsigned)fake_number("gpus", 1);
	return fake_leave(0);
}

int nvmlDeviceGetHandleByIndex(unsigned index, void **ret)
{
	ENTER(NULL);
	*ret = &devices[index][0];
	return fake_leave(0);
}

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
	const struct device *d = device;

	ENTER(d);
	snprintf(text, size, "Fake GPU %d%s", d->gpu, d->slice < 0 ? "" : " MIG 1g.10gb");
	return fake_leave(0);
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	const struct device *d = device;

	ENTER(d);
	snprintf(text, size, "%s-fake-%d-%d", d->slice < 0 ? "GPU" : "MIG", d->gpu, d->slice);
	return fake_leave(0);
}

/* A GPU has 80 GiB of memory, and a slice has 10 GiB. The first GPU or slice uses 1 GiB, the second
 * 2 GiB, and so on. */
static unsigned long long used_bytes(const struct device *d)
{
	return (unsigned long long)((d->slice < 0 ? d->gpu : d->slice) + 1) * 1024 * MIB;
}

static unsigned long long total_bytes(const struct device *d)
{
	return (d->slice < 0 ? 80ULL : 10ULL) * 1024 * MIB;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *ret)
{
	const struct device *d = device;

	ENTER(d);
	ret[0] = total_bytes(d);
	ret[1] = total_bytes(d) - used_bytes(d) - 512 * MIB;
	ret[2] = used_bytes(d) + 512 * MIB; /* includes the driver's own memory */
	return fake_leave(0);
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned *ret)
{
	const struct device *d = device;

	ENTER(d);
	if (is_split(d) || d->slice >= 0)
		return fake_leave(3);
	ret[0] = (unsigned)d->gpu * 10 + 5;
	ret[1] = (unsigned)d->gpu;
	return fake_leave(0);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *ret)
{
	const struct device *d = device;

	ENTER(d);
	*ret = 100500 + (unsigned)d->gpu;
	return fake_leave(0);
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *ret)
{
	const struct device *d = device;

	ENTER(d);
	*ret = 40 + (unsigned)d->gpu + sensor * 100;
	return fake_leave(0);
}

/* ---- processes ---- */

static void write_record(unsigned char *at, const struct process *p, size_t size)
{
	uint64_t used = p->mib ? p->mib * MIB : UINT64_MAX, protected = 0;
	uint32_t none = UINT32_MAX;

	memcpy(at, &p->pid, sizeof p->pid);
	memcpy(at + 8, &used, sizeof used);
	if (size < 24)
		return;
	memcpy(at + 16, &none, sizeof none);
	memcpy(at + 20, &none, sizeof none);
	if (size == 32)
		memcpy(at + 24, &protected, sizeof protected);
}

static int list(const char *name, char kind, void *device, unsigned *count, void *records,
	size_t size)
{
	const struct device *d = device;
	int code = fake_enter(name, d);
	struct process p;
	unsigned n = 0, room = *count;

	if (code)
		return fake_leave(code);
	if (is_split(d))
		return fake_leave(4);
	for (const char *at = fake_value("processes"); fake_next_process(&at, &p);)
		n += p.gpu == d->gpu && p.slice == d->slice && p.kind == kind;
	*count = n;
	if (n > room)
		return fake_leave(7);
	if (size == 0) { /* _v3: the scenario sets the size */
		size = fake_value_is("records", "32") ? 32 : 24;
		if (fake_value_is("records", "cleared"))
			memset(records, 0, (size_t)room * 32);
	}
	unsigned char *at = records;

	for (const char *text = fake_value("processes"); fake_next_process(&text, &p);)
		if (p.gpu == d->gpu && p.slice == d->slice && p.kind == kind) {
			write_record(at, &p, size);
			at += size;
		}
	return fake_leave(0);
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *records)
{
	return list(__func__, 'c', device, count, records, 16);
}

int nvmlDeviceGetGraphicsRunningProcesses(void *device, unsigned *count, void *records)
{
	return list(__func__, 'g', device, count, records, 16);
}

#ifndef FAKE_NVML_OLD

struct pci {
	char legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct sample {
	unsigned pid;
	unsigned long long at_us;
	unsigned sm, memory, encoder, decoder;
};

int nvmlInit_v2(void)
{
	return start(__func__);
}

int nvmlDeviceGetCount_v2(unsigned *ret)
{
	return nvmlDeviceGetCount(ret);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
	return nvmlDeviceGetHandleByIndex(index, ret);
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	ENTER(NULL);
	snprintf(text, size, "999.10");
	return fake_leave(0);
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *ret)
{
	const struct device *d = device;

	ENTER(d);
	*ret = (struct pci){.domain = 0, .bus = 0x3b + (uint32_t)d->gpu};
	return fake_leave(0);
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *ret)
{
	const struct device *d = device;

	ENTER(d);
	if (ret->version != 0x2000028)
		return fake_leave(25);
	ret->total = total_bytes(d);
	ret->reserved = 512 * MIB;
	ret->used = used_bytes(d);
	ret->free = ret->total - ret->used - ret->reserved;
	return fake_leave(0);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *ret)
{
	ENTER(device);
	*ret = 700000;
	return fake_leave(0);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret)
{
	ENTER(device);
	*ret = 123456789;
	return fake_leave(0);
}

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *ret)
{
	ENTER(device);
	*ret = 1000 + type;
	return fake_leave(0);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret)
{
	const struct device *d = device;

	ENTER(d);
	*ret = d->gpu == 0 ? 0x44 : 0x01;
	return fake_leave(0);
}

int nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned counter,
	unsigned long long *ret)
{
	const struct device *d = device;

	ENTER(d);
	if (counter != 0)
		return fake_leave(2);
	*ret = type == 0 && d->gpu == 0 ? 2 : 0;
	return fake_leave(0);
}

/* Returns the mean of each process over the samples after `since`. */
static int means_of_samples(struct sample *ret, unsigned *count, unsigned long long since)
{
	unsigned n, in_window = 0, found = 0;
	const struct taken_sample *taken = fake_samples(&n);

	for (unsigned i = 0; i < n; i++) {
		unsigned k = 0;

		if (taken[i].at_us <= since)
			continue;
		in_window++;
		while (k < found && ret[k].pid != taken[i].pid)
			k++;
		if (k == found && found++ == *count)
			return 7;
		if (k == found - 1 && ret[k].pid != taken[i].pid)
			ret[k] = (struct sample){.pid = taken[i].pid};
		ret[k].sm += taken[i].percent;
		ret[k].at_us = taken[i].at_us;
	}
	for (unsigned k = 0; k < found; k++)
		ret[k].sm /= in_window;
	*count = found;
	return found ? 0 : 6;
}

/* If the test has added no sample, each process has a valid, an invalid and an old sample, in this
 * order. */
int nvmlDeviceGetProcessUtilization(void *device, struct sample *samples, unsigned *count,
	unsigned long long since)
{
	const struct device *d = device;
	struct process p;
	unsigned n = 0, room = *count;

	ENTER(d);
	if (is_split(d) || d->slice >= 0)
		return fake_leave(3);
	if (since == 0)
		return fake_leave(999); /* a caller must never pass 0 */
	fake_samples(&n);
	if (n)
		return fake_leave(means_of_samples(samples, count, since));
	n = 0;
	for (const char *at = fake_value("processes"); fake_next_process(&at, &p);)
		n += p.gpu == d->gpu && p.percent ? 3 : 0;
	*count = n;
	if (n == 0)
		return fake_leave(6);
	if (n > room)
		return fake_leave(7);
	n = 0;
	for (const char *at = fake_value("processes"); fake_next_process(&at, &p);)
		if (p.gpu == d->gpu && p.percent) {
			samples[n++] =
				(struct sample){.pid = p.pid, .at_us = since + 5, .sm = p.percent};
			samples[n++] =
				(struct sample){.pid = p.pid, .at_us = since + 9, .sm = 4000000};
			samples[n++] = (struct sample){.pid = p.pid, .at_us = since + 1, .sm = 99};
		}
	return fake_leave(0);
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
	const struct device *d = device;

	ENTER(d);
	*now = *pending = is_split(d);
	return fake_leave(0);
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *ret)
{
	ENTER(device);
	*ret = 7;
	return fake_leave(0);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **ret)
{
	const struct device *d = device;

	ENTER(d);
	if (index >= SLICES)
		return fake_leave(6);
	*ret = &devices[d->gpu][index + 1];
	return fake_leave(0);
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *ret)
{
	const struct device *d = device;

	ENTER(d);
	*ret = 7 + (unsigned)d->slice;
	return fake_leave(0);
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *ret)
{
	ENTER(device);
	*ret = 0;
	return fake_leave(0);
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, void *records)
{
	return list(__func__, 'c', device, count, records, 24);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *records)
{
	return list(__func__, 'c', device, count, records, 0);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count, void *records)
{
	return list(__func__, 'g', device, count, records, 24);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, void *records)
{
	return list(__func__, 'g', device, count, records, 0);
}

int nvmlDeviceGetMPSComputeRunningProcesses_v2(void *device, unsigned *count, void *records)
{
	return list(__func__, 'm', device, count, records, 24);
}

int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *count, void *records)
{
	return list(__func__, 'm', device, count, records, 0);
}

#endif
