/* Bytes and operations of each physical disk, from /proc/diskstats and /sys/class/block.
 *
 * A sum over devices must count each byte once. Therefore devices on top of other disks
 * (partitions, dm, md, loop, multipath paths) and devices in memory (ram, zram) are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/machine/devices.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define DISK_METRICS(X) \
X(DISK_READ_BYTES, .name = "rightsize_disk_read_bytes", .unit = "bytes", .labels = {"device"}, \
  .help = "Bytes read from a physical disk, from /proc/diskstats", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_disk_read_bytes") \
X(DISK_WRITTEN_BYTES, .name = "rightsize_disk_written_bytes", .unit = "bytes", .labels = {"device"}, \
  .help = "Bytes written to a physical disk, from /proc/diskstats", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_disk_written_bytes") \
X(DISK_READS, .name = "rightsize_disk_reads", .labels = {"device"}, \
  .help = "Read operations that a physical disk completed", .type = METRIC_COUNTER) \
X(DISK_WRITES, .name = "rightsize_disk_writes", .labels = {"device"}, \
  .help = "Write operations that a physical disk completed", .type = METRIC_COUNTER) \
X(DISK_READ_SECONDS, .name = "rightsize_disk_read_seconds", .unit = "seconds", .labels = {"device"}, \
  .help = "Time that read operations took, summed over those in flight at the same time", \
  .type = METRIC_COUNTER) \
X(DISK_WRITE_SECONDS, .name = "rightsize_disk_write_seconds", .unit = "seconds", .labels = {"device"}, \
  .help = "Time that write operations took, summed over those in flight at the same time", \
  .type = METRIC_COUNTER) \
X(DISK_IO_SECONDS, .name = "rightsize_disk_io_seconds", .unit = "seconds", .labels = {"device"}, \
  .help = "Time during which at least one operation was in flight", .type = METRIC_COUNTER)
/* clang-format on */

enum { DISK_METRICS(METRIC_ID) DISK_N_METRICS };
static const struct metric disk_metrics[] = {DISK_METRICS(METRIC_ROW)};

/* The kernel counts sectors of 512 bytes for every disk, even if the disk has larger sectors
 * (Documentation/block/stat). */
#define SECTOR_BYTES 512

/* Number of fields after the name that are read. Later kernels append fields for discards and
 * flushes. */
#define DISK_FIELDS 10
static const struct {
	unsigned field;
	double unit;
} sources[DISK_N_METRICS] = {
	[DISK_READS] = {0, 1},
	[DISK_READ_BYTES] = {2, SECTOR_BYTES},
	[DISK_READ_SECONDS] = {3, 1e-3},
	[DISK_WRITES] = {4, 1},
	[DISK_WRITTEN_BYTES] = {6, SECTOR_BYTES},
	[DISK_WRITE_SECONDS] = {7, 1e-3},
	[DISK_IO_SECONDS] = {9, 1e-3},
};
_Static_assert((unsigned)DISK_N_METRICS <= (unsigned)DEVICE_COUNTERS_MAX, "room for each counter");

/* Seconds after which disks are classified again, even when no disk came or went. */
#define CLASSIFY_SECONDS 60
#define SYS_TARGET_MAX   512

struct disk {
	struct kernel_file diskstats;
	struct devices devices;
	struct ration classify;
};

/* Parses "8 0 sda 129 0 2490 ...". Returns false when fields are missing. Before Linux 2.6.25, the
 * line of a partition has only 4 fields after the name. */
static bool parse_line(struct scan line, struct slice *name, uint64_t field[DISK_FIELDS])
{
	uint64_t major, minor;

	if (!scan_u64(&line, &major) || !scan_u64(&line, &minor) || !scan_word(&line, name))
		return false;
	for (size_t i = 0; i < DISK_FIELDS; i++)
		if (!scan_u64(&line, &field[i]))
			return false;
	return true;
}

static bool all_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0';
}

/* Recognises a partition by its name. Used when there is no sysfs. sda1 is a partition of sda, and
 * nvme0n1p1 is a partition of nvme0n1, but nvme0n10 is another disk. */
