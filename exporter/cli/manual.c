#include "exporter/cli/manual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/units.h"
#include "collectors/collector.h"
#include "exporter/sampling/enabled_collectors.h"
#include "exporter/cli/completion.h"
#include "exporter/site/exposition.h"
#include "exporter/site/site.h"
#include "exporter/options/options.h"
#include "exporter/cli/help.h"
#include "exporter/cli/usage.h"
#include "exporter/api/route.h"
#include "exporter/core/json_key.h"
#include "exporter/core/version.h"
#include "recommender/catalogue/fields.h"
#include "recommender/advice/advice.h"
#include "recommender/sizing/sizing.h"

#define PROGRAM    "rightsize-exporter"
#define MANUAL_MAX (1u << 20)

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
		const struct exposition_words *words = &exposition_words[m->type];

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
	for (size_t i = 0; enabled_collectors_own[i]; i++)
		metrics_of(out, enabled_collectors_own[i]->metrics,
			enabled_collectors_own[i]->n_metrics);
	metrics_of(out, exposition_health, HEALTH_N_METRICS);
}

/* Adds a row for each key of a body. `parent` is the path of the object with these keys, such as
 * "requested."; "" = the body itself. */
static void body_markdown(struct buf *out, const struct json_key *keys, const char *parent)
{
	for (const struct json_key *k = keys; k->name; k++) {
		struct buf path AUTO(buf_done) = BUF_MAX(256);

		buf_addf(&path, "%s%s", parent, k->name);
		buf_addf(out, "| | body: `%s`%s | %s", buf_text(&path),
			k->required && strcmp(k->name, KEY_ANY) != 0 ? ", required" : "", k->help);
		if (k->kind != KEY_UNREAD) {
			buf_adds(out, ": ");
			json_key_accepts(k, out);
		}
		buf_adds(out, " |\n");
		buf_addc(&path, '.');
		if (k->members)
			body_markdown(out, k->members, buf_text(&path));
	}
}

static void route_markdown(struct buf *out, const char *method, const struct route *r)
{
	buf_addf(out, "| `%s%s` | | %s |\n", method, r->path, r->help);
	for (const struct parameter *p = r->parameters; p && p->name; p++)
		buf_addf(out, "| | `%s%s%s` | %s |\n", p->name, p->fallback ? "=" : "",
			p->fallback ? p->fallback : "", p->help);
	if (r->body)
		body_markdown(out, r->body, "");
	else if (*method)
		buf_adds(out, "| | no body | |\n");
}

static void routes_markdown(struct buf *out)
{
	buf_adds(out, "| route | parameter | what it does |\n|---|---|---|\n");
	for (size_t i = 0; all_routes[i]; i++)
		route_markdown(out, "", all_routes[i]);
	for (size_t i = 0; all_changes[i]; i++)
		route_markdown(out, "POST ", all_changes[i]);
}

static void openapi_json(struct buf *out)
{
	json_t *document = site_description("/metrics");

	json_write(out, document);
	json_decref(document);
}

static void strategies_markdown(struct buf *out)
{
	buf_adds(out, "| strategy | formula, source, parameters |\n|---|---|\n");
	for (const struct strategy *s = strategies; s->name; s++)
		buf_addf(out, "| `%s` | %s |\n", s->name, s->help);
}

/* The recommendation that the examples of the formats show. */
static const struct sizing example_job = {
	.demand = {2.25, 3500 * MIB, 0, 0, 30 * 1024 * MIB, 1200},
	.resources = {3, 3500, 0, 0},
	.cpu_cores_limit = 4,
	.memory_bytes_limit = 4200 * MIB,
	.gpu_usage = NAN,
	.duration_bound = 2700,
	.memory_at_risk = {3500 * MIB, 3300 * MIB, 3900 * MIB},
	.memory_attempts = {3500 * MIB, 5000 * MIB, 8000 * MIB, 14000 * MIB},
};

static void format_examples(struct buf *out)
{
	static const struct advice_target target = {.job_name = "rnaseq/STAR_ALIGN"};

	buf_adds(out,
		"\nThe same job in each format. It needs 2.25 CPUs, 3500 MiB and 30 GiB of disk, "
		"and nine of ten runs end within 45 minutes.\n");
	for (const struct advice_format *f = advice_formats; f->name; f++) {
		if (!f->layout)
			continue;
		buf_addf(out, "\n`%s`\n\n```text\n", f->name);
		advice_write(out, f, &target, &example_job, NULL);
		buf_adds(out, "```\n");
	}
}

static void formats_markdown(struct buf *out)
{
	buf_adds(out, "| format | content type | what it is |\n|---|---|---|\n");
	for (const struct advice_format *f = advice_formats; f->name; f++)
		buf_addf(out, "| `%s` | %s | %s |\n", f->name, f->content_type, f->help);
	format_examples(out);
}

