#include "exporter/answers/server_notes.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "recommender/catalogue/billing.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/gpus.h"
#include "recommender/catalogue/regions.h"
#include "recommender/servers/filters.h"
#include "recommender/sizing/strategy.h"

/* A note explains the bill if the vendor's minimum or increment adds more than this share of the
 * billed time. */
#define ADDED_MOST 0.2

const struct server_cost_gap server_cost_gaps[SERVER_COST_GAPS] = {
	{COST_LACKS_BILLING, "billing", NULL},
	{COST_LACKS_STORAGE, "storage", "storage"},
	{COST_LACKS_OUTBOUND, "outbound", "outbound traffic"},
	{COST_LACKS_IPV4, "ipv4", "a public address"},
};

const char *server_price_note(const struct pick *p)
{
	bool any = p->priced->allocation == ALLOCATION_ANY, nowhere = !*p->region_id;

	if (p->priced->estimated)
		return "estimated from what the vendor says is saved on average";
	if (any && nowhere)
		return "lowest known price, region and allocation unknown";
	if (any)
		return "lowest known price, allocation unknown";
	return nowhere ? "lowest known price, region unknown" : NULL;
}

const char *server_todays_continent(const struct server_answer *s)
{
	const struct machine *m = &s->current_cost.machine;
	const struct catalogue *c = s->use.catalogue;

	for (size_t i = 1; i < c->n_regions && s->of_job && *m->region; i++)
		if (strcmp(c->region[i].vendor_id, m->vendor_id) == 0 &&
			region_is(&c->region[i], m->region))
			return c->region[i].continent;
	return "";
}

bool server_is_far(const struct server_answer *s, const struct pick *p)
{
	const char *today = server_todays_continent(s), *there = p->region->continent;

	return *today && *there && strcmp(today, there) != 0;
}

/* Reasons in sentences for people, such as "12 servers have too few vCPUs". (pick_exclusion_name
 * has the names for programs.) */
static const char *const excluded_because[EXCLUSION_COUNT] = {
	[EXCLUDED_INACTIVE] = "cannot be had now",
	[EXCLUDED_VENDOR] = "are of other vendors",
	[EXCLUDED_COMPLIANCE] = "are of vendors that do not comply",
	[EXCLUDED_NAME] = "are left out by name",
	[EXCLUDED_ARCHITECTURE] = "have another CPU architecture, or an unknown one",
	[EXCLUDED_CPU_ALLOCATION] = "have CPUs that are sold in another way",
	[EXCLUDED_TOO_FEW_VCPUS] = "have too few vCPUs",
	[EXCLUDED_TOO_MANY_VCPUS] = "have too many vCPUs",
	[EXCLUDED_TOO_LITTLE_MEMORY] = "have too little memory",
	[EXCLUDED_TOO_MUCH_MEMORY] = "have too much memory",
	[EXCLUDED_TOO_FEW_GPUS] = "have too few GPUs",
	[EXCLUDED_TOO_LITTLE_VRAM] = "have too little GPU memory",
	[EXCLUDED_GPU] = "have other GPUs",
	[EXCLUDED_GPU_MEMORY] = "have too little memory on each GPU",
	[EXCLUDED_STORAGE] = "have no such local storage",
	[EXCLUDED_NO_PRICE] = "have no price",
	[EXCLUDED_REGION] = "have no price in such a region",
	[EXCLUDED_ALLOCATION] = "have no price of that allocation",
	[EXCLUDED_CURRENCY] = "have prices in another currency",
	[EXCLUDED_NO_FORECAST] = "would run for an unknown time",
	[EXCLUDED_TOO_SLOW] = "would take longer than the deadline",
	[EXCLUDED_TOO_EXPENSIVE] = "would cost more than max_cost, or than can be counted",
	[EXCLUDED_NO_SCORE] = "have no score to compare",
};

static void push(json_t *notes, struct buf *b)
{
	json_push(notes, json_text(buf_text(b)));
	buf_reset(b);
}

