#include "exporter/cli/query.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/answers/job_runs.h"
#include "exporter/cli/progress_line.h"
#include "exporter/cli/usage.h"
#include "exporter/options/options.h"
#include "exporter/terminal/output.h"
#include "exporter/terminal/show.h"
#include "exporter/text/user_file.h"
#include "exporter/text/line_wrap.h"

#define NAME_MAX_BYTES 128
#define HELP_MAX       4096
#define PROGRAM        "rightsize-exporter"
#define TOO_LARGE      "the answer is larger than 64 MiB: narrow the query"

#define BAD_REQUEST 400

enum { EXIT_OK, EXIT_NO_ANSWER };

const struct route *query_route(const char *command)
{
	for (const struct route *const *r = all_routes; *r; r++)
		if ((*r)->command && strcmp((*r)->command, command) == 0)
			return *r;
	return NULL;
}

/* Splits "--name" or "--name=value". `*value` is NULL when there is no "=". Returns false when the
 * argument is not a flag. */
static bool flag_parse(const char *argument, char name[NAME_MAX_BYTES], const char **value)
{
	if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
		return false;
	size_t len = strcspn(argument + 2, "=");

	if (len >= NAME_MAX_BYTES)
		return false;
	memcpy(name, argument + 2, len);
	name[len] = '\0';
	*value = argument[2 + len] == '=' ? argument + 2 + len + 1 : NULL;
	return true;
}

/* How a command writes the answer of its route: the values of the flags in output_flags. All other
 * flags of the command are parameters of the route. is_of_route tells which command has which
 * output flag. */
struct query_output {
	const char *file;   /* NULL = stdout */
	const char *format; /* value of --format; NULL = "text" on a terminal, else "json" */
	const char *colour; /* "auto", "always" or "never"; NULL = "auto" */
	/* value of --explain: "" = tables with the reasons; NULL = tables without them */
	const char *explain;
};

static const struct {
	const char *name;
	bool needs_value;
	size_t offset; /* offset of a text in struct query_output */
	/* true = the commands of all routes have this flag; false = only commands whose answer can
	 * be shown as tables (show.h) */
	bool of_any;
	/* the only command that has this flag; NULL = not restricted to one command */
	const char *command;
	const char *const *words;
	size_t n_words;
} output_flags[] = {
	{"output", true, offsetof(struct query_output, file), .of_any = true},
	{"format", true, offsetof(struct query_output, format), .words = output_name,
		.n_words = OUTPUTS},
	{"color", true, offsetof(struct query_output, colour), .words = screen_colour_name,
		.n_words = COLOURS},
	{"explain", false, offsetof(struct query_output, explain), .command = "recommend"},
};

/* Returns true if the route's command has this flag. */
static bool is_of_route(size_t flag, const struct route *route)
{
	const char *only = output_flags[flag].command;

	if (!show_find(route->command) && !output_flags[flag].of_any)
		return false;
	return !only || strcmp(only, route->command) == 0;
}

bool query_flag_at(const struct route *route, size_t i, struct query_flag *ret)
{
	for (size_t k = 0; k < ARRAY_LEN(output_flags); k++) {
		if (!is_of_route(k, route) || i-- > 0)
			continue;
		*ret = (struct query_flag){output_flags[k].name, output_flags[k].needs_value};
		return true;
	}
	return false;
}

/* Returns true if the answer of the route can be written in the format `output`. CSV is not
 * possible if the answer has no array, because there would be no rows. */
static bool can_be_written(const struct route *route, const char *output)
{
	return output != output_name[OUTPUT_CSV] || show_find(route->command)->list;
}

static bool is_choice(const struct parameter *p, const char *word)
{
	for (size_t i = 0; p && p->choice && p->choice(i); i++)
		if (strcasecmp(p->choice(i), word) == 0)
			return true;
	return false;
}

/* Returns the k-th word that the output flag `name`, such as --format, accepts for this route.
 * Returns NULL past the last. */
static const char *output_word(const struct route *route, const char *name, size_t k)
{
	for (size_t f = 0; f < ARRAY_LEN(output_flags); f++) {
		if (!is_of_route(f, route) || strcmp(output_flags[f].name, name) != 0)
			continue;
		for (size_t i = 0; i < output_flags[f].n_words; i++)
			if (can_be_written(route, output_flags[f].words[i]) && k-- == 0)
				return output_flags[f].words[i];
	}
	return NULL;
}