static void warnings_markdown(struct buf *out)
{
	buf_adds(out, "| warning | severity | tuning waits | given when |\n|---|---|---|---|\n");
	for (size_t i = 0; i < WARNING_CODES; i++) {
		const struct warning_row *w = &warning_rows[i];

		buf_addf(out, "| `%s` | %s | %s | %s |\n", w->code, severity_name(w->severity),
			w->unsafe ? "yes" : "no", w->help);
	}
}

/* ---- man page ---- */

/* Escapes `text` for roff. A line that starts with "." or "'" would be a roff request. */
static void add_roff(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_adds(out, "\\&");
	for (; *text; text++)
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *text);
}

static void add_section(struct buf *out, const char *name)
{
	buf_addf(out, ".SH %s\n", name);
}

/* Adds a tagged paragraph: "--name=VALUE", then `text` with a full stop. */
static void add_entry(struct buf *out, const char *tag, const char *value, const char *text)
{
	buf_adds(out, ".TP\n\\fB");
	add_roff(out, tag);
	buf_adds(out, "\\fR");
	if (value) {
		buf_adds(out, "=\\fI");
		add_roff(out, value);
		buf_adds(out, "\\fR");
	}
	buf_addc(out, '\n');
	add_roff(out, text);
	buf_adds(out, ".\n");
}

static void man_commands(struct buf *out)
{
	add_section(out, "COMMANDS");
	for (const struct help_command *c = help_commands; c->word; c++)
		add_entry(out, c->word, NULL, c->help);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			add_entry(out, all_routes[i]->command, NULL, all_routes[i]->help);
}

static void man_options(struct buf *out)
{
	static const struct {
		unsigned bit;
		const char *name;
	} commands[] = {{COMMAND_SERVE, "serve"}, {COMMAND_RUN, "run"}, {COMMAND_QUERY, "queries"},
		{COMMAND_RULES, "rules"}, {COMMAND_EXPORT, "export"}, {COMMAND_IMPORT, "import"}};
	struct option_view o;

	add_section(out, "OPTIONS");
	for (size_t i = 0; option_at(i, &o); i++) {
		struct buf text = BUF_MAX(4096);

		buf_adds(&text, o.help);
		if (o.fallback)
			buf_addf(&text, " (default: %s", o.fallback);
		for (size_t k = 0, n = 0; k < ARRAY_LEN(commands); k++)
			if ((o.commands & commands[k].bit) && o.commands != COMMAND_ALL &&
				o.commands != COMMAND_EVERY)
				buf_addf(&text, "%s%s",
					n++        ? ", " :
					o.fallback ? "; for " :
						     " (for ",
					commands[k].name);
		if (o.fallback || (o.commands != COMMAND_ALL && o.commands != COMMAND_EVERY))
			buf_addc(&text, ')');
		add_entry(out, route_parameter_flag(o.name).text, o.placeholder, buf_text(&text));
		buf_done(&text);
	}
	for (size_t i = 0; all_collectors[i]; i++) {
		char flag[128];

		snprintf(flag, sizeof flag, "--%scollector.%s",
			all_collectors[i]->off_by_default ? "" : "no-", all_collectors[i]->name);
		add_entry(out, flag, NULL, all_collectors[i]->help);
	}
}

static void man_parameters(struct buf *out)
{
	add_section(out, "PARAMETERS OF QUERIES");
	for (size_t i = 0; all_routes[i]; i++) {
		if (!all_routes[i]->command)
			continue;
		buf_addf(out, ".SS %s\n", all_routes[i]->command);
		add_roff(out, all_routes[i]->help);
		buf_adds(out, ".\n");
		for (const struct parameter *p = all_routes[i]->parameters; p->name; p++)
			add_entry(out, route_parameter_flag(p->name).text, "VALUE", p->help);
	}
}

