#include "exporter/cli/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "exporter/api/route.h"
#include "exporter/cli/help.h"
#include "exporter/cli/query.h"
#include "exporter/options/options.h"
#include "exporter/sampling/enabled_collectors.h"

#define PROGRAM  "rightsize-exporter"
#define FLAG_MAX 128

/* Returns true when `text` needs no quotes in a script. */
static bool is_word(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text))
			return false;
	return true;
}

static void add_word(struct buf *out, const char *word)
{
	buf_addf(out, "%s%s", out->len ? " " : "", word);
}

static void add_commands(struct buf *words)
{
	for (size_t i = 0; help_command_word(i); i++)
		add_word(words, help_command_word(i));
}

/* Adds the words that may follow a command: "update" follows "catalogue". */
static void add_followers(struct buf *words, const char *command)
{
	const struct help_command *c = help_command_find(command);

	for (size_t i = 0; c && c->follower && c->follower(i); i++)
		add_word(words, c->follower(i));
}

/* Adds the words that the flag or parameter `name` of a route's command accepts. */
static void add_values(struct buf *words, const struct route *r, const char *name)
{
	const char *word;

	for (size_t k = 0; (word = query_flag_word(r, name, k)); k++)
		if (is_word(word))
			add_word(words, word);
}

/* A flag that the shell offers. For a switch that is on by default, it is --no-NAME. */
struct offered {
	char name[FLAG_MAX]; /* without "--" */
	bool needs_value;
	const char *help;
	const char *(*choice)(size_t i); /* the i-th choice, NULL past the last; NULL = any value */
};

static struct offered switch_of(const char *prefix, const char *name, bool on, const char *help)
{
	struct offered ret = {.help = help};

	snprintf(ret.name, sizeof ret.name, "%s%s%s", on ? "no-" : "", prefix, name);
	return ret;
}

/* Fills `ret` with the `i`-th flag of the commands in `bits` (enum command_bits). Returns false
 * after the last one. */
static bool offered_at(unsigned bits, size_t i, struct offered *ret)
{
	struct option_view o;

	for (size_t k = 0; option_at(k, &o); k++) {
		if (!(o.commands & bits) || i-- > 0)
			continue;
		bool on = !o.placeholder && o.fallback && strcmp(o.fallback, "true") == 0;

		*ret = switch_of("", o.name, on, o.help);
		ret->needs_value = o.placeholder;
		ret->choice = o.choice;
		return true;
	}
	for (size_t k = 0; (bits & COMMAND_WATCH) && all_collectors[k]; k++)
		if (i-- == 0) {
			*ret = switch_of("collector.", all_collectors[k]->name,
				!all_collectors[k]->off_by_default, all_collectors[k]->help);
			return true;
		}
	return false;
}

/* ---- bash ---- */

static void bash_option_values(struct buf *out)
{
	struct option_view o;

	buf_adds(out, "\tcase $option in\n"
		      "\t--job-name|--job_name) names=$(_rightsize_exporter_jobs) value=1 ;;\n"
		      "\t--run) names=$(_rightsize_exporter_runs) value=1 ;;\n"
		      "\t--help) list=all ;;\n"
		      "\t-o|--output) files=-f ;;\n");
	for (size_t i = 0; option_at(i, &o); i++) {
		struct buf words AUTO(buf_done) = BUF_MAX(4096);
		bool file = o.placeholder && strcmp(o.placeholder, "FILE") == 0;
		bool directory = o.placeholder && strcmp(o.placeholder, "DIRECTORY") == 0;

		for (size_t k = 0; o.choice && o.choice(k); k++)
			add_word(&words, o.choice(k));
		if (o.choice)
			buf_addf(out, "\t--%s) list='%s' ;;\n", o.name, buf_text(&words));
		else if (file || directory)
			buf_addf(out, "\t--%s) files=-%c ;;\n", o.name, file ? 'f' : 'd');
	}
	buf_adds(out, "\tesac\n");
}

