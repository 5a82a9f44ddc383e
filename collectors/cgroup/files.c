#include "collectors/cgroup/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/kernel_file.h"

enum how {
	NUMBER,   /* the whole file is one number */
	KEYED,    /* lines "key number" */
	PRESSURE, /* the number after "total=" in the line that begins with `key` */
	DEVICES,  /* sum of lines "MAJOR:MINOR ... key=number ..."; v1: "MAJOR:MINOR key number" */
};

struct cgroup_file_row {
	enum cgroup_value id;
	enum cgroup_controller controller;
	int version;
	enum how how;
	const char *file, *key;
	double unit;
};

/* Rows of the same file must be adjacent, so that the file is read once. If two rows have the same
 * id, the later row wins. */
static const struct cgroup_file_row rows[] = {
	{CGROUP_CPU_SECONDS, CGROUP_CPU, 2, KEYED, "cpu.stat", "usage_usec", 1e-6},
	{CGROUP_CPU_USER_SECONDS, CGROUP_CPU, 2, KEYED, "cpu.stat", "user_usec", 1e-6},
	{CGROUP_CPU_SYSTEM_SECONDS, CGROUP_CPU, 2, KEYED, "cpu.stat", "system_usec", 1e-6},
	{CGROUP_CPU_PERIODS, CGROUP_CPU, 2, KEYED, "cpu.stat", "nr_periods", 1},
	{CGROUP_CPU_THROTTLED_PERIODS, CGROUP_CPU, 2, KEYED, "cpu.stat", "nr_throttled", 1},
	{CGROUP_CPU_THROTTLED_SECONDS, CGROUP_CPU, 2, KEYED, "cpu.stat", "throttled_usec", 1e-6},
	{CGROUP_CPU_PRESSURE_SECONDS, CGROUP_CPU, 2, PRESSURE, "cpu.pressure", "some", 1e-6},
	{CGROUP_CPU_SECONDS, CGROUP_CPUACCT, 1, NUMBER, "cpuacct.usage", NULL, 1e-9},
	{CGROUP_CPU_USER_SECONDS, CGROUP_CPUACCT, 1, NUMBER, "cpuacct.usage_user", NULL, 1e-9},
	{CGROUP_CPU_SYSTEM_SECONDS, CGROUP_CPUACCT, 1, NUMBER, "cpuacct.usage_sys", NULL, 1e-9},
	{CGROUP_CPU_PERIODS, CGROUP_CPU, 1, KEYED, "cpu.stat", "nr_periods", 1},
	{CGROUP_CPU_THROTTLED_PERIODS, CGROUP_CPU, 1, KEYED, "cpu.stat", "nr_throttled", 1},
	{CGROUP_CPU_THROTTLED_SECONDS, CGROUP_CPU, 1, KEYED, "cpu.stat", "throttled_time", 1e-9},
	{CGROUP_MEMORY_BYTES, CGROUP_MEMORY, 2, NUMBER, "memory.current", NULL, 1},
	{CGROUP_MEMORY_PEAK_BYTES, CGROUP_MEMORY, 2, NUMBER, "memory.peak", NULL, 1},
	/* v1 swap comes from memory.stat. It could also be computed as memory.memsw.usage_in_bytes
	 * minus memory.usage_in_bytes, but the two files are read at different times. */
	{CGROUP_SWAP_BYTES, CGROUP_MEMORY, 2, NUMBER, "memory.swap.current", NULL, 1},
	{CGROUP_MEMORY_HIGH_EVENTS, CGROUP_MEMORY, 2, KEYED, "memory.events", "high", 1},
	{CGROUP_MEMORY_MAX_EVENTS, CGROUP_MEMORY, 2, KEYED, "memory.events", "max", 1},
	{CGROUP_MEMORY_OOM_EVENTS, CGROUP_MEMORY, 2, KEYED, "memory.events", "oom", 1},
	{CGROUP_OOM_KILLS, CGROUP_MEMORY, 2, KEYED, "memory.events", "oom_kill", 1},
	{CGROUP_MEMORY_PRESSURE_SECONDS, CGROUP_MEMORY, 2, PRESSURE, "memory.pressure", "some",
		1e-6},
	{CGROUP_MEMORY_ANON_BYTES, CGROUP_MEMORY, 2, KEYED, "memory.stat", "anon", 1},
	{CGROUP_MEMORY_CACHE_BYTES, CGROUP_MEMORY, 2, KEYED, "memory.stat", "file", 1},
	{CGROUP_MEMORY_SHMEM_BYTES, CGROUP_MEMORY, 2, KEYED, "memory.stat", "shmem", 1},
	{CGROUP_MEMORY_HUGE_BYTES, CGROUP_MEMORY, 2, KEYED, "memory.stat", "anon_thp", 1},
	{CGROUP_MEMORY_BYTES, CGROUP_MEMORY, 1, NUMBER, "memory.usage_in_bytes", NULL, 1},
	{CGROUP_MEMORY_PEAK_BYTES, CGROUP_MEMORY, 1, NUMBER, "memory.max_usage_in_bytes", NULL, 1},
	{CGROUP_MEMORY_MAX_EVENTS, CGROUP_MEMORY, 1, NUMBER, "memory.failcnt", NULL, 1},
	{CGROUP_OOM_KILLS, CGROUP_MEMORY, 1, KEYED, "memory.oom_control", "oom_kill", 1},
	{CGROUP_MEMORY_ANON_BYTES, CGROUP_MEMORY, 1, KEYED, "memory.stat", "total_rss", 1},
	{CGROUP_MEMORY_CACHE_BYTES, CGROUP_MEMORY, 1, KEYED, "memory.stat", "total_cache", 1},
	{CGROUP_MEMORY_SHMEM_BYTES, CGROUP_MEMORY, 1, KEYED, "memory.stat", "total_shmem", 1},
	{CGROUP_MEMORY_HUGE_BYTES, CGROUP_MEMORY, 1, KEYED, "memory.stat", "total_rss_huge", 1},
	{CGROUP_SWAP_BYTES, CGROUP_MEMORY, 1, KEYED, "memory.stat", "total_swap", 1},
	{CGROUP_TASKS, CGROUP_PIDS, 2, NUMBER, "pids.current", NULL, 1},
	{CGROUP_TASKS_PEAK, CGROUP_PIDS, 2, NUMBER, "pids.peak", NULL, 1},
	{CGROUP_TASKS, CGROUP_PIDS, 1, NUMBER, "pids.current", NULL, 1},
	{CGROUP_TASKS_PEAK, CGROUP_PIDS, 1, NUMBER, "pids.peak", NULL, 1},
	{CGROUP_IO_READ_BYTES, CGROUP_IO, 2, DEVICES, "io.stat", "rbytes", 1},
	{CGROUP_IO_WRITTEN_BYTES, CGROUP_IO, 2, DEVICES, "io.stat", "wbytes", 1},
	{CGROUP_IO_PRESSURE_SECONDS, CGROUP_IO, 2, PRESSURE, "io.pressure", "some", 1e-6},
	{CGROUP_IO_READ_BYTES, CGROUP_IO, 1, DEVICES, "blkio.throttle.io_service_bytes", "Read", 1},
	{CGROUP_IO_WRITTEN_BYTES, CGROUP_IO, 1, DEVICES, "blkio.throttle.io_service_bytes", "Write",
		1},
};

