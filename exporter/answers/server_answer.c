/* From a request to picks. */
#include "exporter/answers/server_answer.h"

#include <math.h>

#include "exporter/answers/server_parameters.h"
#include "recommender/servers/job_profile.h"

/* A run that takes so long computes in proportion: it is as busy as the others. */
static void scale_to(struct profile *p, double seconds)
{
	double longer = seconds / p->duration_seconds;

	p->duration_seconds = seconds;
	p->duration_low *= longer;
	p->duration_high *= longer;
	p->cpu_seconds *= longer;
	p->gpu_seconds *= longer;
}

/* The profile of a job: what its runs say, on the server where they ran. */
static struct profile profile_of(const struct server_question *q, const struct server *reference)
{
	struct profile p = profile_of_job(q->runs);

	if (isnan(p.duration_seconds))
		p.duration_seconds = q->demand->duration_seconds;
	if (!isnan(q->seconds_said))
		scale_to(&p, q->seconds_said);
	p.reference = reference;
	return p;
}

static void about_job(struct server_answer *s, const struct machine *here, const struct machine *m,
	const struct runs *runs, struct arena *arena)
{
	struct habits habits = habits_of_job(runs, arena);
	struct pick_options options = s->options;

	options.currency = s->picks.currency;
	today_of(&(struct today_question){s->use.catalogue, here, m, &s->demand, &options, runs},
		arena, &s->today);
	s->n_related = benchmarks_related(s->use.catalogue, &habits, s->related);
}

int server_answer(struct app *app, const struct arguments *a, const struct server_question *q,
	struct arena *arena, struct server_answer *ret, struct reply *r, struct err *e)
{
	const struct runs *runs = q->runs;
	struct machine here, m;
	int code = app_catalogue(app, &ret->use, e);

	if (code)
		return code;
	machine_now(app, &here);
	m = runs ? machine_of_job(runs, &here) : here;
	ret->of_job = runs;
	ret->demand = *q->demand;
	if (runs)
		ret->profile = profile_of(q, machine_server(ret->use.catalogue, &m));
	struct server_job job = {
		&ret->profile, runs ? runs_architecture(runs) : ARCHITECTURE_UNKNOWN};

	if (!server_options(a, ret->use.catalogue, runs ? &job : NULL, arena, &ret->options, r))
		return 0;
	pick_servers(ret->use.catalogue, q->demand, &ret->options, arena, &ret->picks);
	if (runs)
		about_job(ret, &here, &m, runs, arena);
	return 1;
}

void server_answer_done(struct server_answer *s)
{
	app_catalogue_done(&s->use);
}