static void bash_value(struct buf *out, const struct route *r, const char *name)
{
	struct buf words AUTO(buf_done) = BUF_MAX(4096);

	add_values(&words, r, name);
	if (words.len)
		buf_addf(out, "\t%s:%s) list='%s' ;;\n", r->command,
			route_parameter_flag(name).text, buf_text(&words));
}

static void bash_values(struct buf *out)
{
	struct query_flag f;

	bash_option_values(out);
	buf_adds(out, "\tcase $command:$option in\n");
	for (size_t i = 0; all_routes[i]; i++) {
		const struct route *r = all_routes[i];

		if (!r->command)
			continue;
		for (const struct parameter *p = r->parameters; p->name; p++)
			bash_value(out, r, p->name);
		for (size_t k = 0; query_flag_at(r, k, &f); k++)
			if (!route_parameter_find(r->parameters, f.name))
				bash_value(out, r, f.name);
	}
	buf_adds(out, "\tesac\n");
}

static void bash_options(struct buf *words, unsigned bits)
{
	struct offered o;

	for (size_t i = 0; offered_at(bits, i, &o); i++)
		buf_addf(words, " --%s%s", o.name, o.needs_value ? "=" : "");
}

/* Writes what may follow a command: its words, its flags and its options. */
static void bash_command(struct buf *out, const char *command, unsigned bits)
{
	const struct route *r = query_route(command);
	struct buf words AUTO(buf_done) = BUF_MAX(65536);
	struct query_flag f;

	add_word(&words, "--help");
	for (const struct parameter *p = r ? r->parameters : NULL; p && p->name; p++)
		buf_addf(&words, " %s%s", route_parameter_flag(p->name).text,
			p->kind == PARAMETER_FLAG ? "" : "=");
	for (size_t i = 0; r && query_flag_at(r, i, &f); i++)
		if (!route_parameter_find(r->parameters, f.name))
			buf_addf(&words, " --%s%s", f.name, f.needs_value ? "=" : "");
	bash_options(&words, bits);
	buf_addf(out, "\t%s) list='%s", command, buf_text(&words));
	buf_reset(&words);
	add_followers(&words, command);
	buf_addf(out, "%s%s' ;;\n", words.len ? " " : "", buf_text(&words));
}

static void bash_words(struct buf *out)
{
	struct buf words AUTO(buf_done) = BUF_MAX(65536);

	buf_adds(out, "\tcase $command in\n");
	for (const struct help_command *c = help_commands; c->word; c++)
		bash_command(out, c->word, c->bits);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			bash_command(out, all_routes[i]->command, COMMAND_QUERY);
	add_commands(&words);
	bash_options(&words, COMMAND_SERVE);
	buf_addf(out, "\t*) list='--help --version %s' ;;\n\tesac\n", buf_text(&words));
}

/* compgen -W would execute $(...) in its words, so names from the history are passed in another
 * way. Each offered word ends with its own space, because zsh has no compopt to add it. */
static const char bash_begin[] =
	"# Names come from outside, so they are quoted and never expanded. bash would split the word at\n"
	"# \":\" and \"=\".\n"
	"_rightsize_exporter_quote() {\n"
	"\tprintf -v quoted %q \"$1\"\n"
	"\tquoted=${quoted//:/\\\\:} quoted=${quoted//=/\\\\=}\n"
	"}\n"
	"# Each line is a name, which may have blanks.\n"
	"_rightsize_exporter_names() {\n"
	"\tlocal name\n"
	"\tcompopt +o nospace -o filenames 2>/dev/null\n"
	"\tcur=${cur#[\\\"\\']}\n"
	"\twhile IFS= read -r name; do\n"
	"\t\t[[ -n $name && $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\")\n"
	"\tdone <<<\"$(compgen \"$@\" -- \"$cur\")\"\n"
	"}\n"
	"_rightsize_exporter() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command=${COMP_WORDS[1]} list= names= files= value= prefix= word quoted i\n"
	"\tCOMPREPLY=()\n"
	"\tIFS= read cur <<<\"$cur\" # takes the backslashes out\n"
	"\t# What follows -- is a command of its own.\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	"\t\t\t_rightsize_exporter_names -c -f\n"
	"\t\t\treturn\n\t\tfi\n\tdone\n"
	"\t# bash splits \"--name=value\" into three words, zsh does not.\n"
	"\tif [[ $cur == --*=* ]]; then\n"
	"\t\toption=${cur%%=*} cur=${cur#*=} value=1\n\t\tprefix=$option=\n"
	"\telif [ \"$cur\" = = ]; then\n\t\tcur= value=1\n"
	"\telif [ \"$option\" = = ]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD - 2]} value=1\n\tfi\n";

