#include "exporter/remote/run_series.h"

#include <math.h>
#include <string.h>

#include "collectors/base/clock.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/run_labels.h"

/* clang-format off */
#define FIELD(member, name, help) {name, offsetof(struct run, member), false, NULL, STATISTIC_N, help}
#define COUNT(member, name, help) {name, offsetof(struct run, member), true, NULL, STATISTIC_N, help}
#define COLUMN(column, statistic, name, help) {name, 0, false, column, STATISTIC_##statistic, help}
const struct run_series run_series[] = {
	FIELD(duration_seconds, RUN_SERIES_OF_ALL, "Duration"),
	FIELD(started_at, "start_time_seconds", "When it started, since the Unix epoch"),
	FIELD(ended_at, "end_time_seconds", "When it ended, since the Unix epoch"),
	COUNT(samples, "samples", "Samples of it"),
	FIELD(exit_code, "exit_code", "Exit code"),
	FIELD(exit_signal, "exit_signal", "Number of the signal that ended it"),
	FIELD(requested_cpu_cores, "requested_cpu_cores", "CPUs that were requested for it"),
	FIELD(requested_memory_bytes, "requested_memory_bytes", "Memory that was requested for it"),
	FIELD(memory_limit_bytes, "memory_limit_bytes", "Its memory limit"),
	FIELD(input_bytes, "input_bytes", "Size of its input"),
	FIELD(attempt, "attempt", "Which attempt of the work this was, from 1 on"),
	FIELD(cpu_missed_seconds, "cpu_missed_seconds", "Most CPU time that the total lacks"),
	FIELD(cpu_foreign_seconds, "cpu_foreign_seconds", "Most CPU time in the total that other processes used"),
	FIELD(machine_cpus, "machine_cpus", "CPUs of its machine"),
	FIELD(machine_memory_bytes, "machine_memory_bytes", "Memory of its machine"),
	FIELD(address_limit_bytes, "address_limit_bytes", "Its limit of address space"),
	FIELD(address_peak_bytes, "address_peak_bytes", "Most that one process used of that limit"),
	COLUMN("cpu_cores", MAX, "cpu_cores_max", "Most cores at once"),
	COLUMN("cpu_cores", P99, "cpu_cores_p99", "99th percentile of the cores in use"),
	COLUMN("cpu_cores", P95, "cpu_cores_p95", "95th percentile of the cores in use"),
	COLUMN("cpu_cores", P50, "cpu_cores_p50", "Median of the cores in use"),
	COLUMN("cpu_cores", MIN, "cpu_cores_min", "Fewest cores at once"),
	COLUMN("cpu_cores", MEAN, "cpu_cores_mean", "Cores in use on average"),
	COLUMN("cpu_pressure_seconds", SUM, "cpu_pressure_seconds", "Time in which some thread waited for a CPU"),
	COLUMN("cpu_seconds", SUM, "cpu_seconds", "CPU time"),
	COLUMN("cpu_throttled_seconds", SUM, "cpu_throttled_seconds", "Time for which the CPU limit stopped it"),
	COLUMN("cpu_wait_seconds", SUM, "cpu_wait_seconds", "Time in which its threads waited for a CPU"),
	COLUMN("disk_grown_bytes", MAX, "disk_grown_bytes", "Most disk space that it took"),
	COLUMN("disk_written_bytes", SUM, "disk_written_bytes", "Bytes that it wrote to disks"),
	COLUMN("gpu_usage", MAX, "gpu_usage_max", "Most GPUs in use at once, by the share of time"),
	COLUMN("gpu_usage", MEAN, "gpu_usage_mean", "GPUs in use on average, by the share of time"),
	COLUMN("gpus_used", MAX, "gpus_used_max", "Most GPUs that it held at once"),
	COLUMN("io_pressure_seconds", SUM, "io_pressure_seconds", "Time in which some thread waited for a disk"),
	COLUMN("io_wait_seconds", SUM, "io_wait_seconds", "Time in which its threads waited for a disk"),
	COLUMN("memory_anonymous_bytes", MAX, "memory_anonymous_bytes", "Most memory without a file"),
	COLUMN("memory_bytes", MAX, "memory_bytes", "Most memory in a sample"),
	COLUMN("memory_cgroup_peak_bytes", MAX, "memory_cgroup_peak_bytes", "Peak memory of its control group"),
	COLUMN("memory_cgroup_shmem_bytes", MAX, "memory_cgroup_shmem_bytes", "Most shared memory of its control group"),
	COLUMN("memory_file_bytes", MAX, "memory_file_bytes", "Most memory of files"),
	COLUMN("memory_max_events", SUM, "memory_limit_hits", "How often its control group reached its memory limit"),
	COLUMN("memory_oom_events", SUM, "memory_oom_events", "How often its control group ran out of memory"),
	COLUMN("memory_peak_bytes", MAX, "memory_peak_bytes", "Peak memory"),
	COLUMN("memory_peak_process_bytes", MAX, "memory_peak_process_bytes", "Peak memory of its largest process"),
	COLUMN("memory_pressure_seconds", SUM, "memory_pressure_seconds", "Time in which some thread waited for memory"),
	COLUMN("memory_shmem_bytes", MAX, "memory_shmem_bytes", "Most shared memory"),
	COLUMN("memory_swap_bytes", MAX, "memory_swap_bytes", "Most swapped memory"),
	COLUMN("memory_tmpfs_bytes", MAX, "memory_tmpfs_bytes", "Most memory of file systems in memory"),
	COLUMN("memory_wait_seconds", SUM, "memory_wait_seconds", "Time in which its threads waited for memory"),
	COLUMN("network_received_bytes", SUM, "network_received_bytes", "Bytes received"),
	COLUMN("network_sent_bytes", SUM, "network_sent_bytes", "Bytes sent"),
	COLUMN("oom_kills", SUM, "oom_kills", "Processes that the kernel killed because memory ran out"),
	COLUMN("pids_limit", MAX, "pids_limit", "Limit of its tasks"),
	COLUMN("pids_peak", MAX, "pids_peak", "Most tasks at once"),
	COLUMN("pids_refused", SUM, "pids_refused", "Tasks that the limit refused"),
	COLUMN("read_chars", SUM, "read_chars", "Bytes read from files and pipes"),
	COLUMN("system_disk_space_used_bytes", MAX, "system_disk_space_max_bytes", "Most space in use on the disks of its machine"),
	COLUMN("system_disk_space_used_bytes", MIN, "system_disk_space_min_bytes", "Least space in use on the disks of its machine"),
	COLUMN("vram_bytes", MAX, "vram_bytes", "Most GPU memory in a sample"),
	COLUMN("vram_peak_bytes", MAX, "vram_peak_bytes", "Peak GPU memory"),
};
const size_t run_series_n = ARRAY_LEN(run_series);
_Static_assert(ARRAY_LEN(run_series) <= RUN_SERIES_MAX, "RUN_SERIES_MAX");

