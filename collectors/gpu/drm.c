#include "collectors/gpu/drm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define PATH_SIZE 192

/* One number of a GPU that sysfs shows: its file, and the member of struct gpu_device that it sets.
 * The file is in class/drm/cardN or in the hwmon directory below it. */
struct drm_file {
	enum { IN_CARD, IN_HWMON } where;
	const char *file;
	double unit;
	size_t offset; /* offset of the double in struct gpu_device */
};

#define VALUE(id) offsetof(struct gpu_device, value[id])
#define CLOCK(id) offsetof(struct gpu_device, clock_hz[id])

/* The numbers that are read, and their files. If several files give the same value, the first
 * readable file is used. Sources of names and units:
 * https://docs.kernel.org/gpu/amdgpu/thermal.html and driver-misc.html, and
 * sysfs-driver-intel-{i915,xe}-hwmon in the kernel's Documentation/ABI/testing. */
static const struct drm_file sources[] = {
	{IN_CARD, "device/gpu_busy_percent", 0.01, VALUE(GPU_UTILIZATION)},
	{IN_CARD, "device/mem_busy_percent", 0.01, VALUE(GPU_MEMORY_BUSY)},
	{IN_CARD, "device/mem_info_vram_used", 1, VALUE(GPU_MEMORY_USED)},
	{IN_CARD, "device/mem_info_vram_total", 1, VALUE(GPU_MEMORY_TOTAL)},
	{IN_CARD, "device/tile0/physical_vram_size_bytes", 1, VALUE(GPU_MEMORY_TOTAL)},
	{IN_HWMON, "power1_average", 1e-6, VALUE(GPU_POWER)},
	{IN_HWMON, "power1_input", 1e-6, VALUE(GPU_POWER)},
	{IN_HWMON, "power1_cap", 1e-6, VALUE(GPU_POWER_LIMIT)},
	{IN_HWMON, "power1_max", 1e-6, VALUE(GPU_POWER_LIMIT)},
	{IN_HWMON, "energy1_input", 1e-6, VALUE(GPU_ENERGY)},
	{IN_HWMON, "temp1_input", 1e-3, VALUE(GPU_TEMPERATURE)},
	{IN_HWMON, "temp2_input", 1e-3, VALUE(GPU_TEMPERATURE)},
	{IN_HWMON, "freq1_input", 1, CLOCK(NVML_CLOCK_GRAPHICS)},
	{IN_HWMON, "freq2_input", 1, CLOCK(NVML_CLOCK_MEMORY)},
	{IN_CARD, "gt_act_freq_mhz", 1e6, CLOCK(NVML_CLOCK_GRAPHICS)},
	{IN_CARD, "device/tile0/gt0/freq0/act_freq", 1e6, CLOCK(NVML_CLOCK_GRAPHICS)},
};

struct card {
	struct gpu_device fixed;
	char hwmon[PATH_SIZE];            /* folder of the GPU's sensors; "" = none */
	bool missing[ARRAY_LEN(sources)]; /* this driver has no such file */
};

struct gpu_drm {
	size_t n;
	struct card card[DRM_GPUS_MAX];
};

/* Drivers whose GPUs are ignored. NVML reports the GPUs of NVIDIA's drivers. All other drivers in
 * this list have no GPU hardware. Display drivers without an engine (ast, mgag200, ...) need no
 * entry, because they have no render node. */
static const char *const other_drivers[] = {
	"nvidia",
	"nvidia-drm",
	"virtio_gpu",
	"virtio-pci",
	"vgem",
	"vkms",
};

bool gpu_drm_leaves_out(const char *driver)
{
	for (size_t i = 0; i < ARRAY_LEN(other_drivers); i++)
		if (strcmp(driver, other_drivers[i]) == 0)
			return true;
	return false;
}

/* ---- finding ---- */

static int first_hwmon(void *context, const char *name)
{
	struct card *c = context;

	if (strncmp(name, "hwmon", 5) != 0)
		return 0;
	snprintf(c->hwmon, sizeof c->hwmon, "class/drm/%s/device/hwmon/%.32s", c->fixed.gpu, name);
	return 1;
}

static int is_render_node(void *context, const char *name)
{
	(void)context;
	return strncmp(name, "renderD", 7) == 0;
}

/* PCI vendor ids of GPUs, the first half of a PCI id (https://pci-ids.ucw.cz). */
static const struct {
	const char *id, *name;
} manufacturers[] = {
	{"10DE:", "NVIDIA"},
	{"1002:", "AMD"},
	{"8086:", "Intel"},
};

static const char *manufacturer_of(const char *pci_id)
{
	for (size_t i = 0; i < ARRAY_LEN(manufacturers); i++)
		if (strncasecmp(pci_id, manufacturers[i].id, strlen(manufacturers[i].id)) == 0)
			return manufacturers[i].name;
	return NULL;
}

