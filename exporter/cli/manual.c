/* The manual. */
#include "exporter/cli/manual.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "exporter/sampling/enabled_collectors.h"
#include "exporter/cli/catalogue_command.h"
#include "exporter/site/exposition.h"
#include "exporter/options/options.h"
#include "exporter/cli/query.h"
#include "exporter/api/route.h"
#include "exporter/core/version.h"
#include "recommender/catalogue/fields.h"
#include "recommender/sizing/sizing.h"

#define MANUAL_MAX (1u << 20)
#define EXIT_USAGE 2

const struct manual_command manual_commands[] = {
	{"serve", "rightsize-exporter [serve] [OPTION...]",
		"Samples the machine and the runs of its jobs, and serves /metrics, /jobs, /runs, "
		"/stats, /recommend and /servers",
		COMMAND_SERVE},
	{"run", "rightsize-exporter run --job-name=NAME [OPTION...] -- COMMAND [ARGUMENT...]",
		"Runs a command, records it as a run of the job, and ends with its exit code and a "
		"short summary",
		COMMAND_RUN},
	{"rules", "rightsize-exporter rules test|check|capture [OPTION...]",
		"Shows which rule takes which process, and why; checks a file of rules; or "
		"captures "
		"the processes of this machine for a test elsewhere",
		COMMAND_RULES},
	{0},
};

bool manual_wanted(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "manual") == 0)
		return true;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
			strcmp(argv[i], "--version") == 0)
			return true;
	return false;
}

static void help_of_all(struct buf *out)
{
	buf_adds(out, "Watches a job's process tree and its machine, keeps the history of its "
		      "runs, and answers\n"
		      "what to ask for next time, on which server, and what it will cost.\n\n");
	for (size_t i = 0; manual_commands[i].word; i++)
		buf_addf(out, "  %s\n      %s\n", manual_commands[i].synopsis,
			manual_commands[i].help);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			buf_addf(out, "  rightsize-exporter %s [OPTION...]\n      %s\n",
				all_routes[i]->command, all_routes[i]->help);
	catalogue_help(out);
	buf_adds(out,
		"\nrightsize-exporter COMMAND --help lists the options of a command. Each option "
		"can also be\n"
		"given in the environment: --sample.interval as RIGHTSIZE_SAMPLE_INTERVAL.\n");
}

static void help_of_word(struct buf *out, const char *word)
{
	const struct route *route = query_route(word);

	for (size_t i = 0; manual_commands[i].word; i++) {
		if (strcmp(manual_commands[i].word, word) != 0)
			continue;
		buf_addf(out, "%s\n%s.\n\n", manual_commands[i].synopsis, manual_commands[i].help);
		options_help(out, manual_commands[i].bits);
		return;
	}
	if (strcmp(word, "catalogue") == 0) {
		catalogue_help(out);
		buf_addc(out, '\n');
		options_help(out, COMMAND_QUERY);
		return;
	}
	if (!route) {
		help_of_all(out);
		return;
	}
	buf_addf(out, "rightsize-exporter %s [OPTION...]\n%s.\n\n", route->command, route->help);
	query_help(out, route);
	options_help(out, COMMAND_QUERY);
}

static void version_text(struct buf *out)
{
	buf_addf(out, "rightsize-exporter, version %s (branch: %s, revision: %s)\n",
		version.version, version.branch, version.revision);
	buf_addf(out, "  compiler:         %s\n  platform:         %s/%s\n", version.compiler,
		version.os, version.arch);
}

static void metrics_of(struct buf *out, const struct metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct metric *m = &metrics[i];
		const struct metric_words *words = &metric_words[m->type];

		buf_addf(out, "| `%s%s` | %s | ", m->name, words->suffix, words->openmetrics);
		for (size_t k = 0; k < METRIC_LABELS_MAX && m->labels[k]; k++)
			buf_addf(out, "%s%s", k ? ", " : "", m->labels[k]);
		buf_addf(out, " | %s |\n", m->help);
	}
}

static void metrics_markdown(struct buf *out)
{
	buf_adds(out, "| metric | type | labels | what it is |\n|---|---|---|---|\n");
	for (size_t i = 0; all_collectors[i]; i++)
		metrics_of(out, all_collectors[i]->metrics, all_collectors[i]->n_metrics);
	for (size_t i = 0; own_collectors[i]; i++)
		metrics_of(out, own_collectors[i]->metrics, own_collectors[i]->n_metrics);
	metrics_of(out, health_metrics, HEALTH_N_METRICS);
}

static void route_markdown(struct buf *out, const char *method, const struct route *r)
{
	buf_addf(out, "| `%s%s` | | %s |\n", method, r->path, r->help);
	for (const struct parameter *p = r->parameters; p && p->name; p++)
		buf_addf(out, "| | `%s%s%s` | %s |\n", p->name, p->fallback ? "=" : "",
			p->fallback ? p->fallback : "", p->help);
}

static void routes_markdown(struct buf *out)
{
	buf_adds(out, "| route | parameter | what it does |\n|---|---|---|\n");
	for (size_t i = 0; all_routes[i]; i++)
		route_markdown(out, "", all_routes[i]);
	for (size_t i = 0; all_changes[i]; i++)
		route_markdown(out, "POST ", all_changes[i]);
}

static void strategies_markdown(struct buf *out)
{
	buf_adds(out, "| strategy | formula, source, parameters |\n|---|---|\n");
	for (const struct strategy *s = strategies; s->name; s++)
		buf_addf(out, "| `%s` | %s |\n", s->name, s->help);
}

static void formats_markdown(struct buf *out)
{
	buf_adds(out, "| format | content type | what it is |\n|---|---|---|\n");
	for (const struct advice_format *f = advice_formats; f->name; f++)
		buf_addf(out, "| `%s` | %s | %s |\n", f->name, f->content_type, f->help);
}

static const struct {
	const char *word;
	void (*print)(struct buf *out);
} tables[] = {
	{"metrics", metrics_markdown},
	{"options", options_markdown},
	{"routes", routes_markdown},
	{"columns", fields_markdown},
	{"strategies", strategies_markdown},
	{"formats", formats_markdown},
	{"man", manual_man},
	{"bash", manual_bash},
};

static int print_table(struct buf *out, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (strcmp(word, tables[i].word) == 0) {
			tables[i].print(out);
			return EXIT_SUCCESS;
		}
	fputs("rightsize-exporter manual: accepted is", stderr);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		fprintf(stderr, "%s %s", i ? "," : "", tables[i].word);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

int manual_main(int argc, char **argv)
{
	struct buf out = BUF_MAX(MANUAL_MAX);
	int code = EXIT_SUCCESS;

	if (strcmp(argv[1], "manual") == 0)
		code = print_table(&out, argc > 2 ? argv[2] : "");
	else if (strcmp(argv[1], "--version") == 0)
		version_text(&out);
	else
		help_of_word(&out, argv[1]);
	fputs(buf_text(&out), stdout);
	buf_done(&out);
	return code;
}
