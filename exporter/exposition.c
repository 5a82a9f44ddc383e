/* A snapshot as Prometheus text. Runs once per snapshot and format, so it only copies. */
#include "exporter/exposition.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"

const struct metric health_metrics[HEALTH_N_METRICS] = {
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

const struct metric_words metric_words[] = {
	[METRIC_GAUGE] = {"", "gauge", "gauge"},
	[METRIC_COUNTER] = {"_total", "counter", "counter"},
	[METRIC_INFO] = {"_info", "gauge", "info"},
};

struct writer {
	struct buf *out;
	const struct exposition_filter *filter;
	bool openmetrics;
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
				strcmp(f->name[i] + len, metric_words[m->type].suffix) == 0))
			return true;
	return false;
}

/* quotes: in label values and OpenMetrics HELP, where " ends the text or must not stand. */
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

/* In OpenMetrics the family is named without the suffix of its samples, in the text format with it.
 */
static void family_head(const struct writer *w, const struct metric *m)
{
	const char *suffix = w->openmetrics ? "" : metric_words[m->type].suffix;

	if (!w->openmetrics) {
		meta_line(w->out, "# HELP ", m->name, suffix);
		escaped(w->out, m->help, false);
		buf_addc(w->out, '\n');
	}
	meta_line(w->out, "# TYPE ", m->name, suffix);
	buf_adds(w->out,
		w->openmetrics ? metric_words[m->type].openmetrics : metric_words[m->type].text);
	buf_addc(w->out, '\n');
	if (!w->openmetrics)
		return;
	if (m->unit) {
		meta_line(w->out, "# UNIT ", m->name, suffix);
		buf_adds(w->out, m->unit);
		buf_addc(w->out, '\n');
	}
	meta_line(w->out, "# HELP ", m->name, suffix);
	escaped(w->out, m->help, true);
	buf_addc(w->out, '\n');
}

static void sample(const struct writer *w, const struct metric *m, const char *const *labels,
	double value)
{
	struct buf *out = w->out;

	buf_adds(out, m->name);
	buf_adds(out, metric_words[m->type].suffix);
	for (size_t i = 0; i < METRIC_LABELS_MAX && m->labels[i]; i++) {
		buf_addc(out, i ? ',' : '{');
		buf_adds(out, m->labels[i]);
		buf_add(out, "=\"", 2);
		escaped(out, labels[i], true);
		buf_addc(out, '"');
	}
	if (m->labels[0])
		buf_addc(out, '}');
	buf_addc(out, ' ');
	buf_add_double(out, value);
	buf_addc(out, '\n');
}

static void block_write(const struct writer *w, const struct block *b)
{
	for (size_t i = 0; i < b->collector->n_metrics; i++) {
		const struct metric *m = &b->collector->metrics[i];
		const struct point *p = b->points[i].first;

		if (!p || !family_wanted(w->filter, m))
			continue;
		family_head(w, m);
		for (; p; p = p->next)
			sample(w, m, p->labels, p->value);
	}
}

static void health_write(const struct writer *w, const struct snapshot *s, unsigned id)
{
	const struct metric *m = &health_metrics[id];
	bool begun = false;

	if (!family_wanted(w->filter, m))
		return;
	for (size_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->blocks[i];
		const char *labels[METRIC_LABELS_MAX] = {b->collector->name};

		if (b->absent || !collector_wanted(w->filter, labels[0]))
			continue;
		if (!begun)
			family_head(w, m);
		begun = true;
		sample(w, m, labels, id == HEALTH_SUCCESS ? b->success : b->duration_seconds);
	}
}

void exposition_write(struct buf *out, const struct snapshot *s, enum exposition_format format,
	const struct exposition_filter *filter)
{
	struct writer w = {out, filter,
		format == EXPOSITION_OPENMETRICS_1_0_0 || format == EXPOSITION_OPENMETRICS_0_0_1};

	for (size_t i = 0; i < s->n_blocks; i++)
		if (collector_wanted(filter, s->blocks[i].collector->name))
			block_write(&w, &s->blocks[i]);
	for (unsigned id = 0; id < HEALTH_N_METRICS; id++)
		health_write(&w, s, id);
	if (w.openmetrics)
		buf_adds(out, "# EOF\n");
}