const char *query_flag_word(const struct route *route, const char *name, size_t k)
{
	const struct parameter *p = route_parameter_find(route->parameters, name);
	const char *word;
	size_t n = 0;

	for (; (word = output_word(route, name, n)); n++)
		if (n == k)
			return word;
	for (size_t i = 0; p && p->choice && (word = p->choice(i)); i++) {
		bool both = false;

		for (size_t m = 0; m < n && !both; m++)
			both = strcmp(output_word(route, name, m), word) == 0;
		if (!both && n + i == k)
			return word;
		k += both;
	}
	return NULL;
}

/* Returns the index of an argument such as "--color=never" or "-o" in output_flags. Returns
 * ARRAY_LEN(output_flags) if the argument is not in the table. `*value` is NULL when there is no
 * "=". */
static size_t output_flag(const char *argument, const char **value)
{
	char name[NAME_MAX_BYTES];
	size_t i = 0;

	*value = NULL;
	if (strcmp(argument, "-o") == 0)
		return 0;
	if (!flag_parse(argument, name, value))
		return ARRAY_LEN(output_flags);
	while (i < ARRAY_LEN(output_flags) && strcmp(output_flags[i].name, name) != 0)
		i++;
	return i;
}

/* Returns how many arguments at the start of `argv` belong to one parameter of the route, or to one
 * flag of output_flags: 1 = only argv[0]; 2 = also argv[1], its value; 0 = argv[0] is neither. */
static int parameter_length(const struct route *route, int argc, char **argv)
{
	char name[NAME_MAX_BYTES];
	const char *value;

	size_t i = output_flag(argv[0], &value);

	if (i < ARRAY_LEN(output_flags))
		return value || argc < 2 || !output_flags[i].needs_value ? 1 : 2;
	if (!flag_parse(argv[0], name, &value))
		return 0;
	const struct parameter *p = route_parameter_find(route->parameters, name);

	/* An unknown name with a dot is an option of the program. Any other unknown name is passed
	 * to the route, whose error message suggests the right name. */
	if (!p)
		return !strchr(name, '.');
	return value || p->kind == PARAMETER_FLAG || argc < 2 ? 1 : 2;
}

int query_split(const struct route *route, int argc, char **argv)
{
	int front = 0;

	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0;) {
		int n = parameter_length(route, argc - i, argv + i);

		for (int k = 0; k < n; k++) {
			char *moved = argv[i + k];

			memmove(argv + front + 1, argv + front,
				(size_t)(i + k - front) * sizeof *argv);
			argv[front++] = moved;
		}
		i += n ? n : 1;
	}
	return front;
}

static bool has_flag(const struct route *route, const char *name)
{
	struct query_flag f;

	for (size_t i = 0; query_flag_at(route, i, &f); i++)
		if (strcmp(f.name, name) == 0)
			return true;
	return false;
}

/* Appends the help of a flag of output_flags. If `names` does not contain it, increments
 * `*left_out` instead. */
static void help_of_flag(struct buf *out, const char *const *names, const char *name,
	const char *flag, const char *help, size_t *left_out)
{
	if (!options_help_shows(names, name)) {
		++*left_out;
		return;
	}
	buf_addf(out, "  %s\n", flag);
	line_wrap_add(out, help, 6);
}

static void help_of_output(struct buf *out, const struct route *route, const char *const *names,
	size_t *left_out)
{
	const struct shown *shown = show_find(route->command);

	if (shown && !route_parameter_find(route->parameters, "format"))
		help_of_flag(out, names, "format", "--format=FORMAT",
			shown->list ?
				"text: a table, the default on a terminal; json: the default "
				"elsewhere; yaml; csv: the list of the answer" :
				"text: the default on a terminal; json: the default elsewhere; "
				"yaml",
			left_out);
	if (shown)
		help_of_flag(out, names, "color", "--color=WHEN",
			"Colours of text: auto, always or never. NO_COLOR turns auto off",
			left_out);
	if (has_flag(route, "explain"))
		help_of_flag(out, names, "explain", "--explain",
			"Text with the reason of each number", left_out);
	help_of_flag(out, names, "output", "-o FILE, --output=FILE",
		"Write the answer to this file, whole or not at all, instead of to stdout",
		left_out);
}

/* Appends which values a parameter accepts. The route may have the parameter "format" while
 * output_flags has the flag --format. The values of both are then appended. */