static const char bash_end[] = "\twhile IFS= read -r word; do\n"
			       "\t\t[[ -n $word && $word == \"$cur\"* ]] || continue\n"
			       "\t\t_rightsize_exporter_quote \"$word\"\n"
			       "\t\tCOMPREPLY+=(\"$prefix$quoted \")\n"
			       "\tdone <<<\"$names\"\n"
			       "\tfor word in $(printf '%s' \"$list\"); do\n"
			       "\t\t[[ $word == *= ]] || word=\"$word \"\n"
			       "\t\t[[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$prefix$word\")\n"
			       "\tdone\n"
			       "\treturn 0\n"
			       "}\n"
			       "complete -o nospace -F _rightsize_exporter " PROGRAM "\n";

/* Shell commands that print the names of jobs, and the ids of the runs of $job. Names that need
 * quotes in CSV are left out. Only 20 runs of each of the first 20 jobs are offered, because a
 * person waits. */
#define SHELL_JOBS                                                                                 \
	PROGRAM " jobs --format=csv 2>/dev/null | tail -n +2 | grep -v '^\"' | cut -d , -f 1"
#define SHELL_RUNS                                                                                 \
	PROGRAM " runs --job-name=\"$job\" --limit=20 --format=csv 2>/dev/null </dev/null | "      \
		"tail -n +2 | cut -d , -f 1"

void completion_bash(struct buf *out)
{
	buf_adds(out, "# bash completion for " PROGRAM ", printed by \"" PROGRAM " manual bash\".\n"
		      "_rightsize_exporter_jobs() {\n\t" SHELL_JOBS "\n}\n"
		      "_rightsize_exporter_runs() {\n\t_rightsize_exporter_jobs | head -n 20 | "
		      "while IFS= read -r job; do\n\t\t" SHELL_RUNS "\n\tdone\n}\n");
	buf_adds(out, bash_begin);
	bash_values(out);
	buf_adds(out, "\tif [ -n \"$files\" ] && [ -z \"$prefix\" ]; then\n"
		      "\t\t_rightsize_exporter_names $files\n\t\treturn\n"
		      "\telif [ -n \"$files\" ]; then\n"
		      "\t\tfor word in \"$cur\"*; do\n"
		      "\t\t\t[ -e \"$word\" ] || continue\n"
		      "\t\t\t_rightsize_exporter_quote \"$word\"\n"
		      "\t\t\tCOMPREPLY+=(\"$prefix$quoted\")\n"
		      "\t\tdone\n\t\treturn\n\tfi\n"
		      "\tif [ -z \"$value$list\" ]; then\n"
		      "\t((COMP_CWORD == 1)) && command=\n");
	bash_words(out);
	buf_adds(out, "\tfi\n");
	buf_adds(out, bash_end);
}

/* ---- zsh and fish ---- */

/* zsh uses the completions of bash (bashcompinit). It executes this script when a person presses
 * Tab for the first time, and the last line of the script answers that first completion. */
void completion_zsh(struct buf *out)
{
	buf_adds(out, "#compdef " PROGRAM "\n"
		      "autoload -U +X bashcompinit && bashcompinit\n");
	completion_bash(out);
	buf_adds(out, "[[ ${funcstack[1]-} == _" PROGRAM " ]] && "
		      "_bash_complete -o nospace -F _rightsize_exporter\n");
}

