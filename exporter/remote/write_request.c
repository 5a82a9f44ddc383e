#include "exporter/remote/write_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/job_key.h"
#include "collectors/base/scan.h"
#include "exporter/remote/varint.h"

/* Tags of the fields of the protobuf messages WriteRequest, TimeSeries, Label and Sample: number of
 * the field << 3 | wire type. */
enum field {
	FIELD_SERIES = 1 << 3 | 2,
	FIELD_LABEL = 1 << 3 | 2,
	FIELD_SAMPLE = 2 << 3 | 2,
	FIELD_NAME = 1 << 3 | 2,
	FIELD_TEXT = 2 << 3 | 2,
	FIELD_VALUE = 1 << 3 | 1,
	FIELD_TIME = 2 << 3 | 0,
};

#define NAME_MAX_BYTES 96
/* maximum number of labels of a series: the texts of the run, the name of the series, and the five
 * labels of every series */
#define LABELS_MAX (RUN_TEXTS_MAX + 6)

struct label {
	const char *name;
	struct slice text;
};

static void put_text(struct buf *out, enum field f, const char *text, size_t len)
{
	varint_add(out, f);
	varint_add(out, len);
	buf_add(out, text, len);
}

/* Appends the labels of a series, as the message TimeSeries contains them. */
static void put_labels(struct buf *out, const struct label *label, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t name = strlen(label[i].name), text = label[i].text.len;

		varint_add(out, FIELD_LABEL);
		varint_add(out, 2 + varint_size(name) + name + varint_size(text) + text);
		put_text(out, FIELD_NAME, label[i].name, name);
		put_text(out, FIELD_TEXT, label[i].text.data, text);
	}
}

static void put_series(struct buf *out, const struct buf *labels, double value, int64_t at_ms)
{
	size_t sample = 1 + sizeof value + 1 + varint_size((uint64_t)at_ms);
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	varint_add(out, FIELD_SERIES);
	varint_add(out, labels->len + 2 + sample);
	buf_add(out, labels->data, labels->len);
	varint_add(out, FIELD_SAMPLE);
	varint_add(out, sample);
	varint_add(out, FIELD_VALUE);
	for (unsigned i = 0; i < sizeof bits; i++, bits >>= 8)
		buf_addc(out, (char)(bits & 0xff));
	varint_add(out, FIELD_TIME);
	varint_add(out, (uint64_t)at_ms);
}

static struct slice slice_of(const char *text)
{
	return (struct slice){text, strlen(text)};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

/* Adds a label. An empty text is left out, because it means the same as no label. */
static void add_label(struct label *label, size_t *n, const char *name, struct slice text)
{
	if (text.len)
		label[(*n)++] = (struct label){name, text};
}

/* Adds a series with one sample. `label` contains its labels; label[0] is set to the name of the
 * series. The labels must be sorted, because the receiver requires it. */
static void add_series(struct buf *out, struct label *label, size_t n, const char *name,
	double value, int64_t at_ms)
{
	struct buf labels AUTO(buf_done) = BUF_MAX(WRITE_REQUEST_RUN_MAX);
	char full[NAME_MAX_BYTES];

	snprintf(full, sizeof full, RUN_SERIES_PREFIX "%s", name);
	label[0] = (struct label){"__name__", slice_of(full)};
	put_labels(&labels, label, n);
	put_series(out, &labels, value, at_ms);
}

void write_request_add(struct buf *out, const struct run *r, int64_t at_ms)
{
	struct job_parts job = job_key_parts(r->job_name);
	struct label label[LABELS_MAX] = {{"__name__", {"", 0}}};
	struct run_values v;
	double numbers = 1, check = 0; /* the check counts as a number */
	size_t n = 1;

	run_values_of(r, &v);
	add_label(label, &n, "cluster", slice_of(job.cluster));
	add_label(label, &n, RUN_CONTAINER, run_container(r->labels));
	add_label(label, &n, "job_name", slice_of(job.name));
	add_label(label, &n, "namespace", slice_of(job.space));
	add_label(label, &n, "outcome", slice_of(run_outcome_name(r->outcome)));
	for (size_t i = 0; i < run_series_n; i++) {
		if (!isfinite(v.number[i]))
			continue;
		add_series(out, label, n, run_series[i].name, v.number[i], at_ms);
		check += run_check_term(v.number[i]);
		numbers++;
	}
	add_series(out, label, n, RUN_SERIES_CHECK, check, at_ms);
	add_series(out, label, n, RUN_SERIES_NUMBERS, numbers, at_ms);
	for (size_t i = 0; i < run_texts_n; i++)
		if (v.text[i])
			add_label(label, &n, run_texts[i].label, slice_of(v.text[i]));
	qsort(label + 1, n - 1, sizeof *label, by_name);
	add_series(out, label, n, RUN_SERIES_INFO, 1, at_ms);
}
