/* Energy used by processors, from RAPL: /sys/class/powercap/intel-rapl:N
 * (Documentation/power/powercap of the kernel). The files have the same names on AMD processors.
 *
 * Zones intel-rapl:N are usually whole packages. Zones intel-rapl:N:M (cores, memory) are parts of
 * package N. A sum over all zones would count energy twice.
 *
 * Since Linux 5.10 only root may read the counters, because they can reveal what a program
 * computes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define ENERGY_METRICS(X) \
X(PACKAGES, .name = "rightsize_cpu_energy_joules", .unit = "joules", \
  .help = "Energy that the processor packages used since the exporter started, from RAPL", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_cpu_energy_joules") \
X(ZONE, .name = "rightsize_energy_zone_joules", .unit = "joules", .labels = {"zone", "name"}, \
  .help = "Energy that a RAPL zone used since the exporter started; zones of a package are within it", \
  .type = METRIC_COUNTER)
/* clang-format on */

enum { ENERGY_METRICS(METRIC_ID) };
static const struct metric energy_metrics[] = {ENERGY_METRICS(METRIC_ROW)};

/* The kernel may show the same counters under two names: intel-rapl (read from registers) and
 * intel-rapl-mmio (read from memory). Only intel-rapl is used here. */
#define PREFIX    "intel-rapl:"
#define FOLDER    "class/powercap"
#define ZONES_MAX 64
#define NAME_SIZE 32
#define PATH_SIZE 96

struct zone {
	char folder[NAME_SIZE], name[NAME_SIZE];
	bool package;
	uint64_t range; /* microjoules at which the counter starts again from 0 */
	uint64_t last;  /* last value of the counter; NUMBER_UNKNOWN = not read yet */
	double joules;
};

struct energy {
	size_t n;
	struct zone zone[ZONES_MAX];
};

static uint64_t read_number(const struct host *host, const struct zone *z, const char *file)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, FOLDER "/%s/%s", z->folder, file);
	return kernel_file_number(host, host->sys, path);
}

/* Reads the zone's name and counter range, which never change. Skips a fact that an earlier call
 * has read. */
static void read_facts(const struct host *host, struct zone *z)
{
	char path[PATH_SIZE];
	struct scan text, line;

	snprintf(path, sizeof path, FOLDER "/%s/name", z->folder);
	if (!z->name[0] && kernel_file_read_once(host, host->sys, path, &text, NULL) == 0 &&
		scan_line(&text, &line))
		slice_copy(scan_rest(&line), z->name, sizeof z->name);
	/* The zone "psys" is not a package. It is the whole board, which includes all packages. */
	z->package =
		!strchr(z->folder + strlen(PREFIX), ':') && strncmp(z->name, "package", 7) == 0;
	if (z->range == NUMBER_UNKNOWN)
		z->range = read_number(host, z, "max_energy_range_uj");
}

struct zone_search {
	struct energy *energy;
	const struct host *host;
	bool readable;
};

static int add_zone(void *context, const char *folder)
{
	struct zone_search *f = context;
	struct zone *z = &f->energy->zone[f->energy->n];

	if (strncmp(folder, PREFIX, strlen(PREFIX)) != 0 || strlen(folder) >= sizeof z->folder ||
		f->energy->n == ZONES_MAX)
		return 0;
	/* Kernel names have only digits and colons after the prefix. Any other name is skipped,
	 * because two different names might become the same label value. */
	if (folder[strspn(folder + strlen(PREFIX), "0123456789:") + strlen(PREFIX)] != '\0')
		return 0;
	*z = (struct zone){.range = NUMBER_UNKNOWN, .last = NUMBER_UNKNOWN};
	text_copy(folder, z->folder, sizeof z->folder);
	f->readable = f->readable || read_number(f->host, z, "energy_uj") != NUMBER_UNKNOWN;
	f->energy->n++;
	return 0;
}

static int by_folder(const void *a, const void *b)
{
	return strcmp(((const struct zone *)a)->folder, ((const struct zone *)b)->folder);
}

static int energy_start(void **ret, struct host *host, struct err *e)
{
	struct energy *energy = xcalloc(1, sizeof *energy);
	struct zone_search f = {energy, host, false};

	(void)e;
	tree_list(host->sys, FOLDER, add_zone, &f);
	if (!f.readable) {
		free(energy);
		return -ENOENT;
	}
	qsort(energy->zone, energy->n, sizeof *energy->zone, by_folder);
	*ret = energy;
	return 0;
}

/* Adds the growth of the counter to the zone's energy. A counter that fell has wrapped around to 0,
 * once: this takes minutes even at full load, so it cannot happen twice between two ticks. */
static void follow_counter(struct zone *z, uint64_t now)
{
	if (z->last == NUMBER_UNKNOWN)
		z->last = now;
	if (now >= z->last)
		z->joules += (double)(now - z->last) / 1e6;
	else if (z->range != NUMBER_UNKNOWN && z->range >= z->last)
		z->joules += ((double)(z->range - z->last) + (double)now) / 1e6;
	z->last = now;
}

static int energy_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct energy *energy = state;
	double packages = 0;
	bool known = false, whole = true;

	(void)e;
	for (size_t i = 0; i < energy->n; i++) {
		struct zone *z = &energy->zone[i];
		uint64_t now = read_number(host, z, "energy_uj");

		if (!z->name[0] || z->range == NUMBER_UNKNOWN)
			read_facts(host, z);
		if (now == NUMBER_UNKNOWN) {
			whole = whole && !z->package;
			continue;
		}
		follow_counter(z, now);
		POINT(out, ZONE, z->joules, z->folder, z->name);
		known = known || z->package;
		packages += z->package ? z->joules : 0;
	}
	if (known && whole)
		POINT(out, PACKAGES, packages, NULL);
	return 0;
}

const struct collector collector_energy = {
	.name = "energy",
	.help = "Energy that processors used, where it may be read",
	.metrics = energy_metrics,
	.n_metrics = ARRAY_LEN(energy_metrics),
	.start = energy_start,
	.collect = energy_collect,
	.stop = free,
};
