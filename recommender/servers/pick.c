#include "recommender/servers/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recommender/servers/filters.h"

/* Inputs of one search, the same for all servers. */
struct pick_search {
	struct filter_input input;
	const struct objective *objective;
	unsigned allocations;
	const struct currency *currency; /* NULL = the catalogue does not have the requested one */
	/* rate[i] converts currency i of the catalogue to `currency`; NaN = unknown. */
	double rate[UINT8_MAX + 1];
	struct job_profile profile;
	double cores;        /* number of cores that the job keeps busy; NaN = unknown */
	const float *scores; /* each server's score in the benchmark; NULL = no benchmark */
	struct cost_terms terms;
};

static const struct objective *objective_for(const struct pick_options *o,
	const struct job_profile *p)
{
	const struct objective *asked = o->objective ? o->objective : objectives;

	if (asked->without_duration && !(p->duration_seconds > 0))
		return objective_find(asked->without_duration);
	return asked->without_speed && !forecast_scales(p) ? asked->without_speed : asked;
}

static const float *scores_for(const struct pick_options *o, double cores)
{
	const struct benchmark *b = o->benchmark;
	bool one = o->benchmark_config == BENCHMARK_SINGLE ||
		   (o->benchmark_config == BENCHMARK_AUTO && cores <= 1);

	if (!b)
		return NULL;
	return one && b->single_score ? b->single_score : b->score;
}

static void search_begin(struct pick_search *q, const struct catalogue *c, const struct demand *d,
	const struct pick_options *o)
{
	*q = (struct pick_search){
		.input = {c, d, o},
		.allocations =
			o->allocations ? o->allocations : ALLOCATION_BIT(ALLOCATION_ONDEMAND),
		.profile = o->profile ? *o->profile : forecast_profile(d->duration_seconds),
		.terms = {.spot_interruptions_per_hour = o->spot_interruptions_per_hour,
			.ipv4 = o->ipv4},
	};
	q->objective = objective_for(o, &q->profile);
	q->cores = isnan(q->profile.cores) ? d->cpu_cores : q->profile.cores;
	q->scores = scores_for(o, q->cores);
}

static void search_in(struct pick_search *q, const struct currency *currency)
{
	const struct catalogue *c = q->input.c;

	q->currency = currency;
	for (size_t i = 0; i < c->n_currencies; i++)
		q->rate[i] =
			currency ? catalogue_currency_rate(&c->currency[i], currency) : (double)NAN;
}

static bool region_allowed(const struct pick_search *q, const struct price *p)
{
	return !q->input.o->regions || q->input.o->regions[p->region];
}

static bool allocation_allowed(const struct pick_search *q, const struct price *p)
{
	enum allocation a = p->allocation == ALLOCATION_ANY ? ALLOCATION_ONDEMAND :
							      (enum allocation)p->allocation;

	return q->allocations & ALLOCATION_BIT(a);
}

bool pick_price_is_sure(const struct price *p)
{
	return !p->estimated && p->allocation != ALLOCATION_ANY;
}

/* Bills of a run on one server: [0] on demand, [1] on spot. */
struct bills {
	bool known[2];
	struct run_bill of[2];
};

static const struct run_bill *bill_at(const struct pick_search *q, const struct pick *on,
	const struct price *p, struct bills *bills)
{
	bool spot = p->allocation == ALLOCATION_SPOT;

	if (!bills->known[spot])
		bills->of[spot] = forecast_bill(q->input.c, on->server, spot, &on->forecast,
			q->input.d, &q->profile, &q->terms);
	bills->known[spot] = true;
	return &bills->of[spot];
}

/* Returns the cost of a run at a price. NaN = unknown. */
static double run_cost(const struct pick_search *q, const struct pick *on, const struct price *p,
	struct bills *bills)
{
	if (!(on->forecast.seconds > 0) || isnan(q->rate[p->currency]))
		return NAN;
	return forecast_cost_amount(q->input.c, p, bill_at(q, on, p, bills), q->currency);
}

/* Returns true if the value of compared() is above `lowest` for this price. This test is cheap, and
 * rules out most prices of a server. It does not find all prices whose value is above `lowest`. */
