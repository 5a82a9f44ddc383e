#include "exporter/history/sample_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "collectors/collector.h"
#include "collectors/runs.h"

#define SHORTEST_INTERVAL_NS 1000000
/* The first snapshot of a run shows the machine's counters at the start of the run only if the run
 * is younger than this many seconds. Hardly any growth is then missed. */
#define JUST_NOW_SECONDS 0.1

struct recorded_run {
	char run_id[RUN_ID_MAX];
	struct mono at; /* time at which the last row ends */
	double *last;   /* last known value of each column */
};

struct sample_rows {
	const struct columns *columns;
	/* Source of each column: a run metric, or a metric of a collector. */
	struct row_source {
		int run_metric; /* index of the run metric; -1 = the column has none */
		const struct collector *collector;
		unsigned metric;
	} * source;
	size_t n, room;
	struct recorded_run *recorded;
	double *system; /* for each column of the machine: its value in the current snapshot */
	size_t rows_room;
	struct sample *row;
};

static struct row_source source_of(const struct metric *m)
{
	for (int i = 0; i < RUN_N_METRICS; i++)
		if (&run_metrics[i] == m)
			return (struct row_source){.run_metric = i};
	for (size_t c = 0; all_collectors[c]; c++) {
		const struct collector *collector = all_collectors[c];

		if (m >= collector->metrics && m < collector->metrics + collector->n_metrics)
			return (struct row_source){
				-1, collector, (unsigned)(m - collector->metrics)};
	}
	return (struct row_source){-1, NULL, 0};
}

struct sample_rows *sample_rows_new(const struct columns *columns)
{
	struct sample_rows *f = xcalloc(1, sizeof *f);

	f->columns = columns;
	f->source = xcalloc(columns->n, sizeof *f->source);
	f->system = xcalloc(columns->n, sizeof *f->system);
	for (size_t i = 0; i < columns->n; i++)
		f->source[i] = source_of(columns->metric[i]);
	return f;
}

void sample_rows_free(struct sample_rows *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->recorded[i].last);
	for (size_t i = 0; i < f->rows_room; i++)
		free(f->row[i].value);
	free(f->recorded);
	free(f->row);
	free(f->source);
	free(f->system);
	free(f);
}

static void read_system(struct sample_rows *f, const struct snapshot *s)
{
	for (size_t i = 0; i < f->columns->n; i++) {
		const struct block *b =
			f->source[i].collector ? snapshot_block(s, f->source[i].collector) : NULL;

		f->system[i] = b ? block_sum(b, f->source[i].metric) : NAN;
	}
}

static const struct run_reading *reading_of(const struct snapshot *s, const char *run_id)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (strcmp(s->runs[i].run_id, run_id) == 0)
			return &s->runs[i];
	return NULL;
}

static struct recorded_run *begin_recording(struct sample_rows *f, const char *run_id,
	const struct snapshot *s)
{
	GROW(f->recorded, f->n, f->room);
	struct recorded_run *r = &f->recorded[f->n++];

	*r = (struct recorded_run){.at = s->at.mono};
	text_copy(run_id, r->run_id, sizeof r->run_id);
	r->last = xcalloc(f->columns->n, sizeof *r->last);
	return r;
}

void sample_rows_begin(struct sample_rows *f, const char *run_id, const struct snapshot *s)
{
	struct recorded_run *r = begin_recording(f, run_id, s);
	const struct run_reading *reading = reading_of(s, run_id);
	double age = reading ? reading->value[RUN_DURATION_SECONDS] : 0;
	bool started_just_now = !(age > JUST_NOW_SECONDS);

	if (age > 0)
		r->at.ns -= (int64_t)(age * 1e9);
	read_system(f, s);
	for (size_t i = 0; i < f->columns->n; i++)
		r->last[i] = f->source[i].run_metric >= 0 ? 0 :
			     started_just_now             ? f->system[i] :
							    NAN;
}

void sample_rows_continue(struct sample_rows *f, const char *run_id, const struct snapshot *s,
	const double *base, double seconds)
{
	struct recorded_run *r = begin_recording(f, run_id, s);

	r->at.ns -= (int64_t)(seconds * 1e9);
	for (size_t i = 0; i < f->columns->n; i++)
		r->last[i] = f->source[i].run_metric >= 0 ? base[f->source[i].run_metric] : NAN;
}

static double folded(enum metric_fold how, double last, double now)
{
	switch (how) {
	case FOLD_DELTA:
		return now >= last ? now - last : NAN; /* NaN if `now` or `last` is NaN */
	case FOLD_VALUE:
	case FOLD_PEAK:
		return now;
	case FOLD_NONE:
		return NAN;
	}
	return NAN;
}

static void fill_row(struct sample_rows *f, struct recorded_run *r,
	const struct run_reading *reading, const struct snapshot *s, struct sample *row)
{
	memcpy(row->run_id, r->run_id, sizeof row->run_id);
	row->at = wall_seconds(s->at.wall);
	row->duration = mono_seconds_between(r->at, s->at.mono);
	r->at = s->at.mono;
	for (size_t i = 0; i < f->columns->n; i++) {
		int metric = f->source[i].run_metric;
		double now = metric >= 0 ? reading->value[metric] : f->system[i];

		row->value[i] = folded(f->columns->metric[i]->fold, r->last[i], now);
		/* If `now` is unknown, keep the last known value: the next growth is counted from
		 * it. */
		if (!isnan(now))
			r->last[i] = now;
	}
}

static struct sample *row_number(struct sample_rows *f, size_t n)
{
	while (f->rows_room <= n) {
		f->row = xreallocarray(f->row, f->rows_room + 1, sizeof *f->row);
		f->row[f->rows_room++].value = xcalloc(f->columns->n, sizeof(double));
	}
	return &f->row[n];
}

size_t sample_rows_read(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret)
{
	size_t n = 0;

	if (f->n)
		read_system(f, s);
	for (size_t i = 0; i < f->n; i++) {
		struct recorded_run *r = &f->recorded[i];
		const struct run_reading *reading = reading_of(s, r->run_id);

		if (!reading || (run_id && strcmp(run_id, r->run_id) != 0))
			continue;
		if (s->at.mono.ns - r->at.ns < SHORTEST_INTERVAL_NS && !reading->ended)
			continue;
		fill_row(f, r, reading, s, row_number(f, n++));
	}
	*ret = f->row;
	return n;
}

size_t sample_rows_correction(struct sample_rows *f, const struct snapshot *s, const char *run_id,
	const struct sample **ret)
{
	size_t n = sample_rows_read(f, s, run_id, ret);

	if (n)
		f->row[0].duration = 0;
	return n;
}

bool sample_rows_records(const struct sample_rows *f, const char *run_id)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->recorded[i].run_id, run_id) == 0)
			return true;
	return false;
}

void sample_rows_end(struct sample_rows *f, const char *run_id)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->recorded[i].run_id, run_id) == 0) {
			free(f->recorded[i].last);
			f->recorded[i] = f->recorded[--f->n];
			return;
		}
}
