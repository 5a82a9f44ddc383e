#include "exporter/sampling/rules_reload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/finder.h"
#include "exporter/discovery/job_rules.h"
#include "exporter/core/log.h"
#include "exporter/core/signals.h"
#include "exporter/sampling/sampler.h"

static void log_rules(const char *file, const struct job_rules *rules)
{
	char count[24];

	snprintf(count, sizeof count, "%zu", job_rules_count(rules));
	log_line(LOG_LEVEL_INFO, "rules are in force", "file", file, "rules", count, NULL);
}

int rules_reload_begin(const struct options *o, struct job_rules **ret, struct err *e)
{
	int code = o->jobs_rules ? job_rules_read(ret, o->jobs_rules, e) : 0;

	if (*ret)
		log_rules(o->jobs_rules, *ret);
	return code;
}

/* New rules that the sampler passes to the finder. The struct is reference-counted, because a
 * sampler that hangs may still use it after the caller has given up. */
struct rules_news {
	struct shared shared;
	const char *file;
	struct job_rules *rules; /* NULL = the finder has taken the rules */
};

static void news_release(struct shared *shared)
{
	struct rules_news *n = (struct rules_news *)(void *)shared;

	job_rules_free(n->rules);
	free(n);
}

static void give_rules(struct finder *f, const struct host *host, void *context)
{
	struct rules_news *n = context;

	(void)host;
	log_rules(n->file, n->rules);
	finder_rules(f, TAKE(n->rules));
}

static int use_rules(struct app *app, const sigset_t *hurry, struct err *e)
{
	const char *file = app->options->jobs_rules;
	struct job_rules *rules = NULL;
	int code = file ? job_rules_read(&rules, file, e) : 0;

	if (!rules)
		return code;
	struct rules_news *n = xcalloc(1, sizeof *n);

	shared_init(&n->shared, news_release);
	n->file = file;
	n->rules = rules;
	bool was_called = sampler_find(app->sampler, give_rules, n, hurry);

	shared_drop(&n->shared);
	return was_called || !app->self ? 0 : err_set(e, -ECANCELED, SAMPLER_NO_ANSWER);
}

int rules_reload_now(struct app *app, struct err *e)
{
	return use_rules(app, NULL, e);
}

void rules_reload(struct app *app)
{
	sigset_t hurry;
	struct err e = {0};

	signals_end(&hurry);
	if (use_rules(app, &hurry, &e))
		log_line(LOG_LEVEL_ERROR, "rules not reloaded; the old ones stay in force", "err",
			e.text, NULL);
}
