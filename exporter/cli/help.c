#include "exporter/cli/help.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "exporter/cli/catalogue_command.h"
#include "exporter/cli/query.h"
#include "exporter/options/options.h"
#include "exporter/text/line_wrap.h"
#include "exporter/text/suggest.h"

#define CATALOGUE "catalogue"
#define WORDS_MAX 64 /* more than there are commands */

/* The words that ask about the program itself. */
static const char *const words_for_it[] = {"manual", "help", "version"};

bool help_is_word_for_it(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(words_for_it); i++)
		if (strcmp(word, words_for_it[i]) == 0)
			return true;
	return false;
}

const struct help_command help_commands[] = {
	{"serve", "rightsize-exporter [serve] [OPTION...]",
		"Samples the machine and the runs of its jobs, and serves /metrics, /jobs, /runs, "
		"/stats, /recommend and /servers",
		COMMAND_SERVE},
	{"run", "rightsize-exporter run [--job-name=NAME] [OPTION...] -- COMMAND [ARGUMENT...]",
		"Runs a command, records it as a run of the job, and ends with its exit code and a "
		"short summary",
		COMMAND_RUN},
	{"rules", "rightsize-exporter rules test|check|capture [OPTION...]",
		"Shows which rule takes which process, and why; checks a file of rules; or "
		"captures the processes of this machine for a test elsewhere",
		COMMAND_RULES},
	{0},
};

const struct help_usual help_usual[] = {
	{"serve", {"web.listen-address", "web.config.file", "web.external-url", "sample.interval",
			  "history.path", "forward.url", "catalogue.path", "jobs.pod", "jobs.rules",
			  "log.level"}},
	{"run", {"job-name", "request-cpu", "request-memory", "input-bytes", "report", "quiet",
			"strict", "web.listen-address", "history.path", "forward.url"}},
	{"rules", {"jobs.rules", "pid", "processes", "log.level"}},
	{"recommend", {"job-name", "risk", "input-bytes", "format", "objective", "vendor",
			      "regions", "explain", "output", "history.path"}},
	{"servers", {"job-name", "cpu", "memory", "limit", "objective", "vendor", "regions",
			    "format", "output", "history.path"}},
	{"benchmarks", {"job-name", "format", "output", "history.path", "catalogue.path"}},
	{"stats", {"job-name", "runs", "format", "color", "output", "history.path"}},
	{"runs", {"job-name", "limit", "format", "color", "output", "history.path"}},
	{"jobs", {"search", "show", "sort", "limit", "format", "color", "output", "history.path"}},
	{"overview", {"runs", "search", "show", "sort", "limit", "format", "color", "output",
			     "history.path"}},
	{"server", {"format", "output", "cloud.discovery", "server.vendor", "server.type",
			   "server.region"}},
	{"report", {"run", "job-name", "output", "history.path", "catalogue.path"}},
	{"csv", {"run", "job-name", "format", "from", "to", "output", "history.path"}},
	{"series", {"run", "job-name", "points", "from", "to", "output", "history.path"}},
	{CATALOGUE, {"catalogue.path", "catalogue.cache", "catalogue.url", "catalogue.ca-file",
			    "catalogue.refresh-interval", "catalogue.region", "catalogue.rate"}},
	{0},
};

/* Returns the options that --help shows; NULL = all. */
static const char *const *names_of(const char *word, bool all)
{
	const struct help_usual *u = help_usual;

	while (u->word && strcmp(u->word, word) != 0)
		u++;
	return all || !u->word ? NULL : u->names;
}

const struct help_example help_examples[] = {
	{"serve", "rightsize-exporter serve",
		"Watch the jobs of this machine, on http://127.0.0.1:9877/"},
	{"serve", "rightsize-exporter serve --web.listen-address=:9877 --web.config.file=web.yml",
		"Let Prometheus in from another machine, with TLS and a password"},
	{"run", "rightsize-exporter run --job-name=etl/load -- ./load.sh --date=2026-11-21",
		"Record a run"},
	{"run", "rightsize-exporter run --job-name=etl/load --request-cpu=2 --request-memory=4Gi -- ./load.sh",
		"Record a run and what was requested for it"},
	{"rules", "rightsize-exporter rules test --jobs.rules=rules.yml",
		"See which rule takes each process"},
	{"rules", "rightsize-exporter rules check --jobs.rules=rules.yml",
		"Find mistakes in a file of rules before a server reads it"},
	{"rules", "rightsize-exporter rules capture",
		"Print the processes of this machine, for rules test elsewhere"},
	{"rules", "rightsize-exporter rules test --jobs.rules=rules.yml --processes=captured.json",
		"Try rules on what capture printed elsewhere"},
	{"recommend", "rightsize-exporter recommend --job-name=etl/load",
		"What to request next time"},
	{"recommend", "rightsize-exporter recommend --job-name=etl/load --format=kubernetes",
		"The same as the resources of a container"},
	{"recommend",
		"rightsize-exporter recommend --job-name=etl/load --input-bytes=40Gi --risk=safe",
		"For an input of this size, with few failures"},
	{"servers", "rightsize-exporter servers --cpu=4 --memory=16Gi --regions=eu-west-1",
		"Servers with 4 CPUs and 16 GiB in a region"},
	{"servers", "rightsize-exporter servers --job-name=etl/load --objective=fastest",
		"Where the job ends soonest"},
	{"benchmarks", "rightsize-exporter benchmarks --job-name=etl/load",
		"By which benchmarks servers can be ranked for a job"},
	{"stats", "rightsize-exporter stats --job-name=etl/load", "What the runs of a job used"},
	{"runs", "rightsize-exporter runs --job-name=etl/load --format=csv",
		"The runs, for a spreadsheet"},
	{"jobs", "rightsize-exporter jobs", "The jobs of the history"},
	{"jobs", "rightsize-exporter jobs --search=etl --sort=-runs",
		"The jobs with etl in their names, those with most runs first"},
	{"overview", "rightsize-exporter overview --sort=-failures --limit=20",
		"The 20 jobs that fail most, each in a line"},
	{"server", "rightsize-exporter server", "Which cloud server this machine is"},
	{"report", "rightsize-exporter report --job-name=etl/load -o report.html",
		"The newest run as one HTML file"},
	{"csv", "rightsize-exporter csv --run=20261126T120000Z-0b51c7e2 -o run.csv",
		"The samples of a run"},
	{"series", "rightsize-exporter series --job-name=etl/load --points=200 -o series.json",
		"The newest run as at most 200 points, to be drawn"},
	{"catalogue", "rightsize-exporter catalogue info",
		"How old the servers and prices are, and where they are from"},
	{"catalogue", "rightsize-exporter catalogue update", "Fetch servers and prices now"},
	{"catalogue", "rightsize-exporter catalogue import servers.csv",
		"Use servers and prices of your own"},
	{"catalogue", "rightsize-exporter catalogue search m7i",
		"The cheapest servers with m7i in their names"},
	{0},
};