/* Appends a text in single quotes. */
static void add_fish_text(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
	buf_addc(out, '\'');
}

/* Appends the completion of a flag. `values`: the words that are its possible values; "" = any
 * value; NULL = the flag has no value. */
static void add_fish(struct buf *out, const char *command, const char *flag, const char *values,
	const char *help)
{
	buf_addf(out, "complete -c " PROGRAM " -n '__fish_seen_subcommand_from %s' -l %s%s",
		command, flag, values ? " -r" : "");
	if (values && *values)
		buf_addf(out, " -f -a '%s'", values);
	if (help) {
		buf_adds(out, " -d ");
		add_fish_text(out, help);
	}
	buf_addc(out, '\n');
}

/* Appends a command and the words that may follow it. */
static void fish_command(struct buf *out, const char *word, const char *help)
{
	struct buf words AUTO(buf_done) = BUF_MAX(4096);

	buf_addf(out, "complete -c " PROGRAM " -n __fish_use_subcommand -f -a %s -d ", word);
	add_fish_text(out, help);
	buf_addc(out, '\n');
	add_followers(&words, word);
	if (words.len)
		buf_addf(out,
			"complete -c " PROGRAM " -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
			word, buf_text(&words));
}

static void fish_options(struct buf *out, const char *command, unsigned bits)
{
	struct offered o;

	for (size_t i = 0; offered_at(bits, i, &o); i++) {
		struct buf words AUTO(buf_done) = BUF_MAX(4096);
		struct buf help AUTO(buf_done) = BUF_MAX(4096);

		for (size_t k = 0; o.choice && o.choice(k); k++)
			add_word(&words, o.choice(k));
		buf_addf(&help, "%s%s", strncmp(o.name, "no-", 3) == 0 ? "Switches off: " : "",
			o.help);
		add_fish(out, command, o.name, o.needs_value ? buf_text(&words) : NULL,
			buf_text(&help));
	}
}

static void fish_query(struct buf *out, const struct route *r)
{
	struct query_flag f;

	fish_command(out, r->command, r->help);
	for (const struct parameter *p = r->parameters; p->name; p++) {
		struct buf words AUTO(buf_done) = BUF_MAX(4096);

		add_values(&words, r, p->name);
		add_fish(out, r->command, route_parameter_flag(p->name).text + 2,
			p->kind == PARAMETER_FLAG ? NULL : buf_text(&words), p->help);
	}
	for (size_t i = 0; query_flag_at(r, i, &f); i++) {
		struct buf words AUTO(buf_done) = BUF_MAX(4096);

		if (route_parameter_find(r->parameters, f.name))
			continue;
		add_values(&words, r, f.name);
		add_fish(out, r->command, f.name, f.needs_value ? buf_text(&words) : NULL, NULL);
	}
	fish_options(out, r->command, COMMAND_QUERY);
}

/* The same command as SHELL_JOBS, written without single quotes. */
#define FISH_JOBS                                                                                  \
	PROGRAM " jobs --format=csv 2>/dev/null | tail -n +2 | grep -v \"^[\\\"]\" | cut -d , -f 1"

void completion_fish(struct buf *out)
{
	buf_adds(out,
		"# fish completion for " PROGRAM ", printed by \"" PROGRAM " manual fish\".\n");
	for (const struct help_command *c = help_commands; c->word; c++) {
		fish_command(out, c->word, c->help);
		fish_options(out, c->word, c->bits);
	}
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			fish_query(out, all_routes[i]);
	buf_adds(out,
		"complete -c " PROGRAM " -l help -f -a all -d 'Shows the usual options, or all'\n"
		"complete -c " PROGRAM " -l job-name -x -a '(" FISH_JOBS ")'\n"
		"complete -c " PROGRAM " -l run -x -a '(for job in (" FISH_JOBS
		" | head -n 20); " SHELL_RUNS "; end)'\n");
}
