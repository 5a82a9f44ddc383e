/* Writes servers as JSON. The fields have the names that the Spare Cores Keeper uses. */
#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/answers/server_answer.h"
#include "exporter/answers/server_notes.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* Makes JSON of a text. NULL and the empty text mean unknown, so the result is null. */
static json_t *known_text(const char *s)
{
	return json_text(s && *s ? s : NULL);
}

/* Adds a number if it is known. */
static void put_known(json_t *o, const char *key, double v, json_t *(*number)(double))
{
	if (!isnan(v))
		json_put(o, key, number(v));
}

/* Adds a text. With `details`, an unknown text becomes null. Without `details`, it is left out. */
static void put_text(json_t *o, const char *key, const char *s, bool details)
{
	if (details || (s && *s))
		json_put(o, key, known_text(s));
}

/* Returns the exchange rate from the server's currency to the answer's currency; NaN = unknown. */
static double rate_of(const struct server_answer *a, const struct server *s)
{
	const struct currency *from = catalogue_currency(a->use.catalogue, s->currency);
	const struct currency *to = catalogue_currency(a->use.catalogue, a->picks.currency);

	return from && to ? catalogue_currency_rate(from, to) : (double)NAN;
}

/* Adds the vendor and the names of a server. Without `details`, server_id is left out if
 * api_reference, the name in the vendor's tools, is known. */
static void put_identity(json_t *o, const struct server *s, bool details)
{
	json_put(o, "vendor_id", known_text(s->vendor_id));
	if (details || !*s->api_reference)
		json_put(o, "server_id", known_text(s->server_id));
	json_put(o, "api_reference", known_text(s->api_reference));
}

static void put_gpus(json_t *o, const struct server *s, bool details)
{
	if (!(s->gpu_count > 0) && !details)
		return;
	json_put(o, "gpu_count", json_num(s->gpu_count));
	if (details)
		json_put(o, "gpu_manufacturer", known_text(s->gpu_manufacturer));
	json_put(o, "gpu_model", known_text(s->gpu_model));
	if (details)
		json_put(o, "gpu_memory_total", json_num(s->gpu_memory_total));
}

static void put_specification(json_t *o, const struct server_answer *a, const struct server *s,
	bool details)
{
	double rate = rate_of(a, s);

	put_identity(o, s, details);
	json_put(o, "vcpus", json_num(s->vcpus));
	json_put(o, "memory_amount", json_num(s->memory_amount));
	put_gpus(o, s, details);
	if (!details)
		return;
	json_put(o, "cpu_architecture", known_text(architecture_name[s->cpu_architecture]));
	json_put(o, "display_name", known_text(s->display_name));
	json_put(o, "family", known_text(s->family));
	json_put(o, "memory_for_jobs", json_num(floor(a->options.reserve->memory(s))));
	json_put(o, "cpu_allocation", known_text(catalogue_cpu_allocation_name[s->cpu_allocation]));
	json_put(o, "storage_size", json_num(s->storage_size));
	json_put(o, "score", json_num(s->score));
	json_put(o, "min_price_ondemand", json_money(s->min_price_ondemand * rate));
	json_put(o, "min_price_spot", json_money(s->min_price_spot * rate));
}

static json_t *cost_json(const struct cost *c)
{
	json_t *o = json_object(), *lacks = json_array();

	json_put(o, "compute", json_money(c->compute));
	json_put(o, "storage", json_money(c->storage));
	json_put(o, "outbound", json_money(c->outbound));
	json_put(o, "ipv4", json_money(c->ipv4));
	json_put(o, "spread", json_money(c->spread));
	json_put(o, "billed_seconds", json_seconds(c->billed_seconds));
	for (size_t i = 0; i < SERVER_COST_GAPS; i++)
		if (c->lacks & server_cost_gaps[i].bit)
			json_push(lacks, json_text(server_cost_gaps[i].name));
	json_put(o, "lacks", lacks);
	return o;
}

void server_answer_put_region(json_t *o, const struct region *r)
{
	json_put(o, "region_id", known_text(r->region_id));
	json_put(o, "region", known_text(region_typed(r)));
	json_put(o, "region_name", known_text(r->display_name));
}

/* Makes JSON of a price's allocation; null = the source does not say whether the price is on-demand
 * or spot. */
static json_t *allocation_json(const struct price *p)
{
	return json_text(p->allocation == ALLOCATION_ANY ?
				 NULL :
				 catalogue_allocation_name[p->allocation]);
}

