/* Traces of repeated tasks for the benches, as CSV with a header. These columns are read: trace,
 * task_label, run_index, duration_s, mem_peak_mib, input_bytes, io_read_bytes, cpu_mean_cores. An
 * empty cell means that the value is unknown. */
#ifndef TESTS_BENCH_TRACE_H
#define TESTS_BENCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>

struct trace_row {
	char *source, *label;
	double index, duration, peak_mib, input_bytes, read_bytes, cores;
};

struct trace {
	size_t n, room;
	struct trace_row *row; /* sorted by source, label and index */
};

/* PROXY: the announced input size, or the bytes read if it is unknown. */
enum input_mode { INPUT_PROXY, INPUT_ANNOUNCED, INPUT_NONE };

/* Reads the files and sorts the rows. `path` ends with NULL, as argv does. Prints the error and
 * returns false if a file cannot be read. */
bool trace_read_all(struct trace *t, char *const path[]);
double trace_input(const struct trace_row *row, enum input_mode mode); /* NaN = unknown */
size_t trace_label_end(const struct trace *t,
	size_t first); /* returns the index after the last row that has the label of row `first` */
void trace_done(struct trace *t);

#endif
