/* From the file to the finder. */
#include "exporter/rules_use.h"

#include <errno.h>
#include <stdio.h>

#include "exporter/finder.h"
#include "exporter/job_rules.h"
#include "exporter/log.h"
#include "exporter/sampler.h"

static void take(struct finder *f, const char *file, struct job_rules *rules)
{
	char count[24];

	snprintf(count, sizeof count, "%zu", job_rules_count(rules));
	finder_rules(f, rules);
	log_line(LOG_LEVEL_INFO, "rules are in force", "file", file, "rules", count, NULL);
}

int rules_begin(const struct options *o, struct finder *f, struct err *e)
{
	struct job_rules *rules = NULL;
	int code = f && o->jobs_rules ? job_rules_read(&rules, o->jobs_rules, e) : 0;

	if (rules)
		take(f, o->jobs_rules, rules);
	return code;
}

struct news {
	const char *file;
	struct job_rules *rules;
};

static void give(struct finder *f, const struct host *host, void *context)
{
	const struct news *n = context;

	(void)host;
	take(f, n->file, n->rules);
}

int rules_use(struct app *app, struct err *e)
{
	struct news n = {.file = app->options->jobs_rules};
	int code = n.file ? job_rules_read(&n.rules, n.file, e) : 0;

	if (!n.rules || sampler_find(app->sampler, give, &n))
		return code;
	job_rules_free(n.rules);
	return app->self ? err_set(e, -ECANCELED, SAMPLER_NO_ANSWER) : 0;
}

void rules_reload(struct app *app)
{
	struct err e = {0};

	if (rules_use(app, &e))
		log_line(LOG_LEVEL_ERROR, "rules stay as they are", "err", e.text, NULL);
}
