/* Runs inside others: a workflow in a batch job, a step in a pipeline. */
#include "collectors/accounting/lineage_private.h"

#include <stddef.h>

#include "collectors/base/mem.h"

static const size_t sums[] = {
	offsetof(struct lineage_tally, cpu_ns),
	offsetof(struct lineage_tally, ends_ns),
	offsetof(struct lineage_tally, cpu_wait_ns),
	offsetof(struct lineage_tally, io_wait_ns),
	offsetof(struct lineage_tally, memory_wait_ns),
	offsetof(struct lineage_tally, unseen_ns),
	offsetof(struct lineage_tally, born),
	offsetof(struct lineage_tally, ended),
	offsetof(struct lineage_tally, ends_weight_ns),
	offsetof(struct lineage_tally, ends_most_ns),
};

/* What an inner run had more than before, to the one around it. How its root ended is its own. */
static void add_growth(struct lineage_tally *to, const struct lineage_tally *now,
	const struct lineage_tally *before)
{
	for (size_t i = 0; i < ARRAY_LEN(sums); i++)
		*(uint64_t *)(void *)((char *)to + sums[i]) +=
			*(const uint64_t *)(const void *)((const char *)now + sums[i]) -
			*(const uint64_t *)(const void *)((const char *)before + sums[i]);
	if (now->peak_process_bytes > to->peak_process_bytes)
		to->peak_process_bytes = now->peak_process_bytes;
	to->whole = to->whole && now->whole;
}

bool lineage_is_within(const struct lineage *l, unsigned run, unsigned outer)
{
	while (run != outer && run != LINEAGE_NO_RUN)
		run = l->run[run].outer;
	return run == outer;
}

/* What the dead of an inner run used until now stays with whom it was in, and is told twice of a group of both. */
void lineage_put_into(struct lineage *l, unsigned run, unsigned outer)
{
	struct run_book *r = &l->run[run];

	l->any_inner = true;
	lineage_break(l, run);
	if (r->outer != LINEAGE_NO_RUN) {
		lineage_break(l, r->outer);
		add_growth(&l->run[r->outer].past, &r->past, &r->before);
		add_growth(&l->run[r->outer].all, &r->past, &r->before);
	}
	r->outer = outer;
	r->before = r->past;
}

void lineage_leave(struct lineage *l, unsigned run)
{
	struct run_book *r = &l->run[run];

	for (unsigned i = 0; i < l->n_runs; i++)
		if (l->run[i].taken && l->run[i].outer == run)
			lineage_put_into(l, i, r->outer);
	if (r->outer == LINEAGE_NO_RUN)
		return;
	lineage_break(l, r->outer);
	add_growth(&l->run[r->outer].past, &r->past, &r->before);
	add_growth(&l->run[r->outer].all, &r->all, &r->before);
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].run == run)
			l->entry[i].run = r->outer;
}

void lineage_tally(const struct lineage *l, unsigned run, struct lineage_tally *ret)
{
	*ret = l->run[run].all;
	for (unsigned i = 0; i < l->n_runs && l->any_inner; i++) {
		const struct run_book *r = &l->run[i];

		if (i != run && r->taken && r->outer != LINEAGE_NO_RUN &&
			lineage_is_within(l, i, run))
			add_growth(ret, &r->all, &r->before);
	}
}

bool lineage_reaches_out(const struct lineage *l, unsigned others)
{
	for (unsigned i = 0; i < l->n_runs; i++) {
		const struct run_book *r = &l->run[i];

		if (r->taken && r->outer != LINEAGE_NO_RUN && r->others != others &&
			l->run[r->outer].others == others)
			return true;
	}
	return false;
}
