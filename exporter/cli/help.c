#include "exporter/cli/help.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/api/route.h"
#include "exporter/cli/catalogue_command.h"
#include "exporter/cli/manual.h"
#include "exporter/cli/query.h"
#include "exporter/cli/rules_command.h"
#include "exporter/cli/transfer.h"
#include "exporter/cli/usage.h"
#include "exporter/options/options.h"
#include "exporter/text/line_wrap.h"
#include "exporter/text/suggest.h"

#define WORDS_MAX 64 /* larger than the number of commands */

static const char *manual_word(size_t i)
{
#define MANUAL_WORD(word, print) word,
	static const char *const words[] = {MANUAL_TABLES(MANUAL_WORD)};

	return i < ARRAY_LEN(words) ? words[i] : NULL;
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
		COMMAND_RULES, .follower = rules_command_word},
	{"catalogue",
		"rightsize-exporter catalogue info|update|import|search [FILE|TEXT] [OPTION...]",
		"Says how old the servers and prices are, fetches new ones, imports a file, or "
		"searches them",
		COMMAND_QUERY, .follower = catalogue_command_word,
		.explain = catalogue_command_help},
	{"export", "rightsize-exporter export [-o FILE] [OPTION...]",
		"Prints the ended runs of the history as JSON, one in each line, as POST /runs and "
		"import take them",
		COMMAND_EXPORT},
	{"import", "rightsize-exporter import [--from=SOURCE] [OPTION...] FILE...|URL|-",
		"Adds runs to the history: those that export printed, or those that another "
		"program measured",
		COMMAND_IMPORT, .explain = transfer_import_help},
	{"help", "rightsize-exporter help [COMMAND]", "Shows the options of a command",
		.follower = help_command_word, .placeholder = "COMMAND"},
	{"manual", "rightsize-exporter manual PAGE",
		"Prints a page of the manual, a man page, or the completion of a shell",
		.follower = manual_word, .placeholder = "PAGE"},
	{"version", "rightsize-exporter version", "Prints the version, and what it was built from"},
	{0},
};

const struct help_usual help_usual[] = {
	{"serve", {"web.listen-address", "web.config.file", "web.external-url", "sample.interval",
			  "history.path", "forward.url", "catalogue.path", "jobs.pod", "jobs.rules",
			  "log.level"}},
	{"run", {"job-name", "request-cpu", "request-memory", "input-bytes", "report", "format",
			"quiet", "strict", "history.path", "forward.url"}},
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
	{"export", {"output", "job-name", "namespace", "cluster", "history.path"}},
	{"import",
		{"from", "outcome", "window", "job-name", "namespace", "cluster", "history.path"}},
	{"catalogue", {"catalogue.path", "catalogue.cache", "catalogue.url", "catalogue.ca-file",
			      "catalogue.refresh-interval", "catalogue.region", "catalogue.rate"}},
	{0},
};

const struct help_command *help_command_find(const char *word)
{
	const struct help_command *c = help_commands;

	while (c->word && strcmp(c->word, word) != 0)
		c++;
	return c->word ? c : NULL;
}

const char *help_command_word(size_t i)
{
	for (const struct help_command *c = help_commands; c->word; c++)
		if (i-- == 0)
			return c->word;
	for (const struct route *const *r = all_routes; *r; r++)
		if ((*r)->command && i-- == 0)
			return (*r)->command;
	return NULL;
}

