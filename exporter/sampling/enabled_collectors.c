/* Collectors in use. */
#include "exporter/sampling/enabled_collectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/sampling/job_costs.h"
#include "exporter/core/log.h"
#include "exporter/sampling/run_forecast.h"
#include "exporter/sampling/self_metrics.h"

struct active {
	const struct collector *collector; /* NULL: not on this machine, or switched off */
	void *state;
	bool kept; /* the history keeps some of its metrics, which are not of runs */
	struct complaint complaint;
};

struct active_set {
	const struct collector **list;
	struct active *active; /* as many */
};

static bool is_kept(const struct collector *c)
{
	/* Its columns are filled from the runs themselves. */
	if (c == &collector_jobs)
		return false;
	for (size_t i = 0; i < c->n_metrics; i++)
		if (c->metrics[i].fold != FOLD_NONE)
			return true;
	return false;
}

static void start_one(struct active *a, const struct collector *c, struct host *host)
{
	struct err e = {0};
	int code = c->start ? c->start(&a->state, host, &e) : 0;

	a->kept = is_kept(c);
	if (code == 0)
		a->collector = c;
	else if (code != -ENOENT)
		log_line(LOG_LEVEL_WARN, "collector left out", "collector", c->name, "err", e.text,
			NULL);
}

const struct collector *const own_collectors[] = {
	&collector_costs, &collector_outlook, &collector_self, NULL};

#define OWN_COLLECTORS (ARRAY_LEN(own_collectors) - 1)

struct active_set *active_start(const struct options *o, struct host *host)
{
	struct active_set *a = xcalloc(1, sizeof *a);
	size_t n = 0;

	while (all_collectors[n])
		n++;
	a->list = xcalloc(n + OWN_COLLECTORS + 1, sizeof *a->list);
	a->active = xcalloc(n + OWN_COLLECTORS, sizeof *a->active);
	for (size_t i = 0; i < n + OWN_COLLECTORS; i++) {
		a->list[i] = i < n ? all_collectors[i] : own_collectors[i - n];
		if (i >= n || o->collector_on[i])
			start_one(&a->active[i], a->list[i], host);
	}
	return a;
}

void active_watch(struct active_set *a, const struct self_sources *sources)
{
	for (size_t i = 0; a->list[i]; i++)
		if (a->active[i].collector == &collector_self)
			self_watch(a->active[i].state, sources);
}

void active_stop(struct active_set *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->list[i]; i++)
		if (a->active[i].collector && a->active[i].collector->stop)
			a->active[i].collector->stop(a->active[i].state);
	free(a->list);
	free(a->active);
	free(a);
}

const struct collector *const *active_list(const struct active_set *a)
{
	return a->list;
}

static void complain(struct active *a, struct err *e, int code)
{
	if (!complaint_due(&a->complaint))
		return;
	if (!e->text[0])
		err_system(e, code, "collect");
	log_line(LOG_LEVEL_WARN, "collector failed", "collector", a->collector->name, "err",
		e->text, NULL);
}

static void collect(struct active *a, const struct host *host, struct block *b)
{
	struct err e = {0};
	int64_t before = b->kept_only ? 0 : now_read().mono.ns;
	int code = a->collector->collect(a->state, host, b, &e);

	if (!b->kept_only)
		b->duration_seconds = (double)(now_read().mono.ns - before) / 1e9;
	b->success = code == 0;
	b->absent = code == -ENOENT && !e.text[0];
	if (code == 0) {
		if (complaint_over(&a->complaint))
			log_line(LOG_LEVEL_INFO, "collector works again", "collector",
				a->collector->name, NULL);
		return;
	}
	memset(b->points, 0, a->collector->n_metrics * sizeof *b->points);
	b->n_points = 0;
	if (!b->absent)
		complain(a, &e, code);
}

void active_collect(struct active_set *a, const struct host *host, struct snapshot *s,
	bool kept_only)
{
	for (size_t i = 0; a->list[i]; i++) {
		struct active *one = &a->active[i];
		struct block *b = &s->blocks[i];

		b->kept_only = kept_only;
		b->absent = !one->collector || (kept_only && !one->kept);
		if (!b->absent)
			collect(one, host, b);
	}
}