static void add_reasons(struct buf *b, const struct picks *p)
{
	const char *before = "";

	for (unsigned i = 0; i < EXCLUSION_COUNT; i++)
		if (p->excluded[i]) {
			buf_addf(b, "%s%zu %s", before, p->excluded[i], excluded_because[i]);
			before = ", ";
		}
}

/* Returns the number of decimals for a size in GiB: 1 if the size is below 1000 and not whole, else
 * 0. */
static int decimals(double gib)
{
	return gib < 1000 && floor(gib) < gib;
}

/* If the job needs more CPUs or memory than the largest server has, adds both numbers to a note. */
static void add_largest(struct buf *b, const struct server_answer *s)
{
	const struct catalogue *c = s->use.catalogue;
	double vcpus = 0, memory = 0, cores = fmax(s->demand.cpu_cores, s->options.vcpus_min),
	       mib = fmax(s->demand.memory_bytes / MIB, s->options.memory_min);

	for (size_t i = 0; i < c->n; i++) {
		vcpus = fmax(vcpus, c->server[i].vcpus);
		memory = fmax(memory, c->server[i].memory_amount);
	}
	if (cores > vcpus)
		buf_addf(b, " The job needs %g vCPUs, and the largest server has %g.", cores,
			vcpus);
	if (mib > memory)
		buf_addf(b,
			" The job needs %.*f GiB of memory, and the largest server has %.*f GiB.",
			decimals(mib / 1024), mib / 1024, decimals(memory / 1024), memory / 1024);
}

static void note_no_servers(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct picks *p = &s->picks;

	if (p->n)
		return;
	if (p->fitting) {
		buf_addf(b, "Page %zu is past the last of the %zu servers that fit.",
			s->options.page, p->fitting);
	} else if (s->use.catalogue->n == 0) {
		buf_adds(b, "The catalogue has no servers.");
	} else {
		buf_addf(b,
			"None of the %zu servers of the catalogue%s fits: ", s->use.catalogue->n,
			isnan(server_fitting(s)) ? " has a known price there and" : "");
		add_reasons(b, p);
		buf_addc(b, '.');
		add_largest(b, s);
	}
	push(notes, b);
}

static const char *first_unrated(const struct catalogue *c)
{
	for (size_t i = 0; i < c->n_currencies; i++)
		if (isnan(c->currency[i].usd))
			return c->currency[i].code;
	return NULL;
}

static void add_unrated(struct buf *b, const struct catalogue *c)
{
	const char *before = "";

	for (size_t i = 0; i < c->n_currencies; i++)
		if (isnan(c->currency[i].usd)) {
			buf_addf(b, "%s%s", before, c->currency[i].code);
			before = ", ";
		}
}

static void note_currencies(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct catalogue *c = s->use.catalogue;
	const struct picks *p = &s->picks;
	const struct currency *requested = catalogue_currency(c, p->currency);
	const char *one = first_unrated(c);

	if (!p->excluded[EXCLUDED_CURRENCY])
		return;
	buf_addf(b, "%zu servers", p->excluded[EXCLUDED_CURRENCY]);
	if (requested && isnan(requested->usd)) {
		buf_addf(b,
			" were skipped: no exchange rate to %s. Set one with "
			"--catalogue.rate=%s=DOLLARS (US dollars for one %s).",
			p->currency, p->currency, p->currency);
	} else if (one) {
		buf_adds(b, " priced in ");
		add_unrated(b, c);
		buf_addf(b,
			" were skipped: no exchange rate to %s. Set one with "
			"--catalogue.rate=%s=DOLLARS (US dollars for one %s), or see them alone with "
			"currency set to %s.",
			p->currency, one, one, one);
	} else {
		buf_addf(b, " were skipped: no exchange rate to %s.", p->currency);
	}
	push(notes, b);
}

/* Returns true if a server of the vendor fits, regardless of prices. */
static bool vendor_fits(const struct server_answer *s, const char *vendor_id)
{
	const struct catalogue *c = s->use.catalogue;
	const struct filter_input input = {c, &s->demand, &s->options};

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->server[i].vendor_id, vendor_id) == 0 &&
			filter_misfit(&input, &c->server[i]) == EXCLUSION_COUNT)
			return true;
	return false;
}

