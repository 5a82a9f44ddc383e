/* Reports facts about the machine, such as its CPU model. Also reports the CPUs and the memory that
 * this exporter may use under its CPU affinity and control group. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "collectors/cgroup/find.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"
#include "collectors/machine/machine_memory.h"

/* clang-format off */
#define SERVER_METRICS(X) \
X(SERVER_CPUS, .name = "rightsize_server_cpus", \
  .help = "CPUs of the machine that are online") \
X(SERVER_CORES, .name = "rightsize_server_cpu_cores", .unit = "cores", \
  .help = "CPUs that may be used: those online, within the CPU affinity and the control group's quota") \
X(SERVER_MEMORY, .name = "rightsize_server_memory_bytes", .unit = "bytes", \
  .help = "Memory that may be used: that of the machine, within the control group's limit") \
X(SERVER, .name = "rightsize_server", .labels = {"arch", "kernel", "cpu_model"}, \
  .help = "Architecture, kernel release and CPU model of the machine", .type = METRIC_INFO) \
X(CLOUD, .name = "rightsize_cloud", .labels = {"vendor", "instance_type", "region", "zone", "allocation"}, \
  .help = "Cloud server that this machine is, as its vendor calls it; absent where nothing is known of it", \
  .type = METRIC_INFO)
/* clang-format on */

enum { SERVER_METRICS(METRIC_ID) };
static const struct metric server_metrics[] = {SERVER_METRICS(METRIC_ROW)};

/* Linux shows its architecture in /proc/sys/kernel/arch since version 6.1. On older kernels, the
 * architecture of this program is used. */
#if defined(__x86_64__)
#define COMPILED_ARCH "x86_64"
#elif defined(__aarch64__)
#define COMPILED_ARCH "aarch64"
#else
#define COMPILED_ARCH ""
#endif

/* Pause between two readings of the limits and the online CPUs, which rarely change. */
#define LOOK_SECONDS 30

/* /proc/cpuinfo has 1 to 2 KB for each CPU. The text of 150 or more CPUs does not fit into
 * host->scratch. */
#define CPUINFO_MAX (4u * 1024 * 1024)

struct server_state {
	char arch[LABEL_VALUE_MAX], kernel[LABEL_VALUE_MAX], cpu_model[LABEL_VALUE_MAX];
	struct ration read_server;
	double cpus, cores, memory;
};

/* Counts the CPUs in a list such as "0-3,8". Returns NUMBER_UNKNOWN if the text is no CPU list. */
static uint64_t count_cpu_list(struct scan text)
{
	uint64_t n = 0;

	do {
		uint64_t first, last;

		if (!scan_u64(&text, &first))
			return NUMBER_UNKNOWN;
		last = first;
		if (scan_char(&text, '-') && (!scan_u64(&text, &last) || last < first))
			return NUMBER_UNKNOWN;
		if (last - first >= UINT32_MAX || n >= UINT32_MAX)
			return NUMBER_UNKNOWN;
		n += last - first + 1;
	} while (scan_char(&text, ','));
	return n;
}

static void first_line(struct scan text, char out[LABEL_VALUE_MAX])
{
	struct slice line = scan_first_line(text);

	utf8_clean(line.data, line.len, out, LABEL_VALUE_MAX);
}

static void read_line(const struct host *host, const char *path, char out[LABEL_VALUE_MAX])
{
	struct scan text;

	if (kernel_file_read_once(host, host->proc, path, &text, NULL) == 0)
		first_line(text, out);
}

/* Processors of servers, clouds and common boards, as arm64 kernels number them in /proc/cpuinfo.
 * The names are those that lscpu(1) shows. */
/* clang-format off */
static const struct {
	const char *implementer, *part, *name;
} arm_parts[] = {
	{"0x41", "0xd03", "Cortex-A53"}, {"0x41", "0xd05", "Cortex-A55"}, {"0x41", "0xd07", "Cortex-A57"},
	{"0x41", "0xd08", "Cortex-A72"}, {"0x41", "0xd0b", "Cortex-A76"}, {"0x41", "0xd0c", "Neoverse-N1"},
	{"0x41", "0xd40", "Neoverse-V1"}, {"0x41", "0xd42", "Cortex-A78AE"}, {"0x41", "0xd49", "Neoverse-N2"},
	{"0x41", "0xd4a", "Neoverse-E1"}, {"0x41", "0xd4f", "Neoverse-V2"}, {"0x41", "0xd83", "Neoverse-V3AE"},
	{"0x41", "0xd84", "Neoverse-V3"}, {"0x41", "0xd8e", "Neoverse-N3"},
	{"0x42", "0x516", "ThunderX2"}, {"0x43", "0x0a1", "ThunderX-88XX"}, {"0x43", "0x0af", "ThunderX2-99xx"},
	{"0x43", "0x0b8", "ThunderX3-T110"}, {"0x46", "0x001", "A64FX"}, {"0x48", "0xd01", "Kunpeng-920"},
	{"0x4e", "0x004", "Carmel"}, {"0x4e", "0x010", "Olympus"}, {"0x50", "0x000", "X-Gene"},
	{"0x51", "0xc00", "Falkor"}, {"0x61", "0x022", "Icestorm-M1"}, {"0x61", "0x023", "Firestorm-M1"},
	{"0x70", "0x661", "FTC661"}, {"0x70", "0x662", "FTC662"}, {"0x70", "0x663", "FTC663"},
	{"0xc0", "0xac3", "Ampere-1"}, {"0xc0", "0xac4", "Ampere-1a"}, {"0xc0", "0xac5", "Ampere-1b"},
};
/* clang-format on */

