/* Time lost waiting for CPU, memory and storage: pressure stall information, from Linux 4.20 on. */
#include <errno.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/kernel_file.h"

/* clang-format off */
#define PRESSURE_METRICS(X) \
X(CPU_WAITING, .name = "rightsize_pressure_cpu_waiting_seconds", .unit = "seconds", \
  .help = "Time during which at least one thread of the machine waited for a CPU, from /proc/pressure", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_pressure_cpu_waiting_seconds") \
X(MEMORY_WAITING, .name = "rightsize_pressure_memory_waiting_seconds", .unit = "seconds", \
  .help = "Time during which at least one thread of the machine waited for memory, from /proc/pressure", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_pressure_memory_waiting_seconds") \
X(MEMORY_STALLED, .name = "rightsize_pressure_memory_stalled_seconds", .unit = "seconds", \
  .help = "Time during which every thread with work to do waited for memory, from /proc/pressure", \
  .type = METRIC_COUNTER) \
X(IO_WAITING, .name = "rightsize_pressure_io_waiting_seconds", .unit = "seconds", \
  .help = "Time during which at least one thread of the machine waited for storage, from /proc/pressure", \
  .type = METRIC_COUNTER, .fold = FOLD_DELTA, .column = "system_pressure_io_waiting_seconds") \
X(IO_STALLED, .name = "rightsize_pressure_io_stalled_seconds", .unit = "seconds", \
  .help = "Time during which every thread with work to do waited for storage, from /proc/pressure", \
  .type = METRIC_COUNTER)
/* clang-format on */

enum { PRESSURE_METRICS(METRIC_ID) PRESSURE_N_METRICS };
static const struct metric pressure_metrics[] = {PRESSURE_METRICS(METRIC_ROW)};

/* Each file has a line "some", and most have a line "full". In the file cpu, "full" is always 0 for
 * a whole machine. */
enum { LINES = 2 };
static const char *const line_names[LINES] = {"some", "full"};

#define NO_METRIC PRESSURE_N_METRICS
static const struct {
	const char *path;
	unsigned id[LINES];
} files[] = {
	{"pressure/cpu", {CPU_WAITING, NO_METRIC}},
	{"pressure/memory", {MEMORY_WAITING, MEMORY_STALLED}},
	{"pressure/io", {IO_WAITING, IO_STALLED}},
};

struct pressure {
	struct kernel_file source[ARRAY_LEN(files)];
	struct counter counter[PRESSURE_N_METRICS];
};

static int pressure_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct pressure *p = state;
	bool readable = false;

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct scan text;
		struct err why = {0};
		int code = kernel_file_read(&p->source[i], host, &text, &why);

		if (kernel_file_absent(code))
			continue;
		if (code < 0)
			return err_set(e, code, "%s", why.text);
		readable = true;
		for (size_t j = 0; j < LINES; j++) {
			unsigned id = files[i].id[j];
			uint64_t us;

			if (id != NO_METRIC && number_pressure(text, line_names[j], &us))
				POINT(out, id, counter_follow(&p->counter[id], us) / 1e6, NULL);
		}
	}
	if (readable && !out->n_points)
		return err_set(e, -EBADMSG,
			"proc/pressure has files but no line \"some\" with a total");
	return readable ? 0 : -ENOENT;
}

static int pressure_start(void **ret, struct host *host, struct err *e)
{
	struct pressure *p = xcalloc(1, sizeof *p);

	(void)e;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		kernel_file_open(&p->source[i], host->proc, files[i].path);
	*ret = p;
	return 0;
}

static void pressure_stop(void *state)
{
	struct pressure *p = state;

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		kernel_file_close(&p->source[i]);
	free(p);
}

const struct collector collector_pressure = {
	.name = "pressure",
	.help = "Time lost waiting for CPU, memory and storage (PSI)",
	.metrics = pressure_metrics,
	.n_metrics = ARRAY_LEN(pressure_metrics),
	.start = pressure_start,
	.collect = pressure_collect,
	.stop = pressure_stop,
};
