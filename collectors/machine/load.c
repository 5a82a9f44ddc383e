/* Load averages, and the numbers of processes and threads. */
#include <errno.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define LOAD_METRICS(X) \
X(LOAD1, .name = "rightsize_load1", \
  .help = "Threads that ran or waited for CPU or storage, averaged over 1 minute") \
X(LOAD5, .name = "rightsize_load5", \
  .help = "Threads that ran or waited for CPU or storage, averaged over 5 minutes") \
X(LOAD15, .name = "rightsize_load15", \
  .help = "Threads that ran or waited for CPU or storage, averaged over 15 minutes") \
X(THREADS, .name = "rightsize_threads", \
  .help = "Threads of the whole machine, those of the kernel included, from /proc/loadavg") \
X(PROCESSES, .name = "rightsize_processes", \
  .help = "Processes visible in /proc, counted at most every 15 s and less often the more there are", \
  .fold = FOLD_VALUE, .column = "system_processes")
/* clang-format on */

enum { LOAD_METRICS(METRIC_ID) };
static const struct metric load_metrics[] = {LOAD_METRICS(METRIC_ROW)};

/* No kernel file shows the number of processes: /proc/loadavg and sysinfo(2) count threads, and the
 * link count of /proc ignores PID namespaces. Therefore the names in /proc are counted.
 *
 * Reading one name costs 0.5 to 2.5 us. The pause between two counts grows by one second for every
 * 100 processes. The cost stays below 0.25 ms of CPU time a second, and below 0.02 ms at 100
 * processes. */
#define COUNT_PAUSE_SECONDS        15
#define PROCESSES_PER_PAUSE_SECOND 100

struct load {
	struct kernel_file loadavg;
	struct ration count;
	double processes;
};

struct loadavg {
	double average[3];
	uint64_t threads;
};

/* Parses "0.20 0.18 0.12 1/80 11206": averages, running/all threads, last pid. */
static bool parse_loadavg(struct scan text, struct loadavg *ret)
{
	uint64_t running;

	ret->threads = NUMBER_UNKNOWN;
	for (size_t i = 0; i < 3; i++)
		if (!scan_double(&text, &ret->average[i]) || ret->average[i] < 0)
			return false;
	if (scan_u64(&text, &running) && scan_char(&text, '/'))
		scan_u64(&text, &ret->threads);
	return true;
}

static int count_numeric(void *context, const char *name)
{
	uint64_t *n = context;

	*n += name[0] >= '1' && name[0] <= '9';
	return 0;
}

/* Counts the processes if it is time. If /proc cannot be listed, their number is unknown until the
 * next try. */
static void count_processes(struct load *l, const struct host *host)
{
	uint64_t n = 0;

	if (!ration_due(&l->count, host->now.mono, COUNT_PAUSE_SECONDS))
		return;
	int code = tree_list(host->proc, "", count_numeric, &n);

	l->processes = code < 0 || n == 0 ? NAN : (double)n;
	l->count.next.ns += (int64_t)(n / PROCESSES_PER_PAUSE_SECOND) * NS_PER_S;
}

static int add_loadavg(struct load *l, const struct host *host, struct block *out, struct err *e)
{
	struct scan text;
	struct loadavg f;
	int code = kernel_file_read(&l->loadavg, host, &text, e);

	if (code < 0)
		return code;
	if (!parse_loadavg(text, &f))
		return err_set(e, -EBADMSG, "proc/loadavg does not begin with three averages");
	POINT(out, LOAD1, f.average[0], NULL);
	POINT(out, LOAD5, f.average[1], NULL);
	POINT(out, LOAD15, f.average[2], NULL);
	POINT(out, THREADS, number_value(f.threads), NULL);
	return 0;
}

static int load_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct load *l = state;
	int code = out->kept_only ? 0 : add_loadavg(l, host, out, e);

	if (code < 0)
		return code;
	count_processes(l, host);
	POINT(out, PROCESSES, l->processes, NULL);
	return 0;
}

static int load_start(void **ret, struct host *host, struct err *e)
{
	struct load *l = xcalloc(1, sizeof *l);

	(void)e;
	kernel_file_open(&l->loadavg, host->proc, "loadavg");
	l->processes = NAN;
	*ret = l;
	return 0;
}

static void load_stop(void *state)
{
	struct load *l = state;

	kernel_file_close(&l->loadavg);
	free(l);
}

const struct collector collector_load = {
	.name = "load",
	.help = "Load averages, processes and threads",
	.metrics = load_metrics,
	.n_metrics = ARRAY_LEN(load_metrics),
	.start = load_start,
	.collect = load_collect,
	.stop = load_stop,
};