void manual_man(struct buf *out)
{
	buf_addf(out, ".TH RIGHTSIZE\\-EXPORTER 1 \"\" \"" PROGRAM " %s\" \"User Commands\"\n",
		version.version);
	add_section(out, "NAME");
	buf_adds(out, "rightsize\\-exporter \\- watch batch jobs, and say what to request for them "
		      "next time\n");
	add_section(out, "SYNOPSIS");
	for (const struct help_command *c = help_commands; c->word; c++) {
		add_roff(out, c->synopsis);
		buf_adds(out, "\n.br\n");
	}
	buf_adds(out, "rightsize\\-exporter QUERY [OPTION...]\n");
	add_section(out, "DESCRIPTION");
	buf_adds(out, "Watches a job's process tree and its machine, keeps the history of its "
		      "runs, serves metrics for Prometheus, and\nanswers what to ask for next "
		      "time, on which server, and what it will cost.\n");
	man_commands(out);
	man_options(out);
	man_parameters(out);
	add_section(out, "EXAMPLES");
	for (const struct help_example *x = help_examples; x->word; x++)
		add_entry(out, x->line, NULL, x->what);
	add_section(out, "ENVIRONMENT");
	buf_adds(out, "Each option can be given as a variable: \\-\\-sample.interval as "
		      "RIGHTSIZE_SAMPLE_INTERVAL, \\-\\-no\\-collector.network as "
		      "RIGHTSIZE_COLLECTOR_NETWORK=false. A flag wins.\n");
	add_section(out, "FILES");
	add_entry(out, "/etc/default/rightsize-exporter", NULL, "Variables for the service");
	add_entry(out, "/var/lib/rightsize-exporter/history.db", NULL,
		"The history of the service and of root, an SQLite file");
	add_section(out, "EXIT STATUS");
	buf_adds(out, "0 when it worked, 1 when it did not, 2 for a wrong command line; that of "
		      "the command for \\fBrun\\fR.\n");
	add_section(out, "SEE ALSO");
	buf_adds(out, "\\fBrightsize\\-exporter\\-routes\\fR(7)\n");
}

/* ---- man page of the routes ---- */

/* Adds an entry for each key of a body or an answer. `parent` is the path of the object with these
 * keys, such as "requested."; "" = the whole document. `of_body`: true = also write which values a
 * key accepts. */
static void man_keys(struct buf *out, const struct json_key *keys, const char *parent, bool of_body)
{
	for (const struct json_key *k = keys; k->name; k++) {
		struct buf path AUTO(buf_done) = BUF_MAX(256);
		struct buf text AUTO(buf_done) = BUF_MAX(4096);

		buf_addf(&path, "%s%s", parent, k->name);
		buf_adds(&text, k->help);
		if (of_body && k->kind != KEY_UNREAD) {
			buf_adds(&text, ": ");
			json_key_accepts(k, &text);
		}
		if (of_body && k->required && strcmp(k->name, KEY_ANY) != 0)
			buf_adds(&text, "; required");
		add_entry(out, buf_text(&path), NULL, buf_text(&text));
		buf_addc(&path, '.');
		if (k->members)
			man_keys(out, k->members, buf_text(&path), of_body);
	}
}

static void man_route_parameters(struct buf *out, const struct parameter *parameters)
{
	if (!parameters || !parameters->name)
		return;
	buf_adds(out, ".PP\nParameters:\n");
	for (const struct parameter *p = parameters; p->name; p++) {
		struct buf text AUTO(buf_done) = BUF_MAX(4096);

		buf_addf(&text, "%s: ", p->help);
		route_parameter_accepts(p, &text);
		if (p->required)
			buf_adds(&text, "; required");
		if (p->repeats)
			buf_adds(&text, "; may be given several times");
		if (p->fallback)
			buf_addf(&text, " (default: %s)", p->fallback);
		add_entry(out, p->name, "VALUE", buf_text(&text));
	}
}

static void man_route(struct buf *out, const char *method, const struct route *r)
{
	buf_addf(out, ".SS %s ", method);
	add_roff(out, r->path);
	buf_addc(out, '\n');
	add_roff(out, r->help);
	buf_adds(out, ".\n");
	man_route_parameters(out, r->parameters);
	if (r->body) {
		buf_adds(out, ".PP\nKeys of the body:\n");
		man_keys(out, r->body, "", true);
	}
	if (r->gives) {
		buf_adds(out, ".PP\nKeys of the answer:\n");
		man_keys(out, r->gives, "", false);
	}
	if (r->errors && r->errors->code) {
		buf_adds(out, ".PP\nErrors:");
		for (const struct route_error *e = r->errors; e->code; e++)
			buf_addf(out, "%s %d %s", e == r->errors ? "" : ",", e->status, e->code);
		buf_adds(out, ".\n");
	}
}