static bool named_like_partition(const struct devices *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++) {
		const char *disk = all->device[i].name;
		size_t len = strlen(disk);

		if (len == 0 || strncmp(name, disk, len) != 0)
			continue;
		bool ends_in_digit = disk[len - 1] >= '0' && disk[len - 1] <= '9';

		if (ends_in_digit ? name[len] == 'p' && all_digits(name + len + 1) :
				    all_digits(name + len))
			return true;
	}
	return false;
}

static bool named_like_virtual(const char *name)
{
	static const char *const prefixes[] = {
		"loop",
		"ram",
		"zram",
		"dm-",
		"md",
		"bcache",
		"drbd",
		"zd",
	};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], len) == 0 && all_digits(name + len))
			return true;
	}
	return false;
}

/* Returns true for a physical disk. False for a partition, and for a disk made of other disks or of
 * memory, which is in /sys/devices/virtual/block. nbd is there, too, but its storage is on another
 * machine, so it counts as physical. False for a hidden device, which is only one path to a
 * multipath disk. */
static bool is_physical(const struct host *host, const struct devices *all, const char *name)
{
	char path[DEVICE_NAME_MAX + 32], target[SYS_TARGET_MAX];
	int len = snprintf(path, sizeof path, "class/block/%s", name);

	for (char *p = path + strlen("class/block/"); *p; p++)
		if (*p == '/')
			*p = '!'; /* cciss/c0d0 is cciss!c0d0 in sysfs */
	if (tree_link(host->sys, path, target, sizeof target) < 0)
		return !named_like_virtual(name) && !named_like_partition(all, name);
	if (strstr(target, "devices/virtual/block/") && strncmp(name, "nbd", 3) != 0)
		return false;
	snprintf(path + len, sizeof path - (size_t)len, "/partition");
	if (tree_size(host->sys, path) >= 0)
		return false;
	snprintf(path + len, sizeof path - (size_t)len, "/hidden");
	return kernel_file_number(host, host->sys, path) != 1;
}

static void parse_diskstats(struct disk *d, struct scan text)
{
	struct scan line;

	while (scan_line(&text, &line)) {
		uint64_t field[DISK_FIELDS];
		struct slice name;
		struct device *device;

		if (!parse_line(line, &name, field) || !(device = devices_see(&d->devices, name)))
			continue;
		for (size_t i = 0; i < DISK_N_METRICS; i++)
			counter_follow(&device->counter[i], field[sources[i].field]);
	}
	devices_sweep(&d->devices);
}

static int disk_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct disk *d = state;
	struct devices *all = &d->devices;
	struct scan text;
	int code = kernel_file_read(&d->diskstats, host, &text, e);

	if (code < 0)
		return code;
	parse_diskstats(d, text);
	if (ration_due(&d->classify, host->now.mono, CLASSIFY_SECONDS) || all->changed) {
		for (size_t i = 0; i < all->n; i++)
			all->device[i].counted = is_physical(host, all, all->device[i].name);
		all->changed = false;
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct device *device = &all->device[i];

		for (unsigned id = 0; device->counted && id < DISK_N_METRICS; id++)
			POINT(out, id, device->counter[id].value * sources[id].unit, device->name);
	}
	return 0;
}

static int disk_start(void **ret, struct host *host, struct err *e)
{
	struct disk *d = xcalloc(1, sizeof *d);

	(void)e;
	kernel_file_open(&d->diskstats, host->proc, "diskstats");
	*ret = d;
	return 0;
}

static void disk_stop(void *state)
{
	struct disk *d = state;

	kernel_file_close(&d->diskstats);
	devices_done(&d->devices);
	free(d);
}

const struct collector collector_disk = {
	.name = "disk",
	.help = "Bytes and operations of each physical disk",
	.metrics = disk_metrics,
	.n_metrics = ARRAY_LEN(disk_metrics),
	.start = disk_start,
	.collect = disk_collect,
	.stop = disk_stop,
};
