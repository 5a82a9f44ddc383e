#include "exporter/sampling/enabled_collectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/sampling/job_costs.h"
#include "exporter/sampling/job_advice.h"
#include "exporter/core/log.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/sampling/self_metrics.h"

struct enabled_collector {
	/* NULL = the collector cannot work on this machine, or is switched off */
	const struct collector *collector;
	void *state;
	bool has_columns; /* true = the history stores some of its values */
	struct complaint complaint;
};

struct enabled_collectors {
	const struct collector **list;
	struct enabled_collector *enabled; /* one for each entry of `list` */
};

static bool is_kept(const struct collector *c)
{
	/* The values of collector_jobs are not read for the history: sample_rows.c takes them from
	 * the runs. */
	if (c == &collector_jobs)
		return false;
	for (size_t i = 0; i < c->n_metrics; i++)
		if (c->metrics[i].fold != FOLD_NONE)
			return true;
	return false;
}

static void start_one(struct enabled_collector *a, const struct collector *c, struct host *host)
{
	struct err e = {0};
	int code = c->start ? c->start(&a->state, host, &e) : 0;

	a->has_columns = is_kept(c);
	if (code == 0)
		a->collector = c;
	else if (code != -ENOENT)
		log_line(LOG_LEVEL_WARN, "collector left out", "collector", c->name, "err", e.text,
			NULL);
}

const struct collector *const enabled_collectors_own[] = {&collector_costs, &collector_sizes,
	&collector_warnings, &collector_outlook, &collector_self, NULL};

#define OWN_COLLECTORS (ARRAY_LEN(enabled_collectors_own) - 1)

struct enabled_collectors *enabled_collectors_start(const struct options *o, struct host *host)
{
	struct enabled_collectors *a = xcalloc(1, sizeof *a);
	size_t n = 0;

	while (all_collectors[n])
		n++;
	a->list = xcalloc(n + OWN_COLLECTORS + 1, sizeof *a->list);
	a->enabled = xcalloc(n + OWN_COLLECTORS, sizeof *a->enabled);
	for (size_t i = 0; i < n + OWN_COLLECTORS; i++) {
		a->list[i] = i < n ? all_collectors[i] : enabled_collectors_own[i - n];
		if (i >= n || o->collector_on[i])
			start_one(&a->enabled[i], a->list[i], host);
	}
	return a;
}

void enabled_collectors_watch(struct enabled_collectors *a, const struct self_sources *sources)
{
	for (size_t i = 0; a->list[i]; i++)
		if (a->enabled[i].collector == &collector_self)
			self_metrics_watch(a->enabled[i].state, sources);
}

void enabled_collectors_stop(struct enabled_collectors *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->list[i]; i++)
		if (a->enabled[i].collector && a->enabled[i].collector->stop)
			a->enabled[i].collector->stop(a->enabled[i].state);
	free(a->list);
	free(a->enabled);
	free(a);
}

const struct collector *const *enabled_collectors_list(const struct enabled_collectors *a)
{
	return a->list;
}

static void complain_of(struct enabled_collector *a, struct err *e, int code)
{
	if (!log_complaint_due(&a->complaint))
		return;
	if (!e->text[0])
		err_system(e, code, "collect");
	log_line(LOG_LEVEL_WARN, "collector failed", "collector", a->collector->name, "err",
		e->text, NULL);
}

static void collect(struct enabled_collector *a, const struct host *host, struct block *b)
{
	struct err e = {0};
	int64_t before = b->kept_only ? 0 : now_read().mono.ns;
	int code = a->collector->collect(a->state, host, b, &e);

	if (!b->kept_only)
		b->duration_seconds = (double)(now_read().mono.ns - before) / 1e9;
	b->success = code == 0;
	b->absent = code == -ENOENT && !e.text[0];
	if (code == 0) {
		if (log_complaint_over(&a->complaint))
			log_line(LOG_LEVEL_INFO, "collector works again", "collector",
				a->collector->name, NULL);
		return;
	}
	memset(b->points, 0, a->collector->n_metrics * sizeof *b->points);
	b->n_points = 0;
	if (!b->absent)
		complain_of(a, &e, code);
}

void enabled_collectors_read(struct enabled_collectors *a, const struct host *host,
	struct snapshot *s, bool kept_only)
{
	for (size_t i = 0; a->list[i]; i++) {
		struct enabled_collector *one = &a->enabled[i];
		struct block *b = &s->blocks[i];

		b->kept_only = kept_only;
		b->absent = !one->collector || (kept_only && !one->has_columns);
		if (!b->absent)
			collect(one, host, b);
	}
}