static void add_accepted(struct buf *out, const struct route *route, const struct parameter *p)
{
	const char *word;

	if (!has_flag(route, p->name)) {
		route_parameter_accepts(p, out);
		return;
	}
	for (size_t i = 0; (word = query_flag_word(route, p->name, i)); i++)
		buf_addf(out, "%s%s",
			i == 0                                 ? "" :
			query_flag_word(route, p->name, i + 1) ? ", " :
								 " or ",
			word);
}

static void help_of_parameter(struct buf *out, const struct route *route, const struct parameter *p)
{
	struct buf help AUTO(buf_done) = BUF_MAX(HELP_MAX);
	bool is_output = has_flag(route, p->name);

	buf_addf(out, "  %s=VALUE", route_parameter_flag(p->name).text);
	if (p->required)
		buf_adds(out, "  (required)");
	if (is_output)
		buf_addf(out, "  (default text on a terminal, else %s)", p->fallback);
	else if (p->fallback)
		buf_addf(out, "  (default %s)", p->fallback);
	buf_addc(out, '\n');
	buf_addf(&help, "%s%s: ", p->help, p->repeats ? "; repeatable" : "");
	add_accepted(&help, route, p);
	line_wrap_add(out, buf_text(&help), 6);
}

size_t query_help(struct buf *out, const struct route *route, const char *const *names)
{
	size_t left_out = 0;

	for (const struct parameter *p = route->parameters; p->name; p++)
		if (options_help_shows(names, p->name))
			help_of_parameter(out, route, p);
		else
			left_out++;
	help_of_output(out, route, names, &left_out);
	if (!names && route->explain)
		route->explain(out);
	return left_out;
}

static const char *message_of(const json_t *error)
{
	const char *message = json_string_value(json_object_get(error, "message"));

	return message ? message : "no answer";
}

/* Prints the error message in the JSON body. Then prints the lists of names in the body, such as
 * "did_you_mean". */
static void print_error(const struct route *route, const struct reply *r)
{
	json_t *document = json_loadb(buf_text(&r->body), r->body.len, 0, NULL);
	json_t *error = json_object_get(document, "error"), *list;
	const char *key;

	fprintf(stderr, PROGRAM " %s: ", route->command);
	usage_print(message_of(error));
	fputc('\n', stderr);
	json_object_foreach(error, key, list)
	{
		if (json_array_size(list) == 0)
			continue;
		fprintf(stderr, "%s:\n", strcmp(key, "did_you_mean") == 0 ? "did you mean" : key);
		for (size_t i = 0; i < json_array_size(list); i++) {
			fputs("  ", stderr);
			usage_print(json_string_value(json_array_get(list, i)));
			fputc('\n', stderr);
		}
	}
	json_decref(document);
	if (r->status == BAD_REQUEST)
		usage_try(route->command);
}

static void reply_body_done(struct reply *r)
{
	buf_done(&r->body);
}

/* Sets the error for an argument that is not a flag. `word` is usually the name of a job. If the
 * route has this parameter, the message suggests --job-name=WORD. */
static int no_flag(const struct route *route, const char *word, struct err *e)
{
	bool job = word[0] != '-' && route_parameter_find(route->parameters, "job_name");

	return err_set(e, -EINVAL, "\"%s\" is not a flag: %s%s%s", word,
		job ? "did you mean --job-name=" : "give --NAME VALUE or --NAME=VALUE",
		job ? word : "", job ? "?" : "");
}

int query_refuse(const struct route *route, const char *word)
{
	struct err e = {0};

	no_flag(route, word, &e);
	return usage_error(route->command, e.text);
}

/* Reads the output flag at argv[*i]. `value` is the text after "=". If `value` is NULL and the flag
 * needs a value, the value is the next argument, and `*i` is increased. */
static int read_output_flag(size_t flag, const char *value, int argc, char **argv, int *i,
	struct query_output *output, struct err *e)
{
	const char **text = (const char **)(void *)((char *)output + output_flags[flag].offset);

	if (!value && output_flags[flag].needs_value && ++*i < argc)
		value = argv[*i];
	if (output_flags[flag].needs_value && (!value || !*value))
		return err_set(e, -EINVAL, "--%s needs a value", output_flags[flag].name);
	if (!output_flags[flag].needs_value && value)
		return err_set(e, -EINVAL, "--%s takes no value", output_flags[flag].name);
	if (*text)
		return err_set(e, -EINVAL, "--%s was given more than once",
			output_flags[flag].name);
	*text = value ? value : "";
	return 0;
}