void manual_man_routes(struct buf *out)
{
	buf_addf(out,
		".TH RIGHTSIZE\\-EXPORTER\\-ROUTES 7 \"\" \"" PROGRAM " %s\" \"HTTP Routes\"\n",
		version.version);
	add_section(out, "NAME");
	buf_adds(out,
		"rightsize\\-exporter\\-routes \\- what a running exporter answers over HTTP\n");
	add_section(out, "DESCRIPTION");
	buf_adds(out,
		"An exporter answers on 127.0.0.1:9877, unless \\-\\-web.listen\\-address says "
		"otherwise. Answers are JSON where keys\nof an answer are named. An error has "
		"the keys error.code and error.message; programs can rely on the code.\n"
		"/openapi.json describes the same for programs, and /manual/answers shows a real "
		"answer of each route.\n");
	add_section(out, "QUERIES");
	for (size_t i = 0; all_routes[i]; i++)
		man_route(out, "GET", all_routes[i]);
	add_section(out, "CHANGES");
	buf_adds(out,
		"A change needs one of these: the Unix socket of \\-\\-web.unix\\-socket, the token of "
		"\\-\\-web.changes\\-token\\-file, a user\nof \\-\\-web.config.file, or "
		"\\-\\-web.allow\\-changes. The body is JSON of at most 256 KiB, with Content\\-Type: "
		"application/json.\n");
	for (size_t i = 0; all_changes[i]; i++)
		man_route(out, "POST", all_changes[i]);
	add_section(out, "EXAMPLES");
	add_entry(out, "curl 'http://127.0.0.1:9877/recommend?job_name=etl/load'", NULL,
		"The next request of a job");
	add_entry(out,
		"curl --unix-socket /run/rightsize.sock -H 'Content-Type: application/json' "
		"http://localhost/jobs -d '{\"pid\": 4711, \"job_name\": \"etl/load\"}'",
		NULL, "Announces process 4711 as a run of the job etl/load");
	add_section(out, "SEE ALSO");
	buf_adds(out, "\\fBrightsize\\-exporter\\fR(1)\n");
}

#define MANUAL_TABLE_ROW(word, print) {word, print},
static const struct {
	const char *word;
	void (*print)(struct buf *out);
} tables[] = {MANUAL_TABLES(MANUAL_TABLE_ROW)};

bool manual_wanted(int argc, char **argv)
{
	const struct help_command *c = argc > 1 ? help_command_find(argv[1]) : NULL;

	if (c && !c->bits)
		return true;
	/* After "run" comes the job's command, which may have a --help of its own. Only
	 * options_read knows where it begins. */
	if (c && c->bits == COMMAND_RUN)
		return false;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (option_question(argv[i]) != ASKS_NOTHING)
			return true;
	return false;
}

#define OTHERS_MAX 2

/* The parsed command line: its first word, and whether it contains flags such as --help. */
struct asked {
	/* `other`: the first arguments after `word` that are not such flags */
	const char *word, *other[OTHERS_MAX];
	bool help, all, version;
};

static struct asked asked_for(int argc, char **argv)
{
	struct asked ret = {.word = argv[1]};
	size_t n = 0;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		enum flag_question asks = option_question(argv[i]);

		if (asks == ASKS_NOTHING && i > 1 && n < OTHERS_MAX)
			ret.other[n++] = argv[i];
		ret.help = ret.help || asks == ASKS_HELP || asks == ASKS_ALL_HELP;
		ret.all = ret.all || asks == ASKS_ALL_HELP;
		ret.version = ret.version || asks == ASKS_VERSION;
	}
	ret.version = ret.version || strcmp(ret.word, "version") == 0;
	return ret;
}

static int print_page(struct buf *out, const char *word, const struct help_command *manual)
{
	for (size_t i = 0; word && i < ARRAY_LEN(tables); i++)
		if (strcmp(word, tables[i].word) == 0) {
			tables[i].print(out);
			return EXIT_SUCCESS;
		}
	return usage_word(manual->word, word, manual->follower);
}

static int print_help(struct buf *out, const char *word, bool all)
{
	return help_of_word(out, word, all) ? EXIT_SUCCESS : help_refuse_word(word);
}

/* Refuses the arguments of a command that has no options, except one word if the command has a
 * placeholder for it. */
static int refuse_others(const struct help_command *c, const struct asked *a)
{
	size_t takes = c->placeholder ? 1 : 0;
	const char *first = a->other[0], *wrong = a->other[takes];

	if (!wrong && first && *first == '-')
		wrong = first;
	return wrong ? usage_argument(c->word, wrong, NULL) : EXIT_SUCCESS;
}

static int print(struct buf *out, const struct asked *a)
{
	const struct help_command *c = help_command_find(a->word);
	bool bare = c && !c->bits;
	const char *other = a->other[0];
	int code = bare ? refuse_others(c, a) : EXIT_SUCCESS;

	if (code)
		return code;
	if (a->version && !a->help) {
		version_text(out);
		return EXIT_SUCCESS;
	}
	if (strcmp(a->word, "help") == 0) {
		/* "all" is the value of --help=all. */
		bool all = other && strcmp(other, "all") == 0;

		return print_help(out, other && !all ? other : "", all || a->all);
	}
	if (bare && !a->help)
		return print_page(out, other, c);
	return print_help(out, a->word, a->all);
}

int manual_main(int argc, char **argv)
{
	struct buf out = BUF_MAX(MANUAL_MAX);
	struct asked asked = asked_for(argc, argv);
	int code = print(&out, &asked);

	fputs(buf_text(&out), stdout);
	buf_done(&out);
	return code;
}