static void read_uevent(struct card *c, const struct host *h)
{
	char path[PATH_SIZE];
	struct scan line;

	snprintf(path, sizeof path, "class/drm/%s/device/uevent", c->fixed.gpu);
	ssize_t n = tree_read(h->sys, path, h->scratch, h->scratch_size);
	struct scan s = SCAN(h->scratch, n > 0 ? n : 0);

	while (scan_line(&s, &line)) {
		struct slice key, word;

		if (!scan_until(&line, '=', &key) || !scan_word(&line, &word))
			continue;
		if (slice_is(key, "DRIVER"))
			slice_copy(word, c->fixed.driver, sizeof c->fixed.driver);
		else if (slice_is(key, "PCI_SLOT_NAME"))
			slice_copy(word, c->fixed.pci, sizeof c->fixed.pci);
		else if (slice_is(key, "PCI_ID")) /* used until product_name is read */
			slice_copy(word, c->fixed.name, sizeof c->fixed.name);
	}
	c->fixed.manufacturer = manufacturer_of(c->fixed.name);
}

/* Reads the first line of a file into `out`, without blanks at its ends. Returns false if the file
 * has none. */
static bool read_text(const struct host *h, const struct card *c, const char *file, char *out,
	size_t size)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "class/drm/%s/device/%s", c->fixed.gpu, file);
	ssize_t n = tree_read(h->sys, path, h->scratch, h->scratch_size);
	struct slice line = scan_first_line(SCAN(h->scratch, n > 0 ? n : 0));

	if (line.len)
		slice_copy(line, out, size);
	return line.len > 0;
}

struct card_search {
	struct gpu_drm *d;
	const struct host *h;
};

static int look_at_card(void *context, const char *name)
{
	const struct card_search *s = context;
	struct scan number = SCAN(name, strlen(name));
	uint64_t ignored;
	char path[PATH_SIZE];

	/* Accept "card0", but not its connectors such as "card0-HDMI-A-1". */
	if (s->d->n == DRM_GPUS_MAX || !scan_literal(&number, "card") ||
		!scan_u64(&number, &ignored) || !scan_end(&number) ||
		strlen(name) >= sizeof s->d->card[0].fixed.gpu)
		return 0;
	snprintf(path, sizeof path, "class/drm/%s/device/drm", name);
	if (tree_list(s->h->sys, path, is_render_node, NULL) <= 0)
		return 0;
	struct card *c = &s->d->card[s->d->n];

	*c = (struct card){0};
	text_copy(name, c->fixed.gpu, sizeof c->fixed.gpu);
	read_uevent(c, s->h);
	if (gpu_drm_leaves_out(c->fixed.driver))
		return 0;
	c->fixed.named = read_text(s->h, c, "product_name", c->fixed.name, sizeof c->fixed.name);
	read_text(s->h, c, "unique_id", c->fixed.uuid, sizeof c->fixed.uuid);
	snprintf(path, sizeof path, "class/drm/%s/device/hwmon", name);
	tree_list(s->h->sys, path, first_hwmon, c);
	s->d->n++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct card *)a)->fixed.gpu, ((const struct card *)b)->fixed.gpu);
}

int gpu_drm_open(struct gpu_drm **ret, const struct host *h)
{
	AUTO(freep) struct gpu_drm *d = xcalloc(1, sizeof *d);
	struct card_search s = {d, h};

	tree_list(h->sys, "class/drm", look_at_card, &s);
	if (d->n == 0)
		return -ENOENT;
	qsort(d->card, d->n, sizeof d->card[0], by_name);
	*ret = TAKE(d);
	return 0;
}

void gpu_drm_close(struct gpu_drm *d)
{
	free(d);
}

size_t gpu_drm_count(const struct gpu_drm *d)
{
	return d->n;
}

const struct gpu_device *gpu_drm_device(const struct gpu_drm *d, size_t i)
{
	return &d->card[i].fixed;
}

size_t gpu_drm_find(const struct gpu_drm *d, const char *pci, const char *driver)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < d->n; i++) {
		const struct gpu_device *g = &d->card[i].fixed;

		if (pci[0] ? strcmp(g->pci, pci) != 0 : strcmp(g->driver, driver) != 0)
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

/* ---- reading ---- */

static double read_number(struct card *c, const struct host *h, size_t i)
{
	char path[PATH_SIZE * 2];
	int64_t v;

	if (c->missing[i] || (sources[i].where == IN_HWMON && !c->hwmon[0]))
		return NAN;
	if (sources[i].where == IN_HWMON)
		snprintf(path, sizeof path, "%s/%s", c->hwmon, sources[i].file);
	else
		snprintf(path, sizeof path, "class/drm/%s/%s", c->fixed.gpu, sources[i].file);
	ssize_t n = tree_read(h->sys, path, h->scratch, h->scratch_size);
	struct scan s = SCAN(h->scratch, n > 0 ? n : 0);

	if (n == -ENOENT)
		c->missing[i] = true;
	return scan_i64(&s, &v) ? (double)v * sources[i].unit : NAN;
}

void gpu_drm_read(struct gpu_drm *d, const struct host *h, size_t i, struct gpu_device *ret)
{
	struct card *c = &d->card[i];
	struct gpu_device g = c->fixed;

	gpu_device_clear(&g);
	for (size_t k = 0; k < ARRAY_LEN(sources); k++) {
		double *value = (double *)(void *)((char *)&g + sources[k].offset);

		if (isnan(*value))
			*value = read_number(c, h, k);
	}
	/* Only a temperature may be negative. */
	for (size_t k = 0; k < GPU_N_VALUES; k++)
		if (k != GPU_TEMPERATURE && g.value[k] < 0)
			g.value[k] = NAN;
	*ret = g;
}
