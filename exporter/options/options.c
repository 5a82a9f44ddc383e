#include "exporter/options/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "collectors/collector.h"
#include "exporter/text/suggest.h"
#include "exporter/options/shapes.h"
#include "exporter/text/line_wrap.h"
#include "recommender/advice/advice.h"

#define PREFIX           "RIGHTSIZE_"
#define COLLECTOR_PREFIX "collector."
#define OPTION_NAME_MAX  64
#define VARIABLE_MAX     (OPTION_NAME_MAX + 16)
/* maximum number of bytes of a wrong value that an error message shows */
#define VALUE_SHOWN 80

enum option_kind {
	KIND_TEXT,
	KIND_TEXTS,
	KIND_FLAG,
	KIND_COUNT,
	KIND_DURATION,
	KIND_BYTES,
	KIND_CORES,
	KIND_CHOICE
};

#define CHOICES(name, ...)                                                                         \
	static const char *name(size_t i)                                                          \
	{                                                                                          \
		static const char *const words[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return i < ARRAY_LEN(words) ? words[i] : NULL;                                     \
	}

CHOICES(option_log_levels, "debug", "info", "warn", "error")
CHOICES(option_log_formats, "logfmt", "json")
CHOICES(option_import_sources, "runs", "sacct", "nextflow", "snakemake", "resource-tracker",
	"prometheus")
CHOICES(option_import_outcomes, "succeeded", "failed", "unknown")
CHOICES(option_server_allocations, "unknown", "ondemand", "spot")

/* The first format is json, which has no lines to paste. */
static const char *option_paste_formats(size_t i)
{
	return advice_formats[i + 1].name;
}

#define LEAST_TEXT(least)     0, NULL, least
#define LEAST_TEXTS(least)    0, NULL, least
#define LEAST_FLAG(least)     0, NULL, NULL
#define LEAST_COUNT(least)    least, NULL, NULL
#define LEAST_DURATION(least) least, NULL, NULL
#define LEAST_BYTES(least)    least, NULL, NULL
#define LEAST_CORES(least)    least, NULL, NULL
#define LEAST_CHOICE(least)   0, least, NULL

struct option_row {
	enum option_kind kind;
	size_t offset;
	const char *name, *fallback;
	double least;
	const char *(*choice)(size_t i);
	const struct text_shape *shape;
	double most;
	unsigned commands;
	const char *placeholder, *help;
};

#define OPTION_ROW(kind, field, name, fallback, least, most, commands, placeholder, help)          \
	{KIND_##kind, offsetof(struct options, field), name, fallback, LEAST_##kind(least), most,  \
		commands, placeholder, help},

static const struct option_row rows[] = {OPTIONS(OPTION_ROW)};

static const struct {
	const char *suffix;
	double factor;
} durations[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

static bool duration(const char *text, double *ret)
{
	struct scan s = SCAN(text, strlen(text));
	double v;

	if (!scan_double(&s, &v))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(durations); i++)
		if (strcmp(s.at, durations[i].suffix) == 0) {
			*ret = v * durations[i].factor;
			return true;
		}
	return false;
}

static int refuse(struct err *e, const struct option_row *row, const char *value)
{
	struct buf accepted = BUF_MAX(ERR_TEXT_MAX);
	char shown[VALUE_SHOWN];

	switch (row->kind) {
	case KIND_CHOICE:
		for (size_t i = 0; row->choice(i); i++)
			buf_addf(&accepted, "%s%s", i ? ", " : "", row->choice(i));
		break;
	case KIND_COUNT:
		buf_addf(&accepted, "a whole number from %.0f to %.0f", row->least, row->most);
		break;
	case KIND_DURATION:
		buf_addf(&accepted,
			"a duration such as 500ms, 30s, 15m, 36h or 90d, from %g to %g seconds",
			row->least, row->most);
		break;
	case KIND_BYTES:
		buf_addf(&accepted, "bytes such as " QUANTITY_BYTES_EXAMPLES ", from %.0f to %.0f",
			row->least, row->most);
		break;
	case KIND_CORES:
		buf_addf(&accepted,
			"a number of cores such as " QUANTITY_CORES_EXAMPLES ", from %g to %g",
			row->least, row->most);
		break;
	case KIND_FLAG:
		buf_adds(&accepted, "true or false");
		break;
	case KIND_TEXT:
	case KIND_TEXTS:
		buf_adds(&accepted, row->shape ? row->shape->accepted : "a text that is not empty");
		break;
	}
	if (row->shape && row->shape->may_hold_secret && strchr(value, '@'))
		value = "...";
	utf8_clean_plain(value, strlen(value), '?', shown, sizeof shown);
	err_set(e, -EINVAL, "--%s=%s: accepted is %s", row->name, shown, buf_text(&accepted));
	buf_done(&accepted);
	return -EINVAL;
}

static bool read_number(const struct option_row *row, const char *value, double *ret)
{
	struct slice text = {value, strlen(value)};
	struct scan s = scan_slice(text);
	uint64_t whole;

	if (row->kind == KIND_DURATION)
		return duration(value, ret);
	if (row->kind == KIND_CORES)
		return quantity_cores(text, ret);
	if (row->kind == KIND_BYTES)
		return quantity_bytes(text, QUANTITY_OF_PEOPLE, 0, ret);
	if (!scan_u64(&s, &whole) || !scan_end(&s))
		return false;
	*ret = (double)whole;
	return true;
}

static bool set_number(void *field, const struct option_row *row, const char *value)
{
	double v;

	if (!read_number(row, value, &v) || !(v >= row->least && v <= row->most))
		return false;
	if (row->kind == KIND_DURATION || row->kind == KIND_CORES)
		*(double *)field = v;
	else
		*(uint64_t *)field = (uint64_t)v;
	return true;
}

static bool set_flag(bool *field, const char *value)
{
	bool on = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
	bool ok = on || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;

	if (ok)
		*field = on;
	return ok;
}

static bool set_choice(const char **field, const char *(*choice)(size_t i), const char *value)
{
	for (size_t i = 0; choice(i); i++)
		if (strcmp(choice(i), value) == 0) {
			*field = choice(i);
			return true;
		}
	return false;
}

/* Returns the array of a list without the const. This is correct, because this file allocated the
 * array. */
static const char **texts_of(const struct text_list *list)
{
	return (const char **)(uintptr_t)list->text;
}

/* Sets an option. If the value is wrong, leaves the option unchanged and returns an error. */
static int set_option(struct options *o, const struct option_row *row, const char *value,
	struct err *e)
{
	void *field = (char *)o + row->offset;

	/* An empty value of --input-bytes means an empty input. */
	if (value[0] == '\0' && row->kind == KIND_BYTES && row->least <= 0)
		value = "0";
	bool ok = value[0] != '\0' && (!row->shape || row->shape->fits(value));

	if (!ok)
		return refuse(e, row, value);
	switch (row->kind) {
	case KIND_TEXT:
		*(const char **)field = value;
		break;
	case KIND_TEXTS: {
		struct text_list *list = field;
		const char **text = xreallocarray(texts_of(list), list->n + 1, sizeof *text);

		text[list->n++] = value;
		list->text = text;
		break;
	}
	case KIND_FLAG:
		ok = set_flag(field, value);
		break;
	case KIND_COUNT:
	case KIND_DURATION:
	case KIND_BYTES:
	case KIND_CORES:
		ok = set_number(field, row, value);
		break;
	case KIND_CHOICE:
		ok = set_choice(field, row->choice, value);
		break;
	}
	if (!ok)
		return refuse(e, row, value);
	o->text[row - rows] = value;
	return 0;
}

/* Sets an option from a flag. The first flag of a repeatable option removes the values that the
 * environment gave. */
static int set_by_flag(struct options *o, const struct option_row *row, const char *value,
	struct err *e)
{
	struct text_list *list = (void *)((char *)o + row->offset);
	bool replaces = row->kind == KIND_TEXTS && !o->by_flag[row - rows];
	size_t n = replaces ? list->n : 0;

	if (replaces)
		list->n = 0;
	int code = set_option(o, row, value, e);

	if (code && replaces)
		list->n = n;
	if (code == 0)
		o->given[row - rows] = o->by_flag[row - rows] = true;
	return code;
}

/* ---- wrong options ---- */

static void ignore(struct options *o, const char *why)
{
	o->ignored = xreallocarray(o->ignored, o->n_ignored + 1, sizeof *o->ignored);
	o->ignored[o->n_ignored++] = xstrdup(why);
}

/* Handles a wrong option; `why` is the error. The command "run" ignores the option, because the job
 * must run in any case. For any other command, `why` is returned as the error. */
static int complain(struct options *o, enum command_bits command, const struct err *why,
	struct err *e)
{
	if (command == COMMAND_RUN) {
		ignore(o, why->text);
		return 0;
	}
	if (e)
		*e = *why;
	return why->code;
}

void options_ignore(struct options *o, enum option_id option, const struct err *why)
{
	ignore(o, why->text);
	set_option(o, &rows[option], rows[option].fallback, NULL);
}

/* ---- the environment ---- */

/* Writes the name of the variable for an option: "sample.interval" becomes
 * RIGHTSIZE_SAMPLE_INTERVAL. */
static void option_variable_name(const char *name, char out[VARIABLE_MAX])
{
	size_t n = strlen(PREFIX);

	text_copy(PREFIX, out, VARIABLE_MAX);
	for (; *name && n < VARIABLE_MAX - 1; name++)
		out[n++] =
			(char)(isalnum((unsigned char)*name) ? toupper((unsigned char)*name) : '_');
	out[n] = '\0';
}

/* Returns the value of an option's variable; NULL = the variable is unset or empty. */
static const char *from_environment(const char *name)
{
	char variable[VARIABLE_MAX];

	option_variable_name(name, variable);
	const char *value = getenv(variable);

	return value && value[0] ? value : NULL;
}

static int set_collectors(struct options *o, enum command_bits command, struct err *e)
{
	for (size_t i = 0; all_collectors[i]; i++) {
		char name[OPTION_NAME_MAX];
		struct err why = {0};

		snprintf(name, sizeof name, COLLECTOR_PREFIX "%s", all_collectors[i]->name);
		const char *given = from_environment(name);

		if (!given || set_flag(&o->collector_on[i], given))
			continue;
		err_set(&why, -EINVAL, "environment: --%s=%.64s: accepted is true or false", name,
			given);
		if (complain(o, command, &why, e))
			return why.code;
	}
	return 0;
}

static int set_defaults(struct options *o, enum command_bits command, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *given =
			rows[i].commands & command ? from_environment(rows[i].name) : NULL;
		struct err why = {0};

		o->given[i] = given && set_option(o, &rows[i], given, &why) == 0;
		if (!o->given[i] && rows[i].fallback)
			set_option(o, &rows[i], rows[i].fallback, NULL);
		if (!given || o->given[i])
			continue;
		err_wrap(&why, "environment");
		if (complain(o, command, &why, e))
			return why.code;
	}
	return command & COMMAND_WATCH ? set_collectors(o, command, e) : 0;
}

