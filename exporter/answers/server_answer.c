#include "exporter/answers/server_answer.h"

#include <math.h>

#include "exporter/answers/server_parameters.h"
#include "recommender/servers/job_profile.h"

/* Scales a profile to another duration. Assumes that the next run is as busy as the past runs, so
 * its CPU and GPU seconds grow in proportion. */
static void scale_to(struct job_profile *p, double seconds)
{
	double longer = seconds / p->duration_seconds;

	p->duration_seconds = seconds;
	p->duration_low *= longer;
	p->duration_high *= longer;
	p->cpu_seconds *= longer;
	p->gpu_seconds *= longer;
}

static struct job_profile profile_of(const struct server_question *q,
	const struct server *reference)
{
	struct job_profile p = job_profile_of(q->runs, q->sizing);

	if (!isnan(q->seconds_said))
		scale_to(&p, q->seconds_said);
	p.reference = reference;
	return p;
}

/* Finds the best server, and alternatives: servers of a kind (arm64, spot, burstable) that would
 * cost less. Leaves out a kind that the request excludes explicitly. */
static void about_picks(struct server_answer *s, const struct arguments *a, struct arena *arena)
{
	static const char *const parameter[CONDITIONS] = {
		[CONDITION_ARM64] = "architecture", [CONDITION_BURSTABLE] = "cpu_allocation"};
	const struct current_cost *now = &s->current_cost;
	const struct catalogue *c = s->use.catalogue;
	size_t n = 0;

	s->best = saving_best(c, &s->demand, &s->options, &s->picks,
		s->of_job && now->priced ? &now->current : NULL);
	s->n_alternatives = saving_alternatives(c, &s->demand, &s->options, &s->picks, s->best.pick,
		arena, s->alternative);
	for (size_t i = 0; i < s->n_alternatives; i++) {
		const char *name = parameter[s->alternative[i].condition];

		if (!name || !argument_text(a, name))
			s->alternative[n++] = s->alternative[i];
	}
	s->n_alternatives = n;
}

static void about_job(struct server_answer *s, const struct machine *here, const struct machine *m,
	const struct runs *runs, struct arena *arena)
{
	struct job_habits habits = job_profile_habits(runs, arena);
	struct pick_options options = s->options;

	options.currency = s->picks.currency;
	current_cost_of(&(struct current_cost_question){s->use.catalogue, here, m, &s->demand,
				&options, runs},
		arena, &s->current_cost);
	s->n_related = related_benchmarks_find(s->use.catalogue, &habits, s->related);
}

int server_answer_catalogue(struct app *app, struct catalogue_use *ret, struct reply *r)
{
	struct err e = {0};

	return catalogue_use_begin(app, ret, &e) ? reply_error(r, 503, "catalogue", "%s", e.text) :
						   1;
}

int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r)
{
	const struct runs *runs = q->runs;
	struct machine here, m;

	if (!server_answer_catalogue(app, &ret->use, r))
		return 0;
	this_server_now(app, &here);
	m = runs ? current_cost_machine(runs, &here) : here;
	ret->of_job = runs;
	ret->runs = runs;
	ret->demand = *q->demand;
	if (runs)
		ret->profile = profile_of(q, current_cost_find_server(ret->use.catalogue, &m));
	struct server_job job = {&ret->profile, runs};

	if (!server_parameters_read(a, ret->use.catalogue, runs ? &job : NULL, arena, &ret->options,
		    r))
		return 0;
	pick_servers(ret->use.catalogue, q->demand, &ret->options, arena, &ret->picks);
	if (runs)
		about_job(ret, &here, &m, runs, arena);
	about_picks(ret, a, arena);
	return 1;
}

void server_answer_done(struct server_answer *s)
{
	catalogue_use_done(&s->use);
}