/* Counts the requested regions whose prices were not fetched, of vendors with fitting servers. Adds
 * to `names` the options that fetch the prices of the first three. */
static size_t unread_regions(const struct server_answer *s, struct buf *names)
{
	const struct catalogue *c = s->use.catalogue;
	size_t unread = 0;

	for (size_t i = 1; i < c->n_regions && s->options.regions; i++) {
		const struct region *r = &c->region[i];
		const char *name = *region_typed(r) ? region_typed(r) : r->region_id;

		if (!s->options.regions[i] || r->prices_known || !vendor_fits(s, r->vendor_id))
			continue;
		if (unread++ < 3)
			buf_addf(names, " --catalogue.region=%s~%s", r->vendor_id, name);
	}
	return unread;
}

double server_fitting(const struct server_answer *s)
{
	struct buf names AUTO(buf_done) = BUF_MAX(200);

	return !s->picks.fitting && unread_regions(s, &names) ? (double)NAN :
								(double)s->picks.fitting;
}

static void note_regions(json_t *notes, struct buf *b, const struct server_answer *s)
{
	struct buf names AUTO(buf_done) = BUF_MAX(200);
	size_t unread = unread_regions(s, &names);

	if (!unread)
		return;
	buf_addf(b,
		"Prices of %zu %s were not fetched. Set%s%s for the server or for \"catalogue "
		"update\".",
		unread, unread == 1 ? "region" : "regions", buf_text(&names),
		unread > 3 ? " and so on" : "");
	push(notes, b);
}

static void note_compliance(json_t *notes, struct buf *b, const struct server_answer *s)
{
	size_t unknown = catalogue_vendors_of_unknown_compliance(s->use.catalogue);

	if (!s->options.compliance.n || !unknown)
		return;
	buf_addf(b, "%zu %s skipped: the catalogue does not know with which frameworks %s.",
		unknown, unknown == 1 ? "vendor is" : "vendors are",
		unknown == 1 ? "it complies" : "they comply");
	push(notes, b);
}

/* Adds a note if servers fit, but the first is not called the best, because its price is not
 * reliable. */
static void note_no_best(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct pick *first = s->picks.best;

	if (s->best.pick || !first || !server_price_note(first))
		return;
	buf_addf(b,
		"No server is called the best, because the price of the first cannot be relied on: "
		"%s.",
		server_price_note(first));
	push(notes, b);
}

/* Adds a note if the best server is on another continent than today's server. The note says how to
 * stay on today's continent. Adds no note if the request names places. */
static void note_far(json_t *notes, struct buf *b, const struct server_answer *s)
{
	if (s->options.regions || !s->best.pick || !server_is_far(s, s->best.pick))
		return;
	buf_addf(b, "continents=\"%s\" keeps to the continent of today's server.",
		server_todays_continent(s));
	push(notes, b);
}

/* Adds a note if a run is billed for much more time than it takes. Such a vendor bills a minimum or
 * in steps, such as whole hours. */
static void note_rounded(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct pick *first = &s->picks.pick[0];
	char times[3][WORDING_MAX];

	if (!(first->cost.added_seconds > ADDED_MOST * first->cost.billed_seconds))
		return;

	const struct vendor *vendor = &s->use.catalogue->vendor[first->server->vendor];
	const struct billing rule = billing_of(vendor, first->server);
	double used = first->cost.billed_seconds - first->cost.added_seconds;
	bool least = used < rule.minimum && !(rule.minimum < rule.increment);

	buf_addf(b, "%s bills %s %s: the first server is billed for %s, and a run uses %s of it.",
		vendor->vendor_id, least ? "at least" : "in steps of",
		wording_seconds(times[0], least ? rule.minimum : rule.increment),
		wording_seconds(times[1], first->cost.billed_seconds),
		wording_seconds(times[2], used));
	push(notes, b);
}