/* Returns the names of the options that --help of the command `word` shows; NULL = all. */
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
	{"run", "rightsize-exporter run --job-name=etl/load --format=kubernetes -- ./load.sh",
		"End with the lines to paste into the container of the next run"},
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
	{"servers", "rightsize-exporter servers --cpu=4 --memory=16Gi --regions=us-east-1",
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
	{"export", "rightsize-exporter export -o runs.jsonl", "All ended runs"},
	{"import", "rightsize-exporter import runs.jsonl", "Adds them to another history"},
	{"import",
		"sacct -a -P -S now-7days -o JobID,JobIDRaw,Cluster,JobName,State,ExitCode,Start,End,"
		"Elapsed,TotalCPU,ReqCPUS,AllocCPUS,NNodes,NTasks,ReqMem,MaxRSS,TRESUsageInTot | "
		"rightsize-exporter import --from=sacct -",
		"The jobs of a week of Slurm"},
	{"import", "rightsize-exporter import --from=nextflow trace.txt",
		"The tasks of a workflow"},
	{"import", "rightsize-exporter import --from=prometheus http://prometheus:9090",
		"The pods of a week that cAdvisor measured"},
	{"help", "rightsize-exporter help recommend", "What recommend takes"},
	{"manual", "rightsize-exporter manual bash", "The completion of bash, to be sourced"},
	{"version", "rightsize-exporter version", "Which version this is"},
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

static void add_commands(struct buf *out, bool with_options)
{
	for (const struct help_command *c = help_commands; c->word; c++)
		if ((c->bits != 0) == with_options)
			buf_addf(out, "  %s\n      %s\n", c->synopsis, c->help);
}

static void help_of_program(struct buf *out, bool all)
{
	buf_adds(out, "Watches a job's process tree and its machine, keeps the history of its "
		      "runs, and answers\n"
		      "what to ask for next time, on which server, and what it will cost.\n\n");
	add_commands(out, true);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			buf_addf(out, "  rightsize-exporter %s [OPTION...]\n      %s\n",
				all_routes[i]->command, all_routes[i]->help);
	add_commands(out, false);
	buf_adds(out, "\nrightsize-exporter help COMMAND lists the options of a command that most "
		      "people need, and\n" HELP_ALL
		      " lists all. Each option can also be given in the environment:\n"
		      "--sample.interval as RIGHTSIZE_SAMPLE_INTERVAL.\n");
	if (!all)
		return;
	/* If the command line has no command, the program runs the command serve. */
	buf_adds(out, "\nOptions of serve, the command that runs if none is named:\n");
	options_help(out, COMMAND_SERVE, NULL);
}

static void help_left_out(struct buf *out, size_t n)
{
	if (n)
		buf_addf(out, "\n%zu more options: " HELP_ALL "\n", n);
}

static void add_followers(struct buf *out, const struct help_command *c)
{
	struct buf words AUTO(buf_done) = BUF_MAX(4096);

	usage_add_words(&words, c->follower);
	buf_addf(out, "  %s\n", c->placeholder);
	line_wrap_add(out, buf_text(&words), 6);
}

static void help_of_command(struct buf *out, const struct help_command *c, bool all)
{
	buf_addf(out, "%s\n%s.\n", c->synopsis, c->help);
	if (c->explain || c->placeholder || c->bits)
		buf_addc(out, '\n');
	if (c->placeholder)
		add_followers(out, c);
	if (c->explain) {
		c->explain(out);
		buf_addc(out, '\n');
	}
	size_t left_out = options_help(out, c->bits, names_of(c->word, all));

	add_examples(out, c->word);
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
	const struct help_command *c = help_command_find(word);
	const struct route *route = query_route(word);

	if (c)
		help_of_command(out, c, all);
	else if (route)
		help_of_route(out, route, all);
	else if (*word == '\0' || *word == '-')
		help_of_program(out, all);
	else
		return false;
	return true;
}

int help_refuse_word(const char *word)
{
	struct buf text AUTO(buf_done) = BUF_MAX(1024);
	const char *names[WORDS_MAX], *meant;
	size_t n = 0;

	while (n < WORDS_MAX && (names[n] = help_command_word(n)))
		n++;
	meant = suggest_slip(word, names, n);
	if (meant && strcmp(meant, word) == 0)
		buf_addf(&text, "give the command %s in front of its options", word);
	else
		buf_addf(&text, "there is no command %.200s%s%s%s", word,
			meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
	return usage_error(NULL, buf_text(&text));
}
