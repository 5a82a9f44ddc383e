#include "recommender/servers/saving.h"

#include <math.h>
#include <stdio.h>

#include "recommender/servers/filters.h"

struct saving saving_of(double now, double then)
{
	double amount = now - then;

	return (struct saving){amount, now > 0 ? 100 * amount / now : (double)NAN};
}

/* Returns true if the current server has room for the demand and meets the conditions of the
 * request. Defaults of the request do not count as conditions, because the job already runs on this
 * server. */
static bool will_do(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	const struct pick *current)
{
	struct pick_options asked = *o;

	asked.with_inactive = true;
	asked.gpu_manufacturer = NULL;
	if (!o->kinds_asked)
		asked.architectures = asked.cpu_allocations = 0;
	return filter_misfit(&(struct filter_input){c, d, &asked}, current->server) ==
		       EXCLUSION_COUNT &&
	       (!o->regions || o->regions[current->priced->region]) &&
	       filter_keeps_limit(o->max_cost, current->cost.amount) &&
	       pick_meets_deadline(o, &current->forecast, current->priced);
}

struct best_server saving_best(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *current)
{
	const struct pick *first = p->best && pick_price_is_sure(p->best->priced) ? p->best : NULL;
	struct best_server b = {.pick = first, .saving = {NAN, NAN}};

	if (!current)
		return b;
	double key = p->objective->key(current, o);

	if (will_do(c, d, o, current) && !isnan(key) &&
		(!p->best || key <= p->best->key || (first && first->unsure)))
		return (struct best_server){current, true, {0, 0}};
	if (first && first->cost.amount <= current->cost.amount)
		b.saving = saving_of(current->cost.amount, first->cost.amount);
	return b;
}

const char *const saving_condition_name[CONDITIONS] = {
	[CONDITION_ARM64] = "arm64",
	[CONDITION_SPOT] = "spot",
	[CONDITION_BURSTABLE] = "burstable",
};

/* Changes the options so that they allow only servers of this kind, as an alternative. Returns
 * false and changes nothing if the options already allow this kind. For arm64, also returns false
 * if they select another architecture than x86_64. */
static bool impose(enum condition condition, struct pick_options *o)
{
	const unsigned bursting = 1u << CPU_BURSTABLE | 1u << CPU_SHARED;

	switch (condition) {
	case CONDITION_ARM64:
		if ((o->architectures & ~(1u << ARCHITECTURE_UNKNOWN)) != 1u << ARCHITECTURE_X86_64)
			return false;
		o->architectures = 1u << ARCHITECTURE_ARM64;
		return true;
	case CONDITION_SPOT:
		if (o->allocations & ALLOCATION_BIT(ALLOCATION_SPOT))
			return false;
		o->allocations = ALLOCATION_BIT(ALLOCATION_SPOT);
		return true;
	default:
		if (!o->cpu_allocations || o->cpu_allocations & bursting)
			return false;
		o->cpu_allocations = bursting;
		return true;
	}
}

/* Returns the saving on `other` compared with `best`: by the costs of a run or, if a cost is
 * unknown, by the prices of an hour. */
static struct saving saving_against(const struct pick *best, const struct pick *other)
{
	struct saving of_run;

	if (!best)
		return (struct saving){NAN, NAN};
	of_run = saving_of(best->cost.amount, other->cost.amount);
	return isnan(of_run.amount) ? saving_of(best->price, other->price) : of_run;
}

/* Inserts an alternative after those that save at least as much. An unknown saving counts as the
 * smallest. */
static void add_by_saving(struct alternative *all, size_t n, struct alternative added)
{
	for (; n && added.saving.amount > all[n - 1].saving.amount; n--)
		all[n] = all[n - 1];
	all[n] = added;
}

size_t saving_alternatives(const struct catalogue *c, const struct demand *d,
	const struct pick_options *o, const struct picks *p, const struct pick *best,
	struct arena *arena, struct alternative ret[CONDITIONS])
{
	size_t n = 0;

	for (unsigned i = 0; i < CONDITIONS && p->objective->by_money; i++) {
		struct pick_options other = *o;
		struct picks found;

		other.limit = 1;
		other.page = 0;
		other.currency = p->currency;
		if (!impose((enum condition)i, &other))
			continue;
		pick_servers(c, d, &other, arena, &found);
		if (!found.best)
			continue;
		struct saving s = saving_against(best, found.best);

		if (!best || s.amount > 0)
			add_by_saving(ret, n++,
				(struct alternative){(enum condition)i, *found.best, s});
	}
	return n;
}

/* Returns true if the bits of `selected` are all in `values`. Returns false if `selected` is 0,
 * which selects everything. */
static bool selects_only(unsigned selected, unsigned values)
{
	return selected && !(selected & ~values);
}

/* Appends a condition. If `out` already has conditions after the offset `from`, a "; " precedes
 * it. */
static void add_condition(struct buf *out, size_t from, const char *text)
{
	buf_addf(out, "%s%s", out->len > from ? "; " : "", text);
}

void saving_asks(struct buf *out, const struct pick *p, const struct pick_options *o)
{
	const unsigned arm = 1u << ARCHITECTURE_ARM64, unknown = 1u << ARCHITECTURE_UNKNOWN;
	const enum cpu_allocation cpus = p->server->cpu_allocation;
	double often = o->spot_interruptions_per_hour;
	size_t from = out->len;
	char text[128];

	if (p->server->cpu_architecture == ARCHITECTURE_ARM64 &&
		!selects_only(o->architectures, arm | unknown))
		add_condition(out, from, "needs programs built for arm64");
	if (p->priced->allocation == ALLOCATION_SPOT &&
		!selects_only(o->allocations, ALLOCATION_BIT(ALLOCATION_SPOT))) {
		snprintf(text, sizeof text,
			often < 1 ? "may be interrupted: %.2g %% per hour assumed" :
				    "may be interrupted: %g times per hour assumed",
			often < 1 ? 100 * often : often);
		add_condition(out, from, text);
	}
	if (selects_only(o->cpu_allocations, 1u << CPU_BURSTABLE | 1u << CPU_SHARED))
		return;
	if (cpus == CPU_SHARED)
		add_condition(out, from, "shares its CPUs: full speed only part of the time");
	if (cpus == CPU_BURSTABLE)
		add_condition(out, from, "bursts on credits: full speed only part of the time");
}