#define TEXT(member) {#member, offsetof(struct run, member)}
const struct run_text run_texts[] = {
	TEXT(allocation),
	TEXT(architecture),
	TEXT(cpu_level),
	TEXT(cpu_source),
	TEXT(disk_source),
	TEXT(end_reason),
	TEXT(gpu_manufacturer),
	TEXT(gpu_model),
	TEXT(instance_type),
	TEXT(memory_source),
	TEXT(network_source),
	TEXT(not_measured),
	TEXT(region),
	TEXT(system),
	{"vendor", offsetof(struct run, vendor_id)},
};
/* clang-format on */
const size_t run_texts_n = ARRAY_LEN(run_texts);
_Static_assert(ARRAY_LEN(run_texts) <= RUN_TEXTS_MAX, "RUN_TEXTS_MAX");

struct slice run_container(const char *labels)
{
	static const char name[] = RUN_CONTAINER;
	struct slice text = run_labels_find(labels, (struct slice){name, sizeof name - 1});

	/* No name of a container needs an escape. */
	if (!text.len || text.len >= RUN_CONTAINER_MAX || memchr(text.data, '\\', text.len))
		return (struct slice){"", 0};
	return text;
}

/* Returns the text to send for a reason (run.not_measured). A reason that contains a number is
 * replaced by a fixed text: the text is a label, and each different number would make a new
 * series. */
static const char *reason_of_few(const char *reason)
{
	return reason && strpbrk(reason, "0123456789") ? "its numbers are impossible" : reason;
}

static bool is_member(const struct run_text *t, size_t offset)
{
	return t->offset == offset;
}

/* VictoriaMetrics keeps only 12 digits of a number, or 15 of a short decimal number, so it rounds
 * times to 0.1 ms or less. Rounding must not change the milliseconds, which answers show. This
 * function moves a time to the middle of its 0.1 ms, where rounding is safe. */