/* Adds the region. Without `details`, adds only the name in the vendor's tools (region_typed) or,
 * if that is unknown, the id. */
static void put_region(json_t *o, const struct region *r, bool details)
{
	const char *typed = region_typed(r);

	if (details) {
		server_answer_put_region(o, r);
		return;
	}
	if (*typed)
		json_put(o, "region", json_text(typed));
	else
		put_text(o, "region_id", r->region_id, false);
}

static void put_price(json_t *o, const struct server_answer *s, const struct pick *p, bool details)
{
	put_region(o, p->region, details);
	json_put(o, "allocation", allocation_json(p->priced));
	json_put(o, "price", json_money(p->price));
	if (server_price_note(p))
		json_put(o, "price_note", json_text(server_price_note(p)));
	json_put(o, "currency", json_text(s->picks.currency));
}

/* Adds the conditions under which the job can use the server (saving_asks), if there are any. */
static void put_asks(json_t *o, const struct server_answer *s, const struct pick *p)
{
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	saving_asks(&b, p, &s->options);
	if (b.len)
		json_put(o, "asks", json_text(buf_text(&b)));
}

static void put_offer(json_t *o, const struct server_answer *s, const struct pick *p, bool details)
{
	put_asks(o, s, p);
	put_price(o, s, p, details);
	json_put(o, "forecast_duration_seconds", json_seconds(p->forecast.seconds));
	json_put(o, "forecast_cost", json_money(p->cost.amount));
	if (!details)
		return;
	json_put(o, "forecast_basis", json_text(forecast_basis_name[p->forecast.basis]));
	put_known(o, "forecast_duration_low", p->forecast.low, json_seconds);
	put_known(o, "forecast_duration_high", p->forecast.high, json_seconds);
	put_known(o, "forecast_cost_low", p->cost.low, json_money);
	put_known(o, "forecast_cost_high", p->cost.high, json_money);
	if (!isnan(p->cost.amount))
		json_put(o, "cost", cost_json(&p->cost));
}

static void put_saving(json_t *o, const struct saving *s)
{
	if (isnan(s->amount))
		return;
	json_put(o, "saving", json_money(s->amount));
	json_put(o, "saving_percent", json_ratio(s->percent));
}

/* Compares the cost of a run on server `p` with that on the current server, and with that on the
 * first server of the answer. Both differences can be negative. */
static void put_comparison(json_t *o, const struct server_answer *s, const struct pick *p,
	bool details)
{
	if (s->of_job && s->current_cost.priced) {
		struct saving saving =
			saving_of(s->current_cost.current.cost.amount, p->cost.amount);

		put_saving(o, &saving);
	}
	if (details)
		put_known(o, "more_than_first", p->cost.amount - s->picks.best->cost.amount,
			json_money);
}

/* Adds a note if the server is on another continent than today's server. The note of the best
 * server also names today's continent. */
static void put_region_note(json_t *o, const struct server_answer *s, const struct pick *p,
	bool is_best)
{
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	if (!server_is_far(s, p))
		return;
	buf_addf(&b, "in %s", p->region->continent);
	if (is_best)
		buf_addf(&b, "; today's server is in %s", server_todays_continent(s));
	json_put(o, "region_note", json_text(buf_text(&b)));
}

/* Makes JSON of the best server, and of the saving of a run on this server. The saving is never
 * negative. */
static json_t *best_json(const struct server_answer *s, bool details)
{
	const struct best_server *b = &s->best;
	json_t *o;

	if (!b->pick)
		return json_null();
	o = json_object();
	put_identity(o, b->pick->server, details);
	json_put(o, "is_current", json_boolean(b->is_current));
	if (!b->is_current)
		put_asks(o, s, b->pick);
	put_price(o, s, b->pick, details);
	put_region_note(o, s, b->pick, true);
	json_put(o, "forecast_duration_seconds", json_seconds(b->pick->forecast.seconds));
	json_put(o, "forecast_cost", json_money(b->pick->cost.amount));
	if (!isnan(b->saving.amount) || details) {
		json_put(o, "saving", json_money(b->saving.amount));
		json_put(o, "saving_percent", json_ratio(b->saving.percent));
	}
	return o;
}