static const struct option_row *row_named(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

/* Applies --collector.X or --no-collector.X. */
static int set_collector(struct options *o, const char *name, bool on, struct err *e)
{
	struct buf names = BUF_MAX(180);

	for (size_t i = 0; all_collectors[i]; i++) {
		if (strcmp(all_collectors[i]->name, name) == 0) {
			o->collector_on[i] = on;
			buf_done(&names);
			return 0;
		}
		buf_addf(&names, "%s%s", i ? ", " : "", all_collectors[i]->name);
	}
	err_set(e, -EINVAL, "unknown collector %s; accepted are %s", name, buf_text(&names));
	buf_done(&names);
	return -EINVAL;
}

/* Sets the error for an unknown option. Returns -ENOENT, because -EINVAL means a wrong value. */
static int unknown_option(const char *flag, enum command_bits command, struct err *e)
{
	const char *names[ARRAY_LEN(rows)], *slip, *word;
	char name[64];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].commands & command)
			names[n++] = rows[i].name;
	word = flag + strspn(flag, "-");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	slip = suggest_slip(name, names, n);
	return slip ? err_set(e, -ENOENT, "unknown option %.100s: did you mean --%s?", flag, slip) :
		      err_set(e, -ENOENT, "unknown option %.100s; --help lists the options", flag);
}