/* Reads a parameter of the route. */
static int read_parameter(struct arguments *a, const char *name, const char *value, int argc,
	char **argv, int *i, struct err *e)
{
	const struct parameter *p = route_parameter_find(a->parameters, name);

	if (p && !value && p->kind == PARAMETER_FLAG)
		value = "";
	if (p && !value) {
		if (++*i == argc)
			return err_set(e, -EINVAL, "--%s needs a value", name);
		value = argv[*i];
	}
	return arguments_add(a, name, value ? value : "", e);
}

static int read_flags(const struct route *route, struct arguments *a, int argc, char **argv,
	struct query_output *output, struct err *e)
{
	char name[NAME_MAX_BYTES];
	const char *value;

	for (int i = 0; i < argc; i++) {
		size_t flag = output_flag(argv[i], &value);
		int code;

		if (flag < ARRAY_LEN(output_flags))
			code = read_output_flag(flag, value, argc, argv, &i, output, e);
		else if (!flag_parse(argv[i], name, &value))
			code = no_flag(route, argv[i], e);
		else
			code = read_parameter(a, name, value, argc, argv, &i, e);
		if (code)
			return code;
	}
	return 0;
}

static int refuse_format(const struct route *route, const char *format, const char *why,
	struct err *e)
{
	static const struct parameter outputs = {.name = "format"};
	const struct parameter *p = route_parameter_find(route->parameters, "format");
	struct buf accepted AUTO(buf_done) = BUF_MAX(sizeof e->text);

	add_accepted(&accepted, route, p ? p : &outputs);
	return err_set(e, -EINVAL, "--format=%.40s: %saccepted is %s", format, why,
		buf_text(&accepted));
}

/* Reads --format. A format that is not in output.h, such as "slurm" in "recommend --format=slurm",
 * is passed to the route. */
static int read_format(const struct route *route, struct arguments *a, const struct query_output *o,
	enum output *ret, struct err *e)
{
	const struct parameter *p = route_parameter_find(route->parameters, "format");

	if (!show_find(route->command))
		return arguments_add(a, "format", o->format, e);
	if (output_find(o->format, ret))
		return can_be_written(route, output_name[*ret]) ?
			       0 :
			       refuse_format(route, o->format, "this answer is no list; ", e);
	*ret = OUTPUT_JSON;
	if (!is_choice(p, o->format))
		return refuse_format(route, o->format, "", e);
	if (o->explain)
		return err_set(e, -EINVAL, "--explain: format %s does not use it, text does",
			o->format);
	return arguments_add(a, "format", o->format, e);
}

static int read_colour(const char *word, enum screen_colour *ret, struct err *e)
{
	unsigned c = 0;

	while (word && c < COLOURS && strcmp(screen_colour_name[c], word) != 0)
		c++;
	if (c == COLOURS)
		return err_set(e, -EINVAL, "--color=%.40s: accepted are auto, always and never",
			word);
	*ret = (enum screen_colour)c;
	return 0;
}

/* Sets the parameter `name` of the route to true. Does nothing if the route has no such parameter,
 * if the command line sets it, or if `name` is NULL. */
static int set_flag(const struct route *route, struct arguments *a, const char *name, struct err *e)
{
	if (!name || !route_parameter_find(route->parameters, name) || argument_text(a, name))
		return 0;
	return arguments_add(a, name, "true", e);
}

/* Decides how the answer is written. Without --format, the answer is text if stdout is a terminal
 * or if --explain is given. Otherwise it is JSON. */
static int choose_output(const struct route *route, struct arguments *a,
	const struct query_output *o, enum output *as, enum screen_colour *colour, struct err *e)
{
	const struct shown *shown = show_find(route->command);
	bool for_programs = shown && shown->for_programs && argument_text(a, shown->for_programs);
	bool read = !o->file && isatty(STDOUT_FILENO) && !for_programs;

	*as = shown && (read || o->explain) ? OUTPUT_TEXT : OUTPUT_JSON;
	int code = o->format ? read_format(route, a, o, as, e) : 0;

	/* Request the details, because an answer without them lacks some of the reasons. */
	if (code == 0 && *as == OUTPUT_TEXT && o->explain)
		code = set_flag(route, a, "details", e);
	if (code == 0 && shown && (*as == OUTPUT_TEXT || *as == OUTPUT_CSV))
		code = set_flag(route, a, shown->with, e);
	return code ? code : read_colour(o->colour, colour, e);
}

