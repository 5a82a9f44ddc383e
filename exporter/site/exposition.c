/* Writes a snapshot as Prometheus text. Text that never changes is cached and only copied into each
 * answer. */
#include "exporter/site/exposition.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/job_key.h"
#include "collectors/base/mem.h"
#include "collectors/collector.h"

/* Maximum number of bytes of cached text; about 10 KiB are usual. */
#define HEADS_MAX (16u << 20)

const struct metric exposition_health[HEALTH_N_METRICS] = {
	[HEALTH_SUCCESS] = {.name = "rightsize_collector_success",
		.help = "1 when the collector's last reading worked, 0 when it failed and its "
			"metrics are absent",
		.labels = {"collector"},
		.type = METRIC_GAUGE},
	[HEALTH_DURATION] = {.name = "rightsize_collector_duration_seconds",
		.unit = "seconds",
		.help = "Time that the collector's last reading took",
		.labels = {"collector"},
		.type = METRIC_GAUGE},
};

const struct exposition_words exposition_words[] = {
	[METRIC_GAUGE] = {"", "gauge", "gauge"},
	[METRIC_COUNTER] = {"_total", "counter", "counter"},
	[METRIC_INFO] = {"_info", "gauge", "info"},
};

/* The constant text of a metric family in exposition_heads.text. The text begins at the offset
 * `at`: first the HELP and TYPE lines, in `lines` bytes, then the start of each sample line, in
 * `prefix` bytes. `prefix` 0 = the text was not made yet. */
struct exposition_head {
	size_t at, lines, prefix;
};

struct exposition_writer {
	struct buf *out;
	const struct exposition_filter *filter;
	bool openmetrics;
	struct exposition_heads *heads;
};