/* A parsed argument of the form "--NAME", "--no-NAME" or "--NAME=VALUE". */
struct flag {
	/* the option; NULL = the flag switches a collector on or off */
	const struct option_row *row;
	const char *collector, *value;
	bool no;
};

/* Parses one argument. Returns false if it is an unknown option. */
static bool find_flag(struct flag *ret, enum command_bits command, const char *argument)
{
	const char *name = argument + 2, *equals = strchr(argument, '=');
	struct flag f = {.value = equals ? equals + 1 : NULL};

	if (strncmp(argument, "--", 2) != 0)
		return false;
	f.row = row_named(name, equals ? (size_t)(equals - name) : strlen(name));
	f.no = !f.row && !equals && strncmp(name, "no-", 3) == 0;
	name += f.no ? 3 : 0;
	if (f.no) {
		f.row = row_named(name, strlen(name));
		if (f.row && f.row->kind != KIND_FLAG)
			return false;
	}
	if (!f.row && !equals && (command & COMMAND_WATCH) &&
		strncmp(name, COLLECTOR_PREFIX, strlen(COLLECTOR_PREFIX)) == 0)
		f.collector = name + strlen(COLLECTOR_PREFIX);
	*ret = f;
	return f.collector || (f.row && f.row->commands & command);
}

