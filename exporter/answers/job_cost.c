#include "exporter/answers/job_cost.h"

#include <math.h>

#include "exporter/answers/server_parameters.h"
#include "exporter/answers/current_cost.h"
#include "recommender/servers/job_profile.h"
#include "recommender/servers/saving.h"
#include "recommender/catalogue/regions.h"
#include "recommender/catalogue/catalogue.h"

const char *const job_cost_offer_name[OFFERS] = {
	[OFFER_CURRENT] = "current", [OFFER_BEST] = "best"};

static struct offer offer_of(const struct pick *p)
{
	return (struct offer){.known = true,
		.vendor_id = p->server->vendor_id,
		.instance_type = p->server->api_reference,
		.region = region_typed(p->region),
		.allocation = catalogue_allocation_name[p->priced->allocation],
		.price = p->price,
		.seconds = p->forecast.seconds,
		.amount = p->cost.amount};
}

static void past_runs(const struct current_cost *t, struct arena *arena, struct job_cost *ret)
{
	ret->run = arena_alloc(arena, (t->n_runs + 1) * sizeof *ret->run);
	ret->n_runs = t->n_runs;
	for (size_t i = 0; i < t->n_runs; i++)
		ret->run[i] = (struct run_usd){t->run[i].run, t->run[i].amount};
}

void job_cost_of(const struct catalogue *c, const struct machine *here, const struct runs *runs,
	const struct sizing *sizing, struct arena *arena, struct job_cost *ret)
{
	static const struct demand nothing = {NAN, NAN, NAN, NAN, NAN, NAN};
	const struct demand *demand = sizing ? &sizing->demand : &nothing;
	struct job_profile profile = job_profile_of(runs, sizing);
	struct pick_options o = server_parameters_usual(&(struct server_job){&profile, runs});
	struct current_cost current_cost;
	struct picks picks;

	*ret = (struct job_cost){.saving_usd = NAN};
	struct machine m = current_cost_machine(runs, here);

	profile.reference = current_cost_find_server(c, &m);
	o.objective = objective_find("cost");
	o.currency = "USD";
	o.limit = 1;
	current_cost_of(&(struct current_cost_question){c, here, &m, demand, &o, runs}, arena,
		&current_cost);
	past_runs(&current_cost, arena, ret);
	if (!sizing)
		return;
	if (current_cost.priced)
		ret->offer[OFFER_CURRENT] = offer_of(&current_cost.current);
	pick_servers(c, demand, &o, arena, &picks);
	struct best_server best = saving_best(c, demand, &o, &picks,
		current_cost.priced ? &current_cost.current : NULL);

	if (best.pick)
		ret->offer[OFFER_BEST] = offer_of(best.pick);
	ret->saving_usd = best.saving.amount;
}