static bool in_list(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

static bool collector_wanted(const struct exposition_filter *f, const char *name)
{
	if (!f)
		return true;
	return (f->n_collect == 0 || in_list(name, f->collect, f->n_collect)) &&
	       !in_list(name, f->exclude, f->n_exclude);
}

static bool family_wanted(const struct exposition_filter *f, const struct metric *m)
{
	size_t len = strlen(m->name);

	if (!f || f->n_name == 0)
		return true;
	for (size_t i = 0; i < f->n_name; i++)
		if (strncmp(f->name[i], m->name, len) == 0 &&
			(f->name[i][len] == '\0' ||
				strcmp(f->name[i] + len, exposition_words[m->type].suffix) == 0))
			return true;
	return false;
}

/* Appends a text with escapes. `quotes`: true = also escape the double quote, as label values and
 * the HELP lines of OpenMetrics require. */
static void escaped(struct buf *out, const char *s, bool quotes)
{
	const char *stops = quotes ? "\\\n\"" : "\\\n";

	for (;;) {
		size_t plain = strcspn(s, stops);

		buf_add(out, s, plain);
		s += plain;
		if (*s == '\0')
			return;
		buf_addc(out, '\\');
		buf_addc(out, *s == '\n' ? 'n' : *s);
		s++;
	}
}

static void meta_line(struct buf *out, const char *keyword, const char *name, const char *suffix)
{
	buf_adds(out, keyword);
	buf_adds(out, name);
	buf_adds(out, suffix);
	buf_addc(out, ' ');
}

/* Writes the HELP, TYPE and UNIT lines of a family. In OpenMetrics the name in these lines has no
 * suffix such as "_total"; in the text format it has the suffix. */
static void family_lines(struct buf *out, const struct metric *m, bool openmetrics)
{
	const char *suffix = openmetrics ? "" : exposition_words[m->type].suffix;

	if (!openmetrics) {
		meta_line(out, "# HELP ", m->name, suffix);
		escaped(out, m->help, false);
		buf_addc(out, '\n');
	}
	meta_line(out, "# TYPE ", m->name, suffix);
	buf_adds(out, openmetrics ? exposition_words[m->type].openmetrics :
				    exposition_words[m->type].text);
	buf_addc(out, '\n');
	if (!openmetrics)
		return;
	if (m->unit) {
		meta_line(out, "# UNIT ", m->name, suffix);
		buf_adds(out, m->unit);
		buf_addc(out, '\n');
	}
	meta_line(out, "# HELP ", m->name, suffix);
	escaped(out, m->help, true);
	buf_addc(out, '\n');
}

/* Writes the start of a sample line that is the same for all samples of a metric: 'NAME{LABEL="'
 * for a metric with labels, or only 'NAME' for a metric without labels. */
static void sample_prefix(struct buf *out, const struct metric *m)
{
	buf_adds(out, m->name);
	buf_adds(out, exposition_words[m->type].suffix);
	if (m->labels[0]) {
		buf_addc(out, '{');
		buf_adds(out, m->labels[0]);
		buf_add(out, "=\"", 2);
	}
}

static const struct exposition_head *head_of(const struct exposition_writer *w,
	const struct metric *m, size_t number)
{
	struct exposition_head *h = &w->heads->head[number];
	struct buf *text = &w->heads->text;

	if (h->prefix)
		return h;
	h->at = text->len;
	family_lines(text, m, w->openmetrics);
	h->lines = text->len - h->at;
	sample_prefix(text, m);
	h->prefix = text->len - h->at - h->lines;
	return h;
}

static void family_head(const struct exposition_writer *w, const struct exposition_head *h)
{
	buf_add(w->out, buf_text(&w->heads->text) + h->at, h->lines);
}

static void add_part(struct buf *out, const char *label, const char *value)
{
	if (!*value)
		return;
	buf_adds(out, label);
	escaped(out, value, true);
	buf_addc(out, '"');
}

/* Writes the value of the label job_name, and the labels namespace and cluster if the job's key has
 * them (collectors/base/job_key.h). */
static void job_labels(struct buf *out, const char *key)
{
	struct job_parts p = job_key_parts(key);

	escaped(out, p.name, true);
	buf_addc(out, '"');
	add_part(out, ",namespace=\"", p.space);
	add_part(out, ",cluster=\"", p.cluster);
}

static void sample(const struct exposition_writer *w, const struct metric *m,
	const struct exposition_head *h, const char *const *labels, double value)
{
	struct buf *out = w->out;

	buf_add(out, buf_text(&w->heads->text) + h->at + h->lines, h->prefix);
	for (size_t i = 0; i < METRIC_LABELS_MAX && m->labels[i] && labels[i]; i++) {
		if (i) {
			buf_addc(out, ',');
			buf_adds(out, m->labels[i]);
			buf_add(out, "=\"", 2);
		}
		if (strcmp(m->labels[i], "job_name") == 0) {
			job_labels(out, labels[i]);
			continue;
		}
		escaped(out, labels[i], true);
		buf_addc(out, '"');
	}
	if (m->labels[0])
		buf_addc(out, '}');
	buf_addc(out, ' ');
	buf_add_double(out, value);
	buf_addc(out, '\n');
}

static void block_write(const struct exposition_writer *w, const struct block *b, size_t first)
{
	for (size_t i = 0; i < b->collector->n_metrics; i++) {
		const struct metric *m = &b->collector->metrics[i];
		const struct point *p = b->points[i].first;

		if (!p || !family_wanted(w->filter, m))
			continue;
		const struct exposition_head *h = head_of(w, m, first + i);

		family_head(w, h);
		for (; p; p = p->next)
			sample(w, m, h, p->labels, p->value);
	}
}

static void health_write(const struct exposition_writer *w, const struct snapshot *s, unsigned id,
	size_t number)
{
	const struct metric *m = &exposition_health[id];
	const struct exposition_head *h = NULL;

	if (!family_wanted(w->filter, m))
		return;
	for (size_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->blocks[i];
		const char *labels[METRIC_LABELS_MAX] = {b->collector->name};

		if (b->absent || !collector_wanted(w->filter, labels[0]))
			continue;
		if (!h) {
			h = head_of(w, m, number);
			family_head(w, h);
		}
		sample(w, m, h, labels, id == HEALTH_SUCCESS ? b->success : b->duration_seconds);
	}
}

/* ---- the cache of constant text ---- */

void exposition_heads_done(struct exposition_heads *h)
{
	buf_done(&h->text);
	free(h->head);
	free(h->collector);
	*h = (struct exposition_heads){0};
}

static bool are_of(const struct exposition_heads *h, const struct snapshot *s)
{
	if (!h->head || h->n_blocks != s->n_blocks)
		return false;
	for (size_t i = 0; i < s->n_blocks; i++)
		if (h->collector[i] != s->blocks[i].collector)
			return false;
	return true;
}

static void heads_begin(struct exposition_heads *h, const struct snapshot *s)
{
	size_t n = HEALTH_N_METRICS;

	exposition_heads_done(h);
	h->text = BUF_MAX(HEADS_MAX);
	h->n_blocks = s->n_blocks;
	h->collector = xcalloc(s->n_blocks + 1, sizeof *h->collector);
	for (size_t i = 0; i < s->n_blocks; i++) {
		h->collector[i] = s->blocks[i].collector;
		n += s->blocks[i].collector->n_metrics;
	}
	h->head = xcalloc(n, sizeof *h->head);
}

void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter, struct exposition_heads *heads)
{
	struct exposition_writer w = {out, filter,
		format == EXPOSITION_OPENMETRICS_1_0_0 || format == EXPOSITION_OPENMETRICS_0_0_1,
		heads};
	size_t number = 0;

	if (!are_of(heads, s))
		heads_begin(heads, s);
	for (size_t i = 0; i < s->n_blocks; i++) {
		const struct collector *c = s->blocks[i].collector;

		if (collector_wanted(filter, c->name))
			block_write(&w, &s->blocks[i], number);
		number += c->n_metrics;
	}
	for (unsigned id = 0; id < HEALTH_N_METRICS; id++)
		health_write(&w, s, id, number + id);
	if (w.openmetrics)
		buf_adds(out, "# EOF\n");
}