/* Reads the flag at argv[*i] and moves `*i` to the last argument of the flag. */
static int read_flag(struct options *o, enum command_bits command, int argc, char **argv, int *i,
	struct err *e)
{
	struct flag f;

	if (!find_flag(&f, command, argv[*i]))
		return unknown_option(argv[*i], command, e);
	if (f.collector)
		return set_collector(o, f.collector, !f.no, e);
	if (f.row->kind == KIND_FLAG && !f.value)
		return set_by_flag(o, f.row, f.no ? "false" : "true", e);
	if (f.value)
		return set_by_flag(o, f.row, f.value, e);
	if (*i + 1 >= argc || strcmp(argv[*i + 1], "--") == 0)
		return err_set(e, -EINVAL, "--%s needs a value (%s)", f.row->name,
			f.row->placeholder);
	return set_by_flag(o, f.row, argv[++*i], e);
}

/* Call it when argv[i] is an unknown option. Returns true if argv[i + 1] must be its value and not
 * the job's command, because "--" or a known option follows it. */
static bool unknown_has_value(enum command_bits command, int argc, char **argv, int i)
{
	struct flag f;

	return i + 2 < argc && !strchr(argv[i], '=') && argv[i + 1][0] != '-' &&
	       (strcmp(argv[i + 2], "--") == 0 || find_flag(&f, command, argv[i + 2]));
}

static int begin_options(struct options *o, enum command_bits command, struct err *e)
{
	size_t n = 0;

	*o = (struct options){0};
	while (all_collectors[n])
		n++;
	o->collector_on = xcalloc(n + 1, sizeof *o->collector_on);
	for (size_t k = 0; k < n; k++)
		o->collector_on[k] = !all_collectors[k]->off_by_default;
	return set_defaults(o, command, e);
}

static int finish_options(struct options *o, char **rest, int n_rest, int code)
{
	o->rest = rest;
	o->n_rest = n_rest;
	if (code)
		options_done(o);
	return code;
}

enum flag_question option_question(const char *argument)
{
	static const struct {
		const char *flag;
		enum flag_question asks;
	} flags[] = {{"--help", ASKS_HELP}, {"-h", ASKS_HELP}, {HELP_ALL, ASKS_ALL_HELP},
		{"--version", ASKS_VERSION}, {"-V", ASKS_VERSION}};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (strcmp(flags[i].flag, argument) == 0)
			return flags[i].asks;
	return ASKS_NOTHING;
}

int options_read(struct options *ret, enum command_bits command, int argc, char **argv,
	struct err *e)
{
	int code = begin_options(ret, command, e), i = 0;
	struct err unknown = {0};
	bool ends = false;

	for (; code == 0 && i < argc && argv[i][0] == '-' && !ends; i++) {
		struct err why = {0};

		ends = strcmp(argv[i], "--") == 0;
		ret->help = command == COMMAND_RUN && option_question(argv[i]) != ASKS_NOTHING;
		if (ret->help)
			break;
		if (ends || read_flag(ret, command, argc, argv, &i, &why) == 0)
			continue;
		if (why.code == -ENOENT) {
			unknown = unknown.code ? unknown : why;
			i += command == COMMAND_RUN && unknown_has_value(command, argc, argv, i);
		}
		code = complain(ret, command, &why, e);
	}
	/* Without "--", the argument after an unknown option may be the value of this option or the
	 * job's command. Do not guess. */
	if (code == 0 && unknown.code && !ends && !ret->help)
		code = err_set(e, -EINVAL, "%s%s", unknown.text,
			"; write -- in front of the command");
	return finish_options(ret, argv + i, argc - i, code ? -EINVAL : 0);
}

void options_done(struct options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].kind == KIND_TEXTS)
			free(texts_of((void *)((char *)o + rows[i].offset)));
	for (size_t i = 0; i < o->n_ignored; i++)
		free(o->ignored[i]);
	free(o->ignored);
	free(o->collector_on);
	*o = (struct options){0};
}

bool option_at(size_t i, struct option_view *ret)
{
	if (i >= ARRAY_LEN(rows))
		return false;
	const struct option_row *r = &rows[i];

	*ret = (struct option_view){
		r->name, r->placeholder, r->fallback, r->help, r->choice, r->commands};
	return true;
}

static bool is_name(const char *a, const char *b)
{
	while (*a && (*a == *b || (*a == '_' && *b == '-'))) {
		a++;
		b++;
	}
	return *a == *b;
}

bool options_help_shows(const char *const *names, const char *name)
{
	bool shown = !names;

	for (size_t i = 0; names && names[i] && !shown; i++)
		shown = is_name(name, names[i]);
	return shown;
}