struct cgroup_file {
	size_t row, n_rows; /* first row of this file in the table, and number of its rows */
	char path[CGROUP_FILE_MAX];
	struct kernel_file source;
};

static bool same_file(const struct cgroup_file_row *a, const struct cgroup_file_row *b)
{
	return a->version == b->version && a->controller == b->controller &&
	       strcmp(a->file, b->file) == 0;
}

void cgroup_files_open(struct cgroup_files *ret, const struct cgroup *group, uint32_t wanted)
{
	size_t next;

	*ret = (struct cgroup_files){.file = xcalloc(ARRAY_LEN(rows), sizeof *ret->file)};
	for (size_t i = 0; i < ARRAY_LEN(rows); i = next) {
		const struct cgroup_place *place = &group->place[rows[i].controller];
		struct cgroup_file *f = &ret->file[ret->n];
		uint32_t has = 0;

		for (next = i; next < ARRAY_LEN(rows) && same_file(&rows[i], &rows[next]); next++)
			has |= CGROUP_WANT(rows[next].id);
		if (place->version != rows[i].version || !(has & wanted))
			continue;
		f->row = i;
		f->n_rows = next - i;
		kernel_file_open(&f->source, place->tree,
			cgroup_file(place, rows[i].file, f->path));
		ret->n++;
	}
}

void cgroup_files_by_path(struct cgroup_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		kernel_file_by_path(&f->file[i].source);
}

void cgroup_files_close(struct cgroup_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		kernel_file_close(&f->file[i].source);
	free(f->file);
	*f = (struct cgroup_files){0};
}

/* Finds the number that follows `key` in a line of one device: "key=number" or "key number". */
static bool device_number(struct scan line, const char *key, uint64_t *ret)
{
	struct slice word;

	while (scan_word(&line, &word)) {
		struct scan value = scan_slice(word);

		if (slice_is(word, key))
			return scan_u64(&line, ret);
		if (scan_literal(&value, key) && scan_char(&value, '='))
			return scan_u64(&value, ret);
	}
	return false;
}

/* Returns the sum over all devices. An empty file means that there was no I/O. */
static double devices_sum(struct scan text, const char *key)
{
	struct scan line;
	double sum = 0;
	uint64_t v;

	while (scan_line(&text, &line)) {
		struct scan device = line;
		struct slice number;

		/* Skip the line "Total" at the end of v1 files. */
		if (scan_word(&device, &number) && memchr(number.data, ':', number.len) &&
			device_number(device, key, &v))
			sum += (double)v;
	}
	return sum;
}

static double row_value(const struct cgroup_file_row *r, struct scan text)
{
	uint64_t v;

	switch (r->how) {
	case NUMBER:
		return scan_u64(&text, &v) ? (double)v * r->unit : (double)NAN;
	case KEYED:
		return number_found(text, r->key) * r->unit;
	case PRESSURE:
		return number_pressure(text, r->key, &v) ? (double)v * r->unit : (double)NAN;
	case DEVICES:
		return devices_sum(text, r->key) * r->unit;
	}
	return NAN;
}

int cgroup_files_read(struct cgroup_files *f, const struct host *host, double ret[CGROUP_VALUES],
	struct err *e)
{
	int failed = 0;

	for (size_t i = 0; i < CGROUP_VALUES; i++)
		ret[i] = NAN;
	for (size_t i = 0; i < f->n; i++) {
		struct scan text;
		struct err why;
		int code = kernel_file_read(&f->file[i].source, host, &text, &why);

		if (code < 0 && !kernel_file_absent(code))
			failed = err_set(e, code, "%s", why.text);
		if (code < 0)
			continue;
		for (size_t k = 0; k < f->file[i].n_rows; k++) {
			const struct cgroup_file_row *r = &rows[f->file[i].row + k];

			ret[r->id] = row_value(r, text);
		}
	}
	return failed;
}