static bool is_dearer(const struct pick_search *q, const struct pick *on, const struct price *p,
	struct bills *bills, double lowest)
{
	return q->objective->by_forecast && on->forecast.seconds > 0 &&
	       forecast_cost_least(p->price * q->rate[p->currency], bill_at(q, on, p, bills)) >
		       lowest;
}

/* Returns the value by which the prices of one server are compared: the cost of a run if the
 * objective compares forecasts, otherwise the price. */
static double compared(const struct pick_search *q, const struct pick *on, const struct price *p,
	struct bills *bills)
{
	if (q->objective->by_forecast && on->forecast.seconds > 0)
		return run_cost(q, on, p, bills);
	return p->price * q->rate[p->currency];
}

/* Returns true if price `p` is better than on->priced, the best price of the server so far. `value`
 * and `lowest` are what compared() returned for these two prices. If they are equal, the price with
 * the lower cost of a run is better: storage or addresses can cost less in its region. */
static bool is_better(const struct pick_search *q, const struct pick *on, const struct price *p,
	struct bills *bills, double value, double lowest)
{
	if (value < lowest || !(value <= lowest) || !on->priced)
		return value < lowest;
	return run_cost(q, on, p, bills) < run_cost(q, on, on->priced, bills);
}

bool pick_meets_deadline(const struct pick_options *o, const struct forecast *f,
	const struct price *p)
{
	double late = isnan(f->high) ? f->seconds : f->high;

	if (!(o->deadline_seconds > 0))
		return true;
	if (p->allocation == ALLOCATION_SPOT)
		late = forecast_with_rework(late, o->spot_interruptions_per_hour);
	return filter_keeps_limit(o->deadline_seconds, late);
}

/* Finds the best allowed price of ret->server: the lowest reliable price (pick_price_is_sure). If
 * no price is reliable, it is the lowest other price. Returns EXCLUSION_COUNT, or the reason why no
 * price is allowed. */
static enum exclusion find_price(const struct pick_search *q, struct pick *ret, struct bills *bills)
{
	const struct server *s = ret->server;
	const struct price *first = q->input.c->price + s->first_price;
	enum exclusion reason = EXCLUDED_NO_PRICE;
	enum exclusion late =
		isnan(ret->forecast.seconds) ? EXCLUDED_NO_FORECAST : EXCLUDED_TOO_SLOW;
	double lowest = INFINITY;
	bool sure = false;

	for (const struct price *p = first; p < first + s->n_prices; p++) {
		if (!region_allowed(q, p)) {
			reason = reason > EXCLUDED_REGION ? reason : EXCLUDED_REGION;
			continue;
		}
		if (!allocation_allowed(q, p)) {
			reason = reason > EXCLUDED_ALLOCATION ? reason : EXCLUDED_ALLOCATION;
			continue;
		}
		if (!pick_meets_deadline(q->input.o, &ret->forecast, p)) {
			reason = reason > late ? reason : late;
			continue;
		}
		bool unknown = isnan(q->rate[p->currency]);
		enum exclusion why = unknown ? EXCLUDED_CURRENCY : EXCLUDED_TOO_EXPENSIVE;

		reason = reason > why ? reason : why;
		if (pick_price_is_sure(p) <= sure && is_dearer(q, ret, p, bills, lowest))
			continue;

		double value = compared(q, ret, p, bills);

		if (value < INFINITY && pick_price_is_sure(p) > sure)
			lowest = INFINITY;
		if (pick_price_is_sure(p) >= sure && is_better(q, ret, p, bills, value, lowest)) {
			sure = pick_price_is_sure(p);
			lowest = value;
			ret->priced = p;
			ret->price = p->price * q->rate[p->currency];
		}
	}
	return ret->priced ? EXCLUSION_COUNT : reason;
}

/* Computes price, forecast, cost.amount and key of a server that passed the filters. Returns
 * EXCLUSION_COUNT, or the reason why the server cannot be used. */
static enum exclusion appraise_server(const struct pick_search *q, const struct server *s,
	struct pick *ret)
{
	const struct filter_input *a = &q->input;
	struct pick p = {.server = s,
		.score = q->scores ? (double)q->scores[s - a->c->server] : (double)NAN,
		.forecast = forecast_on(a->c, &q->profile, s)};
	struct bills bills = {0};
	enum exclusion reason = find_price(q, &p, &bills);