/* Returns true if two servers of this page have GPUs of different manufacturers. */
static bool manufacturers_differ(const struct picks *p)
{
	const char *first = "";

	for (size_t i = 0; i < p->n; i++) {
		const char *one = p->pick[i].server->gpu_manufacturer;

		if (*one && *first && strcasecmp(one, first) != 0)
			return true;
		first = *one ? one : first;
	}
	return false;
}

/* Adds a note if GPUs of several manufacturers are shown, and it is unknown which of them the job can
 * use, because its runs were recorded by an older version. */
static void note_manufacturers(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct pick_options *o = &s->options;
	bool requested = o->gpu_manufacturers.n || o->gpu_families.n || o->gpu_models.n;
	const char *known;

	if (requested || runs_gpu_manufacturer(s->runs, &known) || !manufacturers_differ(&s->picks))
		return;
	buf_adds(b, "The manufacturer of the job's GPUs is unknown, and these servers have GPUs of "
		    "several manufacturers. Set gpu_manufacturer to keep one.");
	push(notes, b);
}

/* Adds a note if the first server has GPUs of another model than the job used, and the forecast
 * assumes that both are equally fast. */
static void note_model(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const char *used = runs_gpu_model(s->runs);
	const struct pick *first = s->picks.pick;

	if (!used || !s->picks.n || first->forecast.basis != FORECAST_ASSUMED ||
		!*first->server->gpu_model || gpus_same_name(used, first->server->gpu_model))
		return;
	buf_addf(b,
		"The job's GPU was %s, and the GPU of the first server is %s. How fast the job runs there is "
		"unknown: equal speed is assumed.",
		used, first->server->gpu_model);
	push(notes, b);
}

/* Adds a note with the parts that the cost of the first server does not include. */
static void note_gaps(json_t *notes, struct buf *b, const struct cost *cost)
{
	const char *unpriced[SERVER_COST_GAPS];
	size_t n = 0;

	for (size_t i = 0; i < SERVER_COST_GAPS; i++)
		if (cost->lacks & server_cost_gaps[i].bit && server_cost_gaps[i].priced)
			unpriced[n++] = server_cost_gaps[i].priced;
	if (!n)
		return;
	buf_adds(b, "The cost of the first server is without ");
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s%s", !i ? "" : i + 1 < n ? ", " : " and ", unpriced[i]);
	buf_adds(b, n == 1 ? ": its price is unknown." : ": their prices are unknown.");
	push(notes, b);
}

json_t *server_notes_json(const struct server_answer *s)
{
	struct buf b AUTO(buf_done) = BUF_MAX(SERVER_NOTE_MAX);
	const struct picks *p = &s->picks;
	json_t *notes = json_array();

	note_regions(notes, &b, s);
	note_no_servers(notes, &b, s);
	note_currencies(notes, &b, s);
	note_compliance(notes, &b, s);
	note_no_best(notes, &b, s);
	note_far(notes, &b, s);
	if (p->n && !isnan(p->pick[0].cost.amount)) {
		note_rounded(notes, &b, s);
		note_gaps(notes, &b, &p->pick[0].cost);
	}
	if (s->of_job && s->demand.gpus > 0) {
		note_manufacturers(notes, &b, s);
		note_model(notes, &b, s);
	}
	if (p->fitting && s->options.objective &&
		strcmp(p->objective->name, s->options.objective->name) != 0)
		json_push(notes,
			json_text("The duration of a run is unknown, so servers are ranked by the "
				  "price of an hour."));
	if (s->use.state.stale)
		json_push(notes, json_text("The catalogue is stale. Prices may have changed."));
	if (s->of_job && !s->profile.reference && p->objective->by_forecast)
		json_push(notes, json_text("The server on which the job ran is unknown, so every "
					   "server is assumed to be equally fast."));
	if (p->n && p->pick[0].priced->allocation == ALLOCATION_SPOT) {
		buf_addf(&b,
			"A spot server is assumed to be interrupted %g times an hour. Set "
			"spot_interruptions to change this.",
			s->options.spot_interruptions_per_hour);
		push(notes, &b);
	}
	return notes;
}