static void help_of_collectors(struct buf *out)
{
	buf_adds(out, "  --collector.NAME, --no-collector.NAME\n");
	line_wrap_add(out, "Switches a collector on or off:", 6);
	for (size_t i = 0; all_collectors[i]; i++) {
		struct buf line = BUF_MAX(1000);

		buf_addf(&line, "%s%s: %s", all_collectors[i]->name,
			all_collectors[i]->off_by_default ? " (off by default)" : "",
			all_collectors[i]->help);
		line_wrap_add(out, buf_text(&line), 8);
		buf_done(&line);
	}
}

size_t options_help(struct buf *out, enum command_bits command, const char *const *names)
{
	size_t left_out = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct option_row *r = &rows[i];

		if (!(r->commands & command))
			continue;
		if (!options_help_shows(names, r->name)) {
			left_out++;
			continue;
		}
		buf_addf(out, "  --%s%s%s", r->name, r->placeholder ? "=" : "",
			r->placeholder ? r->placeholder : "");
		if (r->fallback && r->kind != KIND_FLAG)
			buf_addf(out, "  (default %s)", r->fallback);
		buf_addc(out, '\n');
		line_wrap_add(out, r->help, 6);
	}
	if (!names && command & COMMAND_WATCH)
		help_of_collectors(out);
	return left_out;
}

void options_markdown(struct buf *out)
{
	static const struct {
		unsigned bit;
		const char *name;
	} commands[] = {{COMMAND_SERVE, "serve"}, {COMMAND_RUN, "run"}, {COMMAND_QUERY, "queries"},
		{COMMAND_RULES, "rules"}, {COMMAND_EXPORT, "export"}, {COMMAND_IMPORT, "import"}};

	buf_adds(out, "| option | default | for | what it does |\n|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct option_row *r = &rows[i];
		bool first = true;

		buf_addf(out, "| `--%s%s%s` | %s%s%s | ", r->name, r->placeholder ? "=" : "",
			r->placeholder ? r->placeholder : "", r->fallback ? "`" : "",
			r->fallback ? r->fallback : "", r->fallback ? "`" : "");
		for (size_t k = 0; k < ARRAY_LEN(commands); k++)
			if (r->commands & commands[k].bit) {
				buf_addf(out, "%s%s", first ? "" : ", ", commands[k].name);
				first = false;
			}
		buf_addf(out, " | %s |\n", r->help);
	}
}

/* ---- misspelled variables ---- */

struct variable {
	char name[VARIABLE_MAX];
	unsigned commands; /* enum command_bits of the commands that have the option */
};

struct variables {
	struct variable *variable;
	size_t n, room;
};

static void add_variable(struct variables *v, const char *name, unsigned commands)
{
	GROW(v->variable, v->n, v->room);
	option_variable_name(name, v->variable[v->n].name);
	v->variable[v->n++].commands = commands;
}

/* Returns the variables of all options and collectors, those that a job sets for itself, and those
 * of the Python package, which also starts exporters. */
static struct variables all_variables(void)
{
	static const char *const others[] = {"job_name", "run_id", "attempt", "input_bytes",
		"request_cpu", "request_memory", "url", "exporter", "quiet", "helper", "metaflow"};
	struct variables ret = {0};
	struct option_view option;

	for (size_t i = 0; option_at(i, &option); i++)
		add_variable(&ret, option.name, option.commands);
	for (size_t i = 0; all_collectors[i]; i++) {
		char name[OPTION_NAME_MAX];

		snprintf(name, sizeof name, COLLECTOR_PREFIX "%s", all_collectors[i]->name);
		add_variable(&ret, name, COMMAND_WATCH);
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		add_variable(&ret, others[i], 0);
	return ret;
}

static bool is_known(const struct variables *v, const char *name)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->variable[i].name, name) == 0)
			return true;
	return false;
}

void option_variables_check(enum command_bits command,
	void (*say)(const char *variable, const char *meant))
{
	const size_t prefix = strlen(PREFIX);
	struct variables all = all_variables();
	const char **names = xcalloc(all.n + 1, sizeof *names), *slip;
	char given[VARIABLE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.variable[i].commands & command)
			names[n++] = all.variable[i].name + prefix;
	for (char **entry = environ; *entry; entry++) {
		slice_copy((struct slice){*entry, strcspn(*entry, "=")}, given, sizeof given);
		if (strncmp(given, PREFIX, prefix) != 0 || is_known(&all, given))
			continue;
		slip = suggest_slip(given + prefix, names, n);
		if (slip)
			say(given, slip - prefix);
	}
	free(names);
	free(all.variable);
}