	if (reason != EXCLUSION_COUNT)
		return reason;
	p.region = &a->c->region[p.priced->region];
	p.region_id = p.region->region_id;
	p.cost.amount =
		forecast_cost_amount(a->c, p.priced, bill_at(q, &p, p.priced, &bills), q->currency);
	p.forecast_duration_seconds = p.forecast.seconds;
	p.forecast_cost = p.cost.amount;
	p.usable_score = forecast_usable_score(s, q->cores);
	if (!filter_keeps_limit(a->o->max_cost, p.cost.amount))
		return isnan(p.cost.amount) ? EXCLUDED_NO_FORECAST : EXCLUDED_TOO_EXPENSIVE;
	p.key = q->objective->key(&p, a->o);
	if (isnan(p.key))
		return q->objective->lacking;
	p.unsure = !pick_price_is_sure(p.priced) ||
		   (q->objective->by_forecast && p.forecast.basis == FORECAST_ASSUMED &&
			   forecast_scales(&q->profile));
	*ret = p;
	return EXCLUSION_COUNT;
}

/* Computes all parts of the cost. A search needs them only for the servers that it returns. */
static void complete_cost(const struct pick_search *q, struct pick *p)
{
	struct bills bills = {0};

	p->cost = forecast_cost_of(q->input.c, p->priced, bill_at(q, p, p->priced, &bills),
		q->currency);
}

/* Returns USD if at least one price of a fitting server can be converted to USD. Otherwise returns
 * the currency of the first price, or USD if there is no price. */
static const struct currency *usual_currency(const struct pick_search *q,
	const struct server *const *fitting, size_t n)
{
	const struct catalogue *c = q->input.c;
	const struct currency *usd = &c->currency[0], *other = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct price *first = c->price + fitting[i]->first_price;

		for (const struct price *p = first; p < first + fitting[i]->n_prices; p++) {
			if (!region_allowed(q, p) || !allocation_allowed(q, p))
				continue;
			if (!isnan(catalogue_currency_rate(&c->currency[p->currency], usd)))
				return usd;
			if (!other)
				other = &c->currency[p->currency];
		}
	}
	return other ? other : usd;
}

/* Compares for a sort: larger numbers first, unknown (NaN) last. */
static int larger_first(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int smaller_first(double a, double b)
{
	return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : larger_first(b, a);
}

static int by_key(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;
	int order = a->unsure - b->unsure;

	if (order == 0)
		order = smaller_first(a->key, b->key);
	if (order == 0)
		order = smaller_first(a->cost.amount, b->cost.amount);
	if (order == 0)
		order = smaller_first(a->price, b->price);
	if (order == 0)
		order = larger_first(a->server->memory_amount, b->server->memory_amount);
	if (order == 0)
		order = strcmp(a->server->vendor_id, b->server->vendor_id);
	return order ? order : strcmp(a->server->server_id, b->server->server_id);
}

/* A heap of at most `max` picks, with the worst pick on top. */
struct best {
	struct pick *pick;
	size_t n, max;
};

static void swap_picks(struct pick *a, struct pick *b)
{
	struct pick kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_down(struct best *h)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < h->n; at = child) {
		if (child + 1 < h->n && by_key(&h->pick[child + 1], &h->pick[child]) > 0)
			child++;
		if (by_key(&h->pick[child], &h->pick[at]) <= 0)
			return;
		swap_picks(&h->pick[at], &h->pick[child]);
	}
}

static void sift_up(struct best *h)
{
	for (size_t at = h->n - 1, parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (by_key(&h->pick[at], &h->pick[parent]) <= 0)
			return;
		swap_picks(&h->pick[at], &h->pick[parent]);
	}
}

static void keep_best(struct best *h, const struct pick *p)
{
	if (h->n < h->max) {
		h->pick[h->n++] = *p;
		sift_up(h);
	} else if (h->max && by_key(p, &h->pick[0]) < 0) {
		h->pick[0] = *p;
		sift_down(h);
	}
}

/* Returns the best servers, best first: those of the requested page and of all pages before it.
 * Counts in `ret` the servers that fit, and the excluded servers by reason. */
