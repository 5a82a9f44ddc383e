/* Reading traces for the benches. */
#include "tests/bench/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

#define FILE_MAX_BYTES (256u << 20)
#define COLUMNS_MAX    64

enum column { SOURCE, LABEL, INDEX, DURATION, PEAK, INPUT, READ, CORES, COLUMNS };
static const char *const column_names[COLUMNS] = {
	"trace",
	"task_label",
	"run_index",
	"duration_s",
	"mem_peak_mib",
	"input_bytes",
	"io_read_bytes",
	"cpu_mean_cores",
};

/* Splits a line without quotes into cells. Missing cells of a short line are empty. */
static size_t split(struct scan line, struct slice cell[COLUMNS_MAX])
{
	size_t n = 0;

	while (n < COLUMNS_MAX && line.at <= line.end) {
		const char *start = line.at;

		while (line.at < line.end && *line.at != ',' && *line.at != '\r')
			line.at++;
		cell[n++] = (struct slice){start, (size_t)(line.at - start)};
		line.at++;
	}
	return n;
}

static double number(struct slice cell)
{
	struct scan s = {cell.data, cell.data + cell.len};
	double v;

	return scan_double(&s, &v) && scan_end(&s) ? v : NAN;
}

static char *text(struct slice cell)
{
	char *copy = xcalloc(cell.len + 1, 1);

	memcpy(copy, cell.data, cell.len);
	return copy;
}

static int parse(struct trace *t, const char *path, struct scan all, struct err *e)
{
	size_t place[COLUMNS], n;
	struct slice cell[COLUMNS_MAX + 1] = {0};
	struct scan line;

	if (!scan_line(&all, &line))
		return err_set(e, -EINVAL, "%s: empty", path);
	n = split(line, cell);
	for (unsigned c = 0; c < COLUMNS; c++) {
		place[c] = COLUMNS_MAX; /* this cell is always empty */
		for (size_t i = 0; i < n; i++)
			if (slice_is(cell[i], column_names[c]))
				place[c] = i;
	}
	if (place[SOURCE] == COLUMNS_MAX || place[LABEL] == COLUMNS_MAX ||
		place[PEAK] == COLUMNS_MAX)
		return err_set(e, -EINVAL,
			"%s: needs the columns trace, task_label and mem_peak_mib", path);
	while (scan_line(&all, &line)) {
		memset(cell, 0, sizeof cell);
		if (split(line, cell) < n)
			continue;
		GROW(t->row, t->n, t->room);
		t->row[t->n++] = (struct trace_row){
			.source = text(cell[place[SOURCE]]),
			.label = text(cell[place[LABEL]]),
			.index = number(cell[place[INDEX]]),
			.duration = number(cell[place[DURATION]]),
			.peak_mib = number(cell[place[PEAK]]),
			.input_bytes = number(cell[place[INPUT]]),
			.read_bytes = number(cell[place[READ]]),
			.cores = number(cell[place[CORES]]),
		};
	}
	return 0;
}

static int read_file(struct trace *t, const char *path, struct err *e)
{
	AUTO(buf_done) struct buf b = BUF_MAX(FILE_MAX_BYTES);
	FILE *f = fopen(path, "re");
	char piece[65536];
	size_t got;

	if (!f)
		return err_system(e, -errno, "open %s", path);
	while ((got = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(&b, piece, got);
	fclose(f);
	if (b.full)
		return err_set(e, -EFBIG, "%s: larger than %u bytes", path, FILE_MAX_BYTES);
	return parse(t, path, SCAN(buf_text(&b), b.len), e);
}

static int by_source_label_index(const void *a, const void *b)
{
	const struct trace_row *left = a, *right = b;
	int order = strcmp(left->source, right->source);

	if (!order)
		order = strcmp(left->label, right->label);
	return order ? order : (left->index > right->index) - (left->index < right->index);
}

bool trace_read_all(struct trace *t, char *const path[])
{
	struct err e;

	for (; *path; path++)
		if (read_file(t, *path, &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			return false;
		}
	qsort(t->row, t->n, sizeof *t->row, by_source_label_index);
	return true;
}

double trace_input(const struct trace_row *row, enum input_mode mode)
{
	if (mode == INPUT_NONE)
		return NAN;
	return isnan(row->input_bytes) && mode == INPUT_PROXY ? row->read_bytes : row->input_bytes;
}

size_t trace_label_end(const struct trace *t, size_t first)
{
	size_t i = first;

	while (i < t->n && strcmp(t->row[i].source, t->row[first].source) == 0 &&
		strcmp(t->row[i].label, t->row[first].label) == 0)
		i++;
	return i;
}

void trace_done(struct trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->row[i].source);
		free(t->row[i].label);
	}
	free(t->row);
}
