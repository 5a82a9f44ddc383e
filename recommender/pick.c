/* Which servers fit a demand, and which of them cost least. */
#include "recommender/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

const char *const exclusion_name[EXCLUSION_COUNT] = {
	[EXCLUDED_INACTIVE] = "inactive",
	[EXCLUDED_VENDOR] = "vendor",
	[EXCLUDED_ARCHITECTURE] = "architecture",
	[EXCLUDED_TOO_FEW_VCPUS] = "too_few_vcpus",
	[EXCLUDED_TOO_LITTLE_MEMORY] = "too_little_memory",
	[EXCLUDED_TOO_FEW_GPUS] = "too_few_gpus",
	[EXCLUDED_TOO_LITTLE_VRAM] = "too_little_vram",
	[EXCLUDED_NO_PRICE] = "no_price",
	[EXCLUDED_CURRENCY] = "currency",
};

/* False when what is there is unknown; true when what is asked for is. */
static bool enough(double there, double asked)
{
	return !(asked > 0) || there >= asked;
}

static bool vendor_fits(const struct server *s, const struct pick_options *o)
{
	for (size_t i = 0; i < o->n_vendors; i++)
		if (strcmp(s->vendor_id, o->vendors[i]) == 0)
			return true;
	return o->n_vendors == 0;
}

/* What the system sees, where that is known: less than what is sold. */
static double usable_memory_bytes(const struct server *s)
{
	return (isnan(s->memory_amount_actual) ? s->memory_amount : s->memory_amount_actual) * MIB;
}

/* The first reason against a server, prices aside; EXCLUSION_COUNT = it fits. */
static enum exclusion misfit(
	const struct server *s, const struct demand *d, const struct pick_options *o)
{
	if (!s->active)
		return EXCLUDED_INACTIVE;
	if (!vendor_fits(s, o))
		return EXCLUDED_VENDOR;
	if (o->architecture != ARCHITECTURE_UNKNOWN && s->cpu_architecture != o->architecture)
		return EXCLUDED_ARCHITECTURE;
	if (!enough(s->vcpus, d->cpu_cores))
		return EXCLUDED_TOO_FEW_VCPUS;
	if (!enough(usable_memory_bytes(s), d->memory_bytes))
		return EXCLUDED_TOO_LITTLE_MEMORY;
	if (!enough(s->gpu_count, d->gpus))
		return EXCLUDED_TOO_FEW_GPUS;
	if (!enough(s->gpu_memory_total * MIB, d->vram_bytes))
		return EXCLUDED_TOO_LITTLE_VRAM;
	return EXCLUSION_COUNT;
}

/* Units of currency to for one of p's; NaN when that is not known. */
static double rate_to(const struct catalogue *c, const struct price *p, const struct currency *to)
{
	const struct currency *from = &c->currency[p->currency];

	if (!to)
		return NAN;
	return from == to ? 1 : from->usd / to->usd;
}

/* The lowest on-demand price of a server, in a currency. */
struct offer {
	const struct price *price; /* NULL = there is none in that currency */
	double amount;
	bool any; /* there is one in some currency */
};

static struct offer best_offer(
	const struct catalogue *c, const struct server *s, const struct currency *to)
{
	const struct price *first = c->price + s->first_price;
	struct offer best = {NULL, NAN, false};

	for (const struct price *p = first; p < first + s->n_prices; p++) {
		if (p->allocation != ALLOCATION_ONDEMAND)
			continue;
		double amount = p->price * rate_to(c, p, to);

		best.any = true;
		if (!isnan(amount) && (!best.price || amount < best.amount)) {
			best.price = p;
			best.amount = amount;
		}
	}
	return best;
}

static const struct currency *currency_find(const struct catalogue *c, const char *code)
{
	for (size_t i = 0; i < c->n_currencies; i++)
		if (strcmp(c->currency[i].code, code) == 0)
			return &c->currency[i];
	return NULL;
}

/* USD; but what nobody can pay in US dollars is told in the currency that it has. */
static const struct currency *usual_currency(
	const struct catalogue *c, const struct server *const *fitting, size_t n)
{
	const struct currency *other = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct price *first = c->price + fitting[i]->first_price;

		for (const struct price *p = first; p < first + fitting[i]->n_prices; p++) {
			if (p->allocation != ALLOCATION_ONDEMAND)
				continue;
			if (!isnan(rate_to(c, p, &c->currency[0])))
				return &c->currency[0];
			if (!other)
				other = &c->currency[p->currency];
		}
	}
	return other ? other : &c->currency[0];
}

/* The larger first; unknown (NaN) last. */
static int larger_first(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int by_price(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;
	int order;

	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	order = larger_first(a->server->memory_amount, b->server->memory_amount);
	if (order)
		return order;
	order = strcmp(a->server->vendor_id, b->server->vendor_id);
	return order ? order : strcmp(a->server->server_id, b->server->server_id);
}

/* A heap of at most max picks, the worst on top. */
struct best {
	struct pick *pick;
	size_t n, max;
};

static void sift_down(struct best *h)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < h->n; at = child) {
		if (child + 1 < h->n && by_price(&h->pick[child + 1], &h->pick[child]) > 0)
			child++;
		if (by_price(&h->pick[child], &h->pick[at]) <= 0)
			return;
		struct pick swap = h->pick[at];

		h->pick[at] = h->pick[child];
		h->pick[child] = swap;
	}
}

static void sift_up(struct best *h)
{
	for (size_t at = h->n - 1; at > 0;) {
		size_t parent = (at - 1) / 2;

		if (by_price(&h->pick[at], &h->pick[parent]) <= 0)
			return;
		struct pick swap = h->pick[at];

		h->pick[at] = h->pick[parent];
		h->pick[parent] = swap;
		at = parent;
	}
}

static void keep_best(struct best *h, const struct pick *p)
{
	if (h->n < h->max) {
		h->pick[h->n++] = *p;
		sift_up(h);
	} else if (by_price(p, &h->pick[0]) < 0) {
		h->pick[0] = *p;
		sift_down(h);
	}
}

void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret)
{
	const struct server **fitting = arena_alloc(arena, (c->n + 1) * sizeof *fitting);
	const struct currency *to = NULL;
	size_t n = 0;

	*ret = (struct picks){0};
	for (size_t i = 0; i < c->n; i++) {
		enum exclusion reason = misfit(&c->server[i], d, o);

		if (reason == EXCLUSION_COUNT)
			fitting[n++] = &c->server[i];
		else
			ret->excluded[reason]++;
	}
	to = o->currency ? currency_find(c, o->currency) : usual_currency(c, fitting, n);
	ret->currency = to ? to->code : o->currency;

	struct best best = {.max = o->limit && o->limit < n ? o->limit : n};

	best.pick = arena_alloc(arena, (best.max + 1) * sizeof *best.pick);
	for (size_t i = 0; i < n; i++) {
		struct offer offer = best_offer(c, fitting[i], to);
		struct pick p = {.server = fitting[i],
			.price = offer.amount,
			.forecast_duration_seconds = d->duration_seconds,
			.forecast_cost = offer.amount * d->duration_seconds / 3600};

		if (!offer.price) {
			ret->excluded[offer.any ? EXCLUDED_CURRENCY : EXCLUDED_NO_PRICE]++;
			continue;
		}
		p.region_id = c->region[offer.price->region].region_id;
		keep_best(&best, &p);
		ret->fitting++;
	}
	qsort(best.pick, best.n, sizeof *best.pick, by_price);
	ret->pick = best.pick;
	ret->n = best.n;
}