static int write_failed(const struct route *route, const char *why)
{
	fprintf(stderr, PROGRAM " %s: %s\n", route->command, why);
	return EXIT_NO_ANSWER;
}

/* Replaces the JSON in `body` by the same answer in the format `as`. */
static void transform(const struct route *route, enum output as, enum screen_colour colour,
	bool explain, struct buf *body)
{
	json_t *document =
		as == OUTPUT_JSON ? NULL : json_loadb(buf_text(body), body->len, 0, NULL);
	const struct shown *shown = show_find(route->command);
	struct screen screen = screen_of(STDOUT_FILENO, colour);

	if (!document)
		return;
	buf_reset(body);
	if (as == OUTPUT_TEXT)
		shown->show(body, document, &screen, explain);
	else if (as == OUTPUT_YAML)
		output_yaml(body, document);
	else
		output_csv(body, json_object_get(document, shown->list));
	json_decref(document);
}

static int print_answer(const struct route *route, const struct reply *r, const char *file)
{
	struct err e = {0};

	if (r->body.full)
		return write_failed(route, TOO_LARGE);
	if (file)
		return user_file_write(file, &r->body, &e) ? write_failed(route, e.text) : EXIT_OK;
	if (fwrite(buf_text(&r->body), 1, r->body.len, stdout) == r->body.len &&
		fflush(stdout) == 0)
		return EXIT_OK;
	return write_failed(route, "cannot write the answer to stdout");
}

/* Calls the route and fills `r`. For some commands, the text is made from the answer of another
 * route (struct shown.from). With OUTPUT_TEXT, calls that other route instead, with the arguments
 * that both routes accept. */
static int ask(struct app *app, const struct route *route, const struct arguments *a,
	enum output as, struct reply *r, struct err *e)
{
	const struct shown *shown = show_find(route->command);

	if (as != OUTPUT_TEXT || !shown->from)
		return route->answer(app, a, r, e);

	const struct route *from = query_route(shown->from);
	struct arguments same;

	arguments_begin(&same, from->parameters);
	int code = set_flag(from, &same, shown->with, e);

	for (const struct parameter *p = route->parameters; p->name && code == 0; p++)
		if (argument_text(a, p->name) && route_parameter_find(from->parameters, p->name))
			code = arguments_add(&same, p->name, argument_text(a, p->name), e);
	if (code == 0)
		code = arguments_finish(&same, e);
	return code ? code : from->answer(app, &same, r, e);
}

int query_main(struct app *app, const struct route *route, int argc, char **argv)
{
	struct reply r AUTO(reply_body_done) = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct query_output output = {0};
	enum screen_colour colour = COLOUR_AUTO;
	enum output as = OUTPUT_JSON;
	struct progress_line line;
	struct arguments a;
	struct err e = {0};

	arguments_begin(&a, route->parameters);
	a.flags = true;
	if (read_flags(route, &a, argc, argv, &output, &e) ||
		choose_output(route, &a, &output, &as, &colour, &e) || arguments_finish(&a, &e))
		return usage_error(route->command, e.text);
	progress_line_begin(&line, route->command);
	app->progress = &line.progress;
	answer_complete_job(app, &a);
	int code = ask(app, route, &a, as, &r, &e);

	app->progress = NULL;
	progress_line_end(&line);
	if (code)
		return write_failed(route, e.text);
	if (r.status >= 400) {
		print_error(route, &r);
		return r.status == BAD_REQUEST ? EXIT_USAGE : EXIT_NO_ANSWER;
	}
	transform(route, as, colour, output.explain, &r.body);
	return print_answer(route, &r, output.file);
}

static int refused(const struct reply *r, struct err *e)
{
	json_t *document = json_loadb(buf_text(&r->body), r->body.len, 0, NULL);
	int code = err_set(e, -ENOENT, "%s", message_of(json_object_get(document, "error")));

	json_decref(document);
	return code;
}

int query_save(struct app *app, const char *command, const char *const pairs[][2], const char *path,
	struct err *e)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	int code = route_ask(app, query_route(command), pairs, &r, e);

	if (code == 0 && r.body.full)
		code = err_set(e, -EFBIG, TOO_LARGE);
	else if (code == 0)
		code = r.status < 400 ? user_file_write(path, &r.body, e) : refused(&r, e);
	buf_done(&r.body);
	return code;
}