#define NS_OF_TIME 100000
static double time_of_15_digits(double seconds)
{
	struct wall w = wall_from_seconds(seconds);

	w.ns += NS_OF_TIME / 2 - w.ns % NS_OF_TIME;
	return isnan(seconds) ? seconds : wall_seconds(w);
}

double run_check_term(double number)
{
	return log1p(fabs(number));
}

static double number_of(const struct run *r, const struct run_series *s)
{
	const struct distribution *d = s->column ? run_column(r, s->column) : NULL;
	const void *member = (const char *)r + s->offset;

	if (s->column)
		return d ? statistic_get(d, s->statistic) : (double)NAN;
	if (s->is_count)
		return (double)*(const uint64_t *)member;
	double v = *(const double *)member;

	return s->offset == offsetof(struct run, started_at) ||
			       s->offset == offsetof(struct run, ended_at) ?
		       time_of_15_digits(v) :
		       v;
}

void run_values_of(const struct run *r, struct run_values *ret)
{
	for (size_t i = 0; i < run_series_n; i++)
		ret->number[i] = number_of(r, &run_series[i]);
	for (size_t i = 0; i < run_texts_n; i++) {
		const struct run_text *t = &run_texts[i];

		if (is_member(t, offsetof(struct run, architecture)))
			ret->text[i] = r->architecture ? architecture_name[r->architecture] : NULL;
		else
			ret->text[i] =
				*(const char *const *)(const void *)((const char *)r + t->offset);
		if (is_member(t, offsetof(struct run, not_measured)))
			ret->text[i] = reason_of_few(ret->text[i]);
	}
}

static enum architecture architecture_of(const char *name)
{
	unsigned i;

	return name && catalogue_name_find(architecture_name, ARCHITECTURE_COUNT, name, &i) ?
		       (enum architecture)i :
		       ARCHITECTURE_UNKNOWN;
}

/* A store may cut a number off after 12 digits. */
#define CUT_OFF 1e-11

/* Restores a number from which a store cut digits off, if it was a float: a history rounds most
 * statistics of runs to floats (exporter/history/packed_stats.h), always towards zero, so that one
 * lost digit would give the next smaller float. */
static double whole_float(double v)
{
	double f = (double)(float)v;

	return fabs(f) > fabs(v) && fabs(f) <= fabs(v) * (1 + CUT_OFF) ? f : v;
}

/* Stores a statistic of a column in `ret`. Call it for all statistics of a column before those of
 * the next column. The store does not have the number of values `n`, so it becomes 1, the least
 * possible number. */
static void set_statistic(struct run *ret, const struct run_series *s, double v)
{
	struct column_stats *c = ret->n_stats ? &ret->stats[ret->n_stats - 1] : NULL;

	if (!c || strcmp(c->column, s->column) != 0) {
		c = &ret->stats[ret->n_stats++];
		*c = (struct column_stats){s->column, {1, NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
	}
	statistic_set(&c->d, s->statistic, whole_float(v));
}

static void forget_numbers(struct run *r)
{
	r->interval_seconds = r->started_at = r->ended_at = r->duration_seconds = r->exit_code =
		r->exit_signal = r->requested_cpu_cores = r->requested_memory_bytes =
			r->memory_limit_bytes = r->input_bytes = r->attempt =
				r->cpu_missed_seconds = r->cpu_foreign_seconds = r->machine_cpus =
					r->machine_memory_bytes = r->address_limit_bytes =
						r->address_peak_bytes = NAN;
}

void run_values_set(const struct run_values *v, struct run *ret, struct arena *arena)
{
	forget_numbers(ret);
	ret->n_stats = 0;
	ret->stats = arena_alloc(arena, run_series_n * sizeof *ret->stats);
	for (size_t i = 0; i < run_series_n; i++) {
		const struct run_series *s = &run_series[i];

		if (s->is_count)
			*(uint64_t *)(void *)((char *)ret + s->offset) =
				v->number[i] >= 0 && v->number[i] < 0x1p63 ?
					(uint64_t)v->number[i] :
					0;
		else if (!s->column)
			*(double *)(void *)((char *)ret + s->offset) = v->number[i];
		else if (!isnan(v->number[i]))
			set_statistic(ret, s, v->number[i]);
	}
	for (size_t i = 0; i < run_texts_n; i++) {
		if (is_member(&run_texts[i], offsetof(struct run, architecture)))
			ret->architecture = architecture_of(v->text[i]);
		else
			*(const char **)(void *)((char *)ret + run_texts[i].offset) = v->text[i];
	}
}
