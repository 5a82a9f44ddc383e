/* Traces of repeated tasks for the benches, as CSV with a header. These columns are read: trace,
 * task_label, run_index, duration_s, mem_peak_mib, input_bytes, io_read_bytes, cpu_mean_cores. An
 * empty cell means that the value is unknown. */
#ifndef TESTS_BENCH_TRACE_H
#define TESTS_BENCH_TRACE_H

#include <stddef.h>

#include "collectors/base/err.h"

struct trace_row {
	char *source, *label;
	double index, duration, peak_mib, input_bytes, read_bytes, cores;
};

struct trace {
	size_t n, room;
	struct trace_row *row; /* after trace_sort(): by source, label, index */
};

int trace_read(struct trace *t, const char *path, struct err *e); /* appends */
void trace_sort(struct trace *t);
size_t trace_label_end(const struct trace *t,
	size_t first); /* returns the index after the last row of first's label */
void trace_done(struct trace *t);

#endif