/* Finds the first line "key : value" of /proc/cpuinfo. */
static bool cpuinfo_value(struct scan text, const char *key, struct scan *ret)
{
	while (scan_line_of(&text, key, ret)) {
		scan_blanks(ret);
		if (scan_char(ret, ':'))
			return true;
	}
	return false;
}

/* Finds the name of the CPU model. x86 kernels show it in the line "model name". arm64 kernels show
 * only two numbers: the implementer and the part. If the machine has several kinds of CPUs, the
 * first CPU decides. */
static void parse_cpu_model(struct scan text, char out[LABEL_VALUE_MAX])
{
	char numbers[LABEL_VALUE_MAX];
	struct scan line;

	if (cpuinfo_value(text, "model name", &line)) {
		first_line(line, out);
		return;
	}
	if (!cpuinfo_value(text, "CPU implementer", &line))
		return;
	struct slice implementer = scan_first_line(line);

	if (!cpuinfo_value(text, "CPU part", &line))
		return;
	struct slice part = scan_first_line(line);

	for (size_t i = 0; i < ARRAY_LEN(arm_parts); i++)
		if (slice_is(implementer, arm_parts[i].implementer) &&
			slice_is(part, arm_parts[i].part)) {
			text_copy(arm_parts[i].name, out, LABEL_VALUE_MAX);
			return;
		}
	int n = snprintf(numbers, sizeof numbers, "implementer %.*s part %.*s",
		(int)implementer.len, implementer.data, (int)part.len, part.data);

	first_line(SCAN(numbers, (size_t)n < sizeof numbers ? (size_t)n : sizeof numbers - 1), out);
}

static void read_cpu_model(const struct host *host, char out[LABEL_VALUE_MAX])
{
	ssize_t n = tree_read(host->proc, "cpuinfo", host->scratch, host->scratch_size);

	if (n >= 0)
		parse_cpu_model(SCAN(host->scratch, (size_t)n), out);
	if (n != -EFBIG)
		return;
	AUTO(freep) char *large = xmalloc(CPUINFO_MAX);

	n = tree_read(host->proc, "cpuinfo", large, CPUINFO_MAX);

	if (n > 0)
		parse_cpu_model(SCAN(large, (size_t)n), out);
}

static uint64_t online_cpus(const struct host *host)
{
	struct scan text;

	if (kernel_file_read_once(host, host->sys, "devices/system/cpu/online", &text, NULL) < 0)
		return NUMBER_UNKNOWN;
	return count_cpu_list(text);
}

static void read_server(struct server_state *s, const struct host *host)
{
	struct cgroup group;
	struct cgroup_limits limits = {NAN, NAN, NAN};

	if (cgroup_find(&group, host, "self", NULL) == 0)
		limits = cgroup_limits_read(&group, host);
	s->cpus = number_value(online_cpus(host));
	s->cores = fmin(s->cpus, host->affinity_cpus ? (double)host->affinity_cpus : (double)NAN);
	if (!isnan(s->cores))
		s->cores = fmin(s->cores, limits.cpu_cores);
	s->memory = machine_memory_bytes(host);
	if (!isnan(s->memory))
		s->memory = fmin(s->memory, limits.memory_bytes);
}

static int server_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct server_state *s = state;

	(void)e;
	if (ration_due(&s->read_server, host->now.mono, LOOK_SECONDS))
		read_server(s, host);
	POINT(out, SERVER_CPUS, s->cpus, NULL);
	POINT(out, SERVER_CORES, s->cores, NULL);
	POINT(out, SERVER_MEMORY, s->memory, NULL);
	POINT(out, SERVER, 1, s->arch, s->kernel, s->cpu_model);
	const struct host_cloud *c = &host->cloud;

	if (c->vendor[0] || c->instance_type[0])
		POINT(out, CLOUD, 1, c->vendor, c->instance_type, c->region, c->zone,
			c->allocation);
	return 0;
}

static int server_start(void **ret, struct host *host, struct err *e)
{
	struct server_state *s = xcalloc(1, sizeof *s);

	(void)e;
	read_line(host, "sys/kernel/osrelease", s->kernel);
	read_line(host, "sys/kernel/arch", s->arch);
	if (!s->arch[0])
		first_line(SCAN(COMPILED_ARCH, sizeof COMPILED_ARCH - 1), s->arch);
	read_cpu_model(host, s->cpu_model);
	*ret = s;
	return 0;
}

const struct collector collector_server = {
	.name = "server",
	.help = "What the machine is, and how much of it may be used",
	.metrics = server_metrics,
	.n_metrics = ARRAY_LEN(server_metrics),
	.start = server_start,
	.collect = server_collect,
	.stop = free,
};