static void add_examples(struct buf *out, const char *word)
{
	const char *title = "\nExamples:\n";

	for (const struct help_example *x = help_examples; x->word; x++)
		if (strcmp(x->word, word) == 0) {
			buf_addf(out, "%s  %s\n      %s\n", title, x->line, x->what);
			title = "";
		}
}

static void help_of_program(struct buf *out, bool all)
{
	buf_adds(out, "Watches a job's process tree and its machine, keeps the history of its "
		      "runs, and answers\n"
		      "what to ask for next time, on which server, and what it will cost.\n\n");
	for (size_t i = 0; help_commands[i].word; i++)
		buf_addf(out, "  %s\n      %s\n", help_commands[i].synopsis, help_commands[i].help);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			buf_addf(out, "  rightsize-exporter %s [OPTION...]\n      %s\n",
				all_routes[i]->command, all_routes[i]->help);
	catalogue_command_help(out);
	buf_adds(out,
		"\nrightsize-exporter help COMMAND lists the options of a command. Each option "
		"can also be\n"
		"given in the environment: --sample.interval as RIGHTSIZE_SAMPLE_INTERVAL.\n");
	if (!all)
		return;
	/* Without a command the program serves. */
	buf_adds(out, "\nOptions of serve, the command that runs if none is named:\n");
	options_help(out, COMMAND_SERVE, NULL);
}

static void help_left_out(struct buf *out, size_t n)
{
	if (n)
		buf_addf(out, "\n%zu more options: " HELP_ALL "\n", n);
}

static void help_of_command(struct buf *out, const struct help_command *c, bool all)
{
	buf_addf(out, "%s\n%s.\n\n", c->synopsis, c->help);
	size_t left_out = options_help(out, c->bits, names_of(c->word, all));

	add_examples(out, c->word);
	help_left_out(out, left_out);
}

static void help_of_catalogue(struct buf *out, bool all)
{
	catalogue_command_help(out);
	buf_addc(out, '\n');
	size_t left_out = options_help(out, COMMAND_QUERY, names_of(CATALOGUE, all));

	add_examples(out, CATALOGUE);
	help_left_out(out, left_out);
}

static void help_of_route(struct buf *out, const struct route *route, bool all)
{
	buf_addf(out, "rightsize-exporter %s [OPTION...]\n", route->command);
	line_wrap_add(out, route->help, 0);
	buf_addc(out, '\n');
	const char *const *names = names_of(route->command, all);
	size_t left_out = query_help(out, route, names);

	left_out += options_help(out, COMMAND_QUERY, names);
	add_examples(out, route->command);
	help_left_out(out, left_out);
}

bool help_of_word(struct buf *out, const char *word, bool all)
{
	const struct help_command *c = help_commands;
	const struct route *route = query_route(word);

	while (c->word && strcmp(c->word, word) != 0)
		c++;
	if (c->word)
		help_of_command(out, c, all);
	else if (strcmp(word, CATALOGUE) == 0)
		help_of_catalogue(out, all);
	else if (route)
		help_of_route(out, route, all);
	else if (*word == '\0' || *word == '-' || help_is_word_for_it(word))
		help_of_program(out, all);
	else
		return false;
	return true;
}

const char *help_meant(const char *word)
{
	const char *names[WORDS_MAX] = {CATALOGUE};
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_LEN(words_for_it); i++)
		names[n++] = words_for_it[i];
	for (const struct help_command *c = help_commands; c->word; c++)
		names[n++] = c->word;
	for (size_t i = 0; all_routes[i] && n < WORDS_MAX; i++)
		if (all_routes[i]->command)
			names[n++] = all_routes[i]->command;
	return suggest_slip(word, names, n);
}

void help_flag(const char *name, char out[HELP_FLAG_MAX])
{
	snprintf(out, HELP_FLAG_MAX, "--%s", name);
	for (char *c = out; *c; c++)
		*c = *c == '_' ? '-' : *c;
}
