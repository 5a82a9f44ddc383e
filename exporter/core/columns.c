#include "exporter/core/columns.h"

#include <stdlib.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "collectors/runs.h"

static void add_kept(struct columns *c, size_t *room, const struct metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (metrics[i].fold == FOLD_NONE)
			continue;
		GROW(c->metric, c->n, *room);
		c->metric[c->n++] = &metrics[i];
	}
}

void columns_build(struct columns *ret)
{
	size_t room = 0;

	*ret = (struct columns){0};
	add_kept(ret, &room, run_metrics, RUN_N_METRICS);
	for (size_t i = 0; all_collectors[i]; i++)
		if (all_collectors[i]->metrics != run_metrics)
			add_kept(ret, &room, all_collectors[i]->metrics,
				all_collectors[i]->n_metrics);
}

void columns_done(struct columns *c)
{
	free(c->metric);
	*c = (struct columns){0};
}