static json_t *alternatives_json(const struct server_answer *s, bool details)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->n_alternatives; i++) {
		const struct alternative *a = &s->alternative[i];
		json_t *o = json_object();

		json_put(o, "condition", json_text(saving_condition_name[a->condition]));
		put_asks(o, s, &a->pick);
		put_identity(o, a->pick.server, details);
		put_price(o, s, &a->pick, details);
		put_region_note(o, s, &a->pick, false);
		json_put(o, "forecast_cost", json_money(a->pick.cost.amount));
		put_saving(o, &a->saving);
		json_push(array, o);
	}
	return array;
}

/* Rounds a score to seven digits, because a float stores no more. */
static double rounded_score(double v)
{
	double unit = v > 0 ? pow(10, floor(log10(v)) - 6) : 1;

	return unit < 1 ? round(v / unit) / round(1 / unit) : v;
}

static json_t *servers_json(const struct server_answer *s, bool details)
{
	struct buf why AUTO(buf_done) = BUF_MAX(4096);
	json_t *a = json_array();

	for (size_t i = 0; i < s->picks.n; i++) {
		json_t *o = json_object();

		put_specification(o, s, s->picks.pick[i].server, details);
		put_offer(o, s, &s->picks.pick[i], details);
		put_comparison(o, s, &s->picks.pick[i], details);
		if (s->options.benchmark)
			json_put(o, "benchmark_score",
				json_num(rounded_score(s->picks.pick[i].score)));
		if (details) {
			buf_reset(&why);
			pick_why(&why, &s->picks, i);
			json_put(o, "why", json_text(buf_text(&why)));
		}
		json_push(a, o);
	}
	return a;
}

/* Makes an object with the name of each vendor by its id; null = the source gives no name. */
static json_t *vendors_json(const struct catalogue *c)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->n_vendors; i++)
		json_put(o, c->vendor[i].vendor_id, known_text(c->vendor[i].name));
	return o;
}

json_t *server_answer_catalogue_json(const struct catalogue_use *use, bool details)
{
	const struct catalogue *c = use->catalogue;
	json_t *o = json_object();

	json_put(o, "source", known_text(c->source));
	json_put(o, "as_of", known_text(c->as_of));
	json_put(o, "stale", json_boolean(use->state.stale));
	if (use->state.problem[0])
		json_put(o, "problem", json_text(use->state.problem));
	if (!details)
		return o;
	json_put(o, "data_from", known_text(c->note));
	if (!isnan(use->state.fetched_at))
		json_put(o, "fetched_at", json_time(use->state.fetched_at));
	json_put(o, "age_seconds", json_num(floor(use->state.age_seconds)));
	json_put(o, "servers", json_num((double)c->n));
	json_put(o, "vendors", vendors_json(c));
	return o;
}

/* Makes an object with the number of excluded servers by reason, to explain why an answer is
 * empty. */
static json_t *filtered_json(const struct picks *p)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < EXCLUSION_COUNT; i++)
		if (p->excluded[i])
			json_put(o, pick_exclusion_name[i], json_num((double)p->excluded[i]));
	return o;
}

json_t *server_answer_related_json(const struct related_benchmark *related, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_put(o, "benchmark_id", json_text(related[i].benchmark->benchmark_id));
		json_put(o, "name", known_text(related[i].benchmark->name));
		json_put(o, "why", json_text(related[i].why));
		json_push(a, o);
	}
	return a;
}

/* ---- current cost ---- */

static json_t *server_now_json(const struct current_cost *t, const char *currency, bool details)
{
	static const char *const allocations[] = {
		[MACHINE_ALLOCATION_UNKNOWN] = NULL,
		[MACHINE_ONDEMAND] = "ondemand",
		[MACHINE_SPOT] = "spot",
	};
	json_t *o = json_object();

	if (details)
		json_put(o, "host", known_text(t->machine.host));
	json_put(o, "vendor_id", known_text(t->machine.vendor_id));
	json_put(o, "api_reference", known_text(t->machine.instance_type));
	put_text(o, "region", t->machine.region, details);
	put_text(o, "allocation", allocations[t->machine.allocation], details);
	if (details)
		json_put(o, "known_from", known_text(t->machine.source));
	if (!t->priced)
		return o;
	json_put(o, "vcpus", json_num(t->current.server->vcpus));
	json_put(o, "memory_amount", json_num(t->current.server->memory_amount));
	json_put(o, "price", json_money(t->current.price));
	if (server_price_note(&t->current))
		json_put(o, "price_note", json_text(server_price_note(&t->current)));
	json_put(o, "currency", json_text(currency));
	if (details)
		json_put(o, "priced_in", known_text(t->current.region_id));
	if (details || strcmp(region_typed(t->current.region), t->machine.region) != 0)
		json_put(o, "priced_in_region", known_text(region_typed(t->current.region)));
	if (details)
		json_put(o, "priced_in_name", known_text(t->current.region->display_name));
	if (details || t->machine.allocation == MACHINE_ALLOCATION_UNKNOWN ||
		strcmp(catalogue_allocation_name[t->current.priced->allocation],
			allocations[t->machine.allocation]) != 0)
		json_put(o, "priced_as", allocation_json(t->current.priced));
	return o;
}

