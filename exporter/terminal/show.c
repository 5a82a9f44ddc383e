#include "exporter/terminal/show.h"

#include <string.h>

static const struct shown table[] = {
	{"jobs", "overview", "advise", show_jobs, "jobs"},
	{"overview", NULL, "advise", show_jobs, "jobs"},
	{"runs", NULL, "details", show_runs, "runs", "export"},
	{"recommend", NULL, NULL, show_recommend, NULL},
	{"servers", NULL, NULL, show_servers, "servers"},
	{"stats", NULL, NULL, show_stats, "runs"},
	{"benchmarks", NULL, NULL, show_benchmarks, "benchmarks"},
	{"server", NULL, NULL, show_server, NULL},
	{0},
};

const struct shown *show_find(const char *command)
{
	for (const struct shown *t = table; t->command; t++)
		if (strcmp(t->command, command) == 0)
			return t;
	return NULL;
}