static struct best rank_servers(const struct pick_search *q, const struct server *const *fitting,
	size_t n, struct arena *arena, struct picks *ret)
{
	const struct pick_options *o = q->input.o;
	struct best best = {.max = n};

	if (o->limit && o->page <= 1)
		best.max = o->limit < n ? o->limit : n;
	else if (o->limit)
		best.max = o->limit <= n / o->page ? o->limit * o->page : n;
	best.pick = arena_alloc(arena, (best.max + 1) * sizeof *best.pick);
	for (size_t i = 0; i < n; i++) {
		struct pick p;
		enum exclusion reason = appraise_server(q, fitting[i], &p);

		if (reason == EXCLUSION_COUNT) {
			keep_best(&best, &p);
			ret->fitting++;
		} else {
			ret->excluded[reason]++;
		}
	}
	qsort(best.pick, best.n, sizeof *best.pick, by_key);
	for (size_t i = 0; i < best.n; i++)
		complete_cost(q, &best.pick[i]);
	return best;
}

void pick_servers(const struct catalogue *c, const struct demand *d, const struct pick_options *o,
	struct arena *arena, struct picks *ret)
{
	const struct server **fitting = arena_alloc(arena, (c->n + 1) * sizeof(struct server *));
	struct pick_search q;
	size_t n = 0;

	search_begin(&q, c, d, o);
	*ret = (struct picks){.objective = q.objective,
		.single_scores = q.scores && q.scores == o->benchmark->single_score};
	for (size_t i = 0; i < c->n; i++) {
		enum exclusion reason = filter_misfit(&q.input, &c->server[i]);

		if (reason == EXCLUSION_COUNT)
			fitting[n++] = &c->server[i];
		else
			ret->excluded[reason]++;
	}
	search_in(&q,
		o->currency ? catalogue_currency(c, o->currency) : usual_currency(&q, fitting, n));
	ret->currency = q.currency ? q.currency->code : o->currency;

	struct best best = rank_servers(&q, fitting, n, arena, ret);
	size_t first = o->page > 1 ? (o->page - 1) * o->limit : 0;

	ret->first = first < best.n ? first : best.n;
	ret->pick = best.pick + ret->first;
	ret->n = best.n - ret->first;
	ret->best = best.n ? best.pick : NULL;
}

enum exclusion pick_one(const struct catalogue *c, const struct server *s, const struct demand *d,
	const struct pick_options *o, struct pick *ret)
{
	struct pick_search q;

	search_begin(&q, c, d, o);
	search_in(&q, o->currency ? catalogue_currency(c, o->currency) : &c->currency[0]);

	enum exclusion reason = appraise_server(&q, s, ret);

	if (reason == EXCLUSION_COUNT)
		complete_cost(&q, ret);
	return reason;
}

/* Appends by how many per cent `key` is worse than `best`, the key of the best pick. If the
 * percentage is above PERCENT_MOST, or if `best` is 0, appends words without a number. */
#define PERCENT_MOST 1e6

static void add_distance(struct buf *out, double key, double best, const char *unit)
{
	/* A negative key is a score with a minus sign: the larger score is better. */
	bool by_score = best < 0;
	double percent = 100 * ((by_score ? best / key : key / best) - 1);

	if (!(percent <= PERCENT_MOST)) {
		buf_adds(out, "far behind the best: a percentage would say nothing");
		return;
	}
	if (by_score)
		buf_adds(out, "the best has ");
	buf_addf(out, percent < 10 ? "%.1f %% more %s" : "%.0f %% more %s", percent, unit);
	if (!by_score)
		buf_adds(out, " than the best");
}

static double exact_key(const struct objective *o, const struct pick *p)
{
	return o->exact ? o->exact(p) : p->key;
}

void pick_why(struct buf *out, const struct picks *p, size_t i)
{
	const struct pick *pick = &p->pick[i];
	if (pick == p->best) {
		buf_addf(out, "%s; %zu fit", p->objective->help, p->fitting);
	} else if (pick->unsure && !p->best->unsure) {
		buf_adds(out, pick_price_is_sure(pick->priced) ?
				      "behind all whose speed is known" :
				      "behind all whose price is known for sure");
	} else if (pick->key > p->best->key) {
		add_distance(out, exact_key(p->objective, pick), exact_key(p->objective, p->best),
			p->objective->unit);
	} else {
		buf_adds(out, "as good as the best; behind it by cost, price, memory or name");
	}
	if (p->objective->by_forecast && !p->objective->by_speed &&
		pick->forecast.basis == FORECAST_ASSUMED)
		buf_adds(out, "; its speed is not known: the same is assumed");
}