static json_t *past_json(const struct current_cost *t)
{
	json_t *a = json_array();

	for (size_t i = 0; i < t->n_runs; i++) {
		const struct run *r = t->run[i].run;
		json_t *o = json_object();

		json_put(o, "run_id", json_text(r->run_id));
		json_put(o, "started_at", json_time(r->started_at));
		json_put(o, "duration_seconds", json_seconds(r->duration_seconds));
		json_put(o, "outcome", json_text(run_outcome_name(r->outcome)));
		json_put(o, "price", json_money(t->run[i].price));
		json_put(o, "cost", json_money(t->run[i].amount));
		json_push(a, o);
	}
	return a;
}

static const char *what_was_given(const struct current_cost *t)
{
	if (t->given_all)
		return "the whole server";
	return isnan(t->given_cores) && isnan(t->given_memory_bytes) ? NULL : "the request";
}

static json_t *needless_json(const struct current_cost *t)
{
	json_t *o = json_object();

	json_put(o, "given", json_text(what_was_given(t)));
	json_put(o, "cpu_cores", json_cores(t->needless_cores));
	json_put(o, "memory_bytes", json_bytes(t->needless_memory_bytes));
	json_put(o, "percent_of_server", json_ratio(100 * t->needless_share));
	json_put(o, "cost_per_run", json_money(t->needless_cost));
	return o;
}

static const char *not_known(const struct current_cost *t)
{
	if (t->here)
		return "Current server unknown. Set --server.vendor and --server.type.";
	return *t->machine.host ? "The job ran on another machine, whose server is unknown. Set "
				  "--server.vendor and --server.type there." :
				  "The machine on which the job ran is unknown.";
}

/* Returns true if the server has no price with the allocation of `priced` (spot or on demand) in
 * another region. */
static bool in_one_region(const struct catalogue *c, const struct server *s,
	const struct price *priced)
{
	const struct price *first = c->price + s->first_price;

	for (const struct price *p = first; p < first + s->n_prices; p++)
		if (p->allocation == priced->allocation && p->region != priced->region)
			return false;
	return true;
}

/* Explains which region's price is used for the current server. Called if the server's own region
 * is unknown or has no price. */
static void add_elsewhere(struct buf *b, const struct catalogue *c, const struct current_cost *t)
{
	const struct region *r = t->current.region;
	const char *name = *region_typed(r) ? region_typed(r) : r->region_id;

	buf_adds(b, *t->machine.region ? "The catalogue has no price in the server's region." :
					 "The server's region is unknown.");
	if (!*name)
		buf_adds(b, " The price is the lowest known, whose region is unknown.");
	else if (in_one_region(c, t->server, t->current.priced))
		buf_addf(b, " It is priced in %s, the only region whose price is known.", name);
	else
		buf_addf(b, " It is priced in %s, the cheapest of all regions.", name);
	if (!*t->machine.region)
		buf_adds(b, " Set --server.region.");
}

/* Returns a sentence for a current server without a price for its own allocation (spot or on
 * demand), but with other prices. */
static const char *not_so_rented(const struct current_cost *t)
{
	if (t->machine.allocation == MACHINE_SPOT)
		return t->elsewhere ? "The server has no spot price in the catalogue." :
				      "The server has no spot price in its region.";
	return t->elsewhere ? "The server has no on-demand price in the catalogue." :
			      "The server has no on-demand price in its region.";
}

/* Returns a sentence that says why the current server has no price. NULL = it has one. */
static const char *not_priced(const struct current_cost *t)
{
	if (t->priced)
		return NULL;
	if (!*t->machine.instance_type)
		return not_known(t);
	if (!t->server)
		return "The current server is not in the catalogue.";
	if (t->why == EXCLUDED_ALLOCATION)
		return not_so_rented(t);
	return t->why == EXCLUDED_CURRENCY ?
		       "The server's price is in a currency without an exchange rate." :
		       "The server has no price in the catalogue.";
}

