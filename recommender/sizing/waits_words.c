/* What runs waited for, as a sentence. */
#include "collectors/base/buf.h"
#include "recommender/sizing/strategy.h"
#include "recommender/waits.h"

static void explain_cpu(struct sizing *s, const struct waits *w, const char *runs,
	struct arena *arena)
{
	char waited[WORDS_MAX], held[WORDS_MAX];
	AUTO(buf_done) struct buf quota = BUF_MAX(128);

	if (w->throttled_seconds > 0)
		buf_addf(&quota, ", %s of it held back by a CPU quota",
			words_seconds(held, w->throttled_seconds));
	sizing_explain(s, arena,
		"waits: threads of %s waited for a CPU for %.0f %% of the time that they could "
		"have run "
		"(%s%s): more cores would have made them faster",
		runs, 100 * w->cpu_share, words_seconds(waited, w->cpu_seconds), buf_text(&quota));
}

void explain_waits(struct sizing *s, const struct runs *used, struct arena *arena)
{
	const struct run **list = arena_alloc(arena, (used->n + 1) * sizeof *list);
	char runs[WORDS_MAX];

	for (size_t i = 0; i < used->n; i++)
		list[i] = &used->run[i];
	struct waits w = waits_of(list, used->n);

	words_runs(runs, used->n);
	switch (w.verdict) {
	case WAITED_UNKNOWN:
	case WAITED_LITTLE:
		break;
	case WAITED_FOR_CPU:
		explain_cpu(s, &w, runs, arena);
		break;
	case WAITED_FOR_MEMORY:
		sizing_explain(s, arena,
			"waits: threads of %s waited for memory for %.0f %% of the time: more "
			"memory "
			"would have made them faster",
			runs, 100 * w.memory_share);
		break;
	case WAITED_FOR_STORAGE:
		sizing_explain(s, arena,
			"waits: threads of %s waited for storage for %.0f %% of the time: more "
			"cores "
			"would not have made them faster",
			runs, 100 * w.storage_share);
		break;
	case WAITED_IDLE:
		sizing_explain(s, arena,
			"waits: for %.0f %% of the time of %s no thread ran or waited for a CPU: "
			"more "
			"cores would not have made them faster",
			100 * w.idle_share, runs);
		break;
	}
}
