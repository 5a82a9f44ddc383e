/* From the file to the finder. */
#include "exporter/rules_use.h"

#include <stdio.h>

#include "exporter/finder.h"
#include "exporter/job_rules.h"
#include "exporter/log.h"
#include "exporter/sampler.h"

static void give(struct finder *f, const struct host *host, void *context)
{
	(void)host;
	finder_rules(f, context);
}

int rules_use(struct app *app, struct err *e)
{
	const char *file = app->options->jobs_rules;
	struct job_rules *rules = NULL;
	char count[24];
	int code = file ? job_rules_read(&rules, file, e) : 0;

	if (code || !file)
		return code;
	snprintf(count, sizeof count, "%zu", job_rules_count(rules));
	if (!sampler_find(app->sampler, give, rules)) {
		job_rules_free(rules);
		return 0;
	}
	log_line(LOG_LEVEL_INFO, "rules are in force", "file", file, "rules", count, NULL);
	return 0;
}

void rules_reload(struct app *app)
{
	struct err e = {0};

	if (rules_use(app, &e))
		log_line(LOG_LEVEL_ERROR, "rules stay as they are", "err", e.text, NULL);
}