/* Makes JSON of a note about the current server: why it has no price, or that its price is from
 * another region. null = neither is true. */
static json_t *today_note_json(const struct server_answer *s)
{
	const struct current_cost *t = &s->current_cost;
	struct buf b AUTO(buf_done) = BUF_MAX(SERVER_NOTE_MAX);

	if (!t->priced || !t->elsewhere)
		return json_text(not_priced(t));
	add_elsewhere(&b, s->use.catalogue, t);
	return json_text(buf_text(&b));
}

static json_t *today_json(const struct server_answer *s, bool details)
{
	const struct current_cost *t = &s->current_cost;
	json_t *o = json_object();

	json_put(o, "server",
		*t->machine.vendor_id ? server_now_json(t, s->picks.currency, details) :
					json_null());
	if (!t->priced || t->elsewhere)
		json_put(o, "note", today_note_json(s));
	json_put(o, "cost_per_run", json_money(t->priced ? t->current.cost.amount : (double)NAN));
	json_put(o, "currency", json_text(s->picks.currency));
	if (details) {
		json_put(o, "overallocated", needless_json(t));
		json_put(o, "runs", past_json(t));
	}
	return o;
}

/* Returns true if the exchange rate of `currency` was needed to convert price `p` to the currency
 * of the answer. */
static bool converts(const struct server_answer *s, const struct price *p,
	const struct currency *currency)
{
	const struct currency *from = p ? &s->use.catalogue->currency[p->currency] : NULL;

	return p && strcmp(from->code, s->picks.currency) != 0 &&
	       (from == currency || strcmp(currency->code, s->picks.currency) == 0);
}

static bool is_converted(const struct server_answer *s, const struct currency *currency)
{
	bool found = s->of_job &&
		     converts(s, s->current_cost.priced ? s->current_cost.current.priced : NULL,
			     currency);

	for (size_t i = 0; i < s->picks.n; i++)
		found = found || converts(s, s->picks.pick[i].priced, currency);
	for (size_t i = 0; i < s->n_alternatives; i++)
		found = found || converts(s, s->alternative[i].pick.priced, currency);
	return found;
}

static void add_rate(json_t *array, const struct server_answer *s, const struct currency *k)
{
	if (isnan(k->usd) || !is_converted(s, k))
		return;
	json_t *o = json_object();

	json_put(o, "currency", json_text(k->code));
	json_put(o, "usd", json_money(k->usd));
	json_put(o, "as_of", known_text(k->as_of));
	json_put(o, "source", known_text(k->source));
	json_push(array, o);
}

/* Makes an array of the exchange rates with which prices of this answer were converted, in US
 * dollars. If the currency of the answer is not in the catalogue, its rate comes last. */
static json_t *rates_json(const struct server_answer *s)
{
	const struct catalogue *c = s->use.catalogue;
	const struct currency *own = catalogue_currency(c, s->picks.currency);
	json_t *array = json_array();
	bool listed = false;

	for (size_t i = 0; i < c->n_currencies; i++) {
		listed = listed || &c->currency[i] == own;
		if (i > 0)
			add_rate(array, s, &c->currency[i]);
	}
	if (own && !listed)
		add_rate(array, s, own);
	return array;
}

void server_answer_put(json_t *o, const struct server_answer *s, bool details)
{
	json_put(o, "objective", json_text(s->picks.objective->name));
	if (s->options.benchmark)
		json_put(o, "benchmark_config",
			json_text(s->picks.single_scores ? "single" : "multi"));
	json_put(o, "best", best_json(s, details));
	json_put(o, "servers", servers_json(s, details));
	json_put(o, "alternatives", alternatives_json(s, details));
	json_put(o, "servers_fitting", json_num(server_fitting(s)));
	if (details)
		json_put(o, "filtered", filtered_json(&s->picks));
	json_put(o, "notes", server_notes_json(s));
	if (s->of_job) {
		json_put(o, "today", today_json(s, details));
		if (details)
			json_put(o, "benchmarks",
				server_answer_related_json(s->related, s->n_related));
	}
	json_put(o, "rates", rates_json(s));
	json_put(o, "catalogue", server_answer_catalogue_json(&s->use, details));
}
