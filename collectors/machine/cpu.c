/* Reads the CPU time and the event counters of the whole machine from /proc/stat (proc_stat(5)). */
#include <errno.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define CPU_METRICS(X) \
X(CPU_SECONDS, .name = "rightsize_cpu_seconds", .unit = "seconds", .labels = {"mode"}, \
  .help = "CPU time of the whole machine by mode, from /proc/stat; time of guests is part of user and nice", \
  .type = METRIC_COUNTER) \
X(CPU_USER_SECONDS, .name = "rightsize_cpu_user_seconds", .unit = "seconds", \
  .help = "CPU time of the whole machine in user mode: modes user and nice together", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_cpu_user_seconds") \
X(CPU_SYSTEM_SECONDS, .name = "rightsize_cpu_system_seconds", .unit = "seconds", \
  .help = "CPU time of the whole machine in the kernel: modes system, irq and softirq together", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_cpu_system_seconds") \
X(CPU_USAGE_CORES, .name = "rightsize_cpu_usage_cores", .unit = "cores", \
  .help = "Cores in use by the whole machine since the previous reading at least 250 ms before: every mode but idle and iowait", \
  .fold = FOLD_VALUE, .column = "system_cpu_usage_cores") \
X(CONTEXT_SWITCHES, .name = "rightsize_context_switches", \
  .help = "Context switches of the whole machine, from /proc/stat", .type = METRIC_COUNTER) \
X(FORKS, .name = "rightsize_forks", \
  .help = "Processes and threads created on the whole machine, from /proc/stat", .type = METRIC_COUNTER) \
X(THREADS_RUNNING, .name = "rightsize_threads_running", \
  .help = "Threads of the whole machine that run or wait for a CPU, from /proc/stat") \
X(THREADS_BLOCKED, .name = "rightsize_threads_blocked", \
  .help = "Threads of the whole machine that wait for storage, from /proc/stat") \
X(BOOT_TIME_SECONDS, .name = "rightsize_boot_time_seconds", .unit = "seconds", \
  .help = "Start of the machine since the Unix epoch, from /proc/stat")
/* clang-format on */

enum { CPU_METRICS(METRIC_ID) };
static const struct metric cpu_metrics[] = {CPU_METRICS(METRIC_ROW)};

/* Columns of the line "cpu", in the kernel's order. Old kernels write fewer columns. The guest
 * columns after steal are not read, because user and nice include them. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, MODES };
static const char *const mode_names[MODES] = {
	"user",
	"nice",
	"system",
	"idle",
	"iowait",
	"irq",
	"softirq",
	"steal",
};

enum { CTXT, PROCESSES, RUNNING, BLOCKED, BTIME, KEYS };
static const char *const key_names[KEYS] = {
	"ctxt",
	"processes",
	"procs_running",
	"procs_blocked",
	"btime",
};

struct stat_file {
	size_t modes; /* number of values in `ticks` */
	uint64_t ticks[MODES], value[KEYS];
	bool has_value[KEYS];
};

/* Shortest time over which usage is computed. The kernel counts in ticks of 10 ms, so usage would
 * jump over a shorter time. */
#define USAGE_WINDOW_SECONDS 0.25

struct cpu {
	struct kernel_file stat;
	struct counter mode[MODES], value[KEYS];
	bool has_reference;
	struct mono reference_at;
	double reference_busy, usage;
};

static bool parse_stat(struct scan text, struct stat_file *ret)
{
	struct scan line;

	*ret = (struct stat_file){0};
	while (scan_line(&text, &line)) {
		if (!ret->modes && scan_literal(&line, "cpu ")) {
			while (ret->modes < MODES && scan_u64(&line, &ret->ticks[ret->modes]))
				ret->modes++;
			continue;
		}
		struct slice key;

		if (!scan_word(&line, &key))
			continue;
		for (size_t i = 0; i < KEYS; i++)
			if (slice_is(key, key_names[i]))
				ret->has_value[i] = scan_u64(&line, &ret->value[i]);
	}
	return ret->modes > 0;
}

static void update_usage(struct cpu *c, struct mono now, double busy)
{
	double seconds = mono_seconds_between(c->reference_at, now);

	if (c->has_reference && seconds < USAGE_WINDOW_SECONDS)
		return;
	c->usage = c->has_reference ? (busy - c->reference_busy) / seconds : NAN;
	c->has_reference = true;
	c->reference_at = now;
	c->reference_busy = busy;
}

/* Adds up the CPU time of the modes whose bits are set in `modes`. A mode that the kernel leaves
 * out keeps its last value, so that the sum never falls. */
static double sum_seconds(const struct cpu *c, unsigned modes, const struct host *host)
{
	double ticks = 0;

	for (unsigned i = 0; i < MODES; i++)
		if (modes & 1U << i)
			ticks += c->mode[i].value;
	return ticks / (double)host->ticks_per_second;
}

static void add_values(struct cpu *c, const struct stat_file *f, struct block *out)
{
	static const unsigned id[KEYS] = {
		[CTXT] = CONTEXT_SWITCHES,
		[PROCESSES] = FORKS,
		[RUNNING] = THREADS_RUNNING,
		[BLOCKED] = THREADS_BLOCKED,
		[BTIME] = BOOT_TIME_SECONDS,
	};

	for (size_t i = 0; i < KEYS; i++)
		if (f->has_value[i])
			POINT(out, id[i],
				cpu_metrics[id[i]].type == METRIC_COUNTER ?
					counter_follow(&c->value[i], f->value[i]) :
					(double)f->value[i],
				NULL);
}

static int cpu_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct cpu *c = state;
	struct scan text;
	struct stat_file f;
	int code = kernel_file_read(&c->stat, host, &text, e);

	if (code < 0)
		return code;
	if (!parse_stat(text, &f))
		return err_set(e, -EBADMSG, "proc/stat has no line \"cpu\" with numbers");

	for (size_t i = 0; i < f.modes; i++)
		POINT(out, CPU_SECONDS,
			counter_follow(&c->mode[i], f.ticks[i]) / (double)host->ticks_per_second,
			mode_names[i]);
	const unsigned user = 1U << USER | 1U << NICE;
	const unsigned kernel = 1U << SYSTEM | 1U << IRQ | 1U << SOFTIRQ;

	update_usage(c, host->now.mono, sum_seconds(c, user | kernel | 1U << STEAL, host));
	POINT(out, CPU_USER_SECONDS, sum_seconds(c, user, host), NULL);
	if (f.modes > SYSTEM)
		POINT(out, CPU_SYSTEM_SECONDS, sum_seconds(c, kernel, host), NULL);
	POINT(out, CPU_USAGE_CORES, c->usage, NULL);
	add_values(c, &f, out);
	return 0;
}

static int cpu_start(void **ret, struct host *host, struct err *e)
{
	struct cpu *c = xcalloc(1, sizeof *c);

	(void)e;
	kernel_file_open(&c->stat, host->proc, "stat");
	c->usage = NAN;
	*ret = c;
	return 0;
}

static void cpu_stop(void *state)
{
	struct cpu *c = state;

	kernel_file_close(&c->stat);
	free(c);
}

const struct collector collector_cpu = {
	.name = "cpu",
	.help = "CPU time by mode, cores in use, context switches, boot time",
	.metrics = cpu_metrics,
	.n_metrics = ARRAY_LEN(cpu_metrics),
	.start = cpu_start,
	.collect = cpu_collect,
	.stop = cpu_stop,
};
