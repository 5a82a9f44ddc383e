#include "exporter/cli/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/text/user_file.h"
#include "exporter/text/line_wrap.h"

#define NAME_MAX_BYTES 128
#define HELP_MAX       4096
#define PROGRAM        "rightsize-exporter"
#define TOO_LARGE      "the answer is larger than 64 MiB: narrow the query"

enum { EXIT_OK, EXIT_NO_ANSWER, EXIT_USAGE };

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

/* Returns true for -o FILE, --output FILE and --output=FILE. `*value` is NULL when FILE is the next
 * argument. */
static bool is_output(const char *argument, const char **value)
{
	char name[NAME_MAX_BYTES];

	*value = NULL;
	return strcmp(argument, "-o") == 0 ||
	       (flag_parse(argument, name, value) && strcmp(name, "output") == 0);
}

/* argv[0] may be a parameter of the route. Returns the number of arguments that belong to it: 0 =
 * argv[0] is no parameter, 1 = only argv[0], 2 = the value is in argv[1]. */
static int parameter_length(const struct route *route, int argc, char **argv)
{
	char name[NAME_MAX_BYTES];
	const char *value;

	if (is_output(argv[0], &value))
		return value || argc < 2 ? 1 : 2;
	if (!flag_parse(argv[0], name, &value))
		return 0;
	const struct parameter *p = route_parameter_find(route->parameters, name);

	/* A name with a dot is an option of the program. Any other unknown name is left to the
	 * route, because the route's error message suggests the right name. */
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

void query_help(struct buf *out, const struct route *route)
{
	for (const struct parameter *p = route->parameters; p->name; p++) {
		struct buf help AUTO(buf_done) = BUF_MAX(HELP_MAX);
		size_t start = out->len;

		buf_addf(out, "  --%s=VALUE", p->name);
		for (size_t i = start; i < out->len; i++)
			if (out->data[i] == '_')
				out->data[i] = '-';
		if (p->required)
			buf_adds(out, "  (required)");
		if (p->fallback)
			buf_addf(out, "  (default %s)", p->fallback);
		buf_addc(out, '\n');
		buf_addf(&help, "%s%s: ", p->help, p->repeats ? "; repeatable" : "");
		route_parameter_accepts(p, &help);
		line_wrap_add(out, buf_text(&help), 6);
	}
	buf_adds(out, "  -o FILE, --output=FILE\n      Write the answer to this file, whole or "
		      "not at all, instead of to stdout\n");
	if (route->explain)
		route->explain(out);
}

/* Prints `s` without control characters. Names come from outside, and control characters in them
 * could change the state of the terminal. */
static void print_clean(const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, stderr);
}

static const char *message_of(const json_t *error)
{
	const char *message = json_string_value(json_object_get(error, "message"));

	return message ? message : "no answer";
}

/* Prints the error message in the JSON body and the lists of names that come with the message. */
static void print_error(const struct route *route, const struct reply *r)
{
	json_t *document = json_loadb(buf_text(&r->body), r->body.len, 0, NULL);
	json_t *error = json_object_get(document, "error"), *list;
	const char *key;

	fprintf(stderr, PROGRAM " %s: ", route->command);
	print_clean(message_of(error));
	fputc('\n', stderr);
	json_object_foreach(error, key, list)
	{
		if (json_array_size(list) == 0)
			continue;
		fprintf(stderr, "%s:\n", strcmp(key, "did_you_mean") == 0 ? "did you mean" : key);
		for (size_t i = 0; i < json_array_size(list); i++) {
			fputs("  ", stderr);
			print_clean(json_string_value(json_array_get(list, i)));
			fputc('\n', stderr);
		}
	}
	json_decref(document);
}

static int usage_error(const struct route *route, const char *text)
{
	fprintf(stderr, PROGRAM " %s: %s\nTry " PROGRAM " %s --help\n", route->command, text,
		route->command);
	return EXIT_USAGE;
}

/* Makes the error for a word that is not a flag. Suggests --job-name, because the word is usually
 * the name of a job. */
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
	return usage_error(route, e.text);
}

static int read_flags(const struct route *route, struct arguments *a, int argc, char **argv,
	const char **output, struct err *e)
{
	char name[NAME_MAX_BYTES];
	const char *value;

	for (int i = 0; i < argc; i++) {
		if (is_output(argv[i], &value)) {
			*output = value || ++i == argc ? value : argv[i];
			if (!*output || !**output)
				return err_set(e, -EINVAL, "-o needs a file");
			continue;
		}
		if (!flag_parse(argv[i], name, &value))
			return no_flag(route, argv[i], e);
		const struct parameter *p = route_parameter_find(a->parameters, name);

		if (p && !value && p->kind == PARAMETER_FLAG)
			value = "";
		if (p && !value) {
			if (++i == argc)
				return err_set(e, -EINVAL, "--%s needs a value", name);
			value = argv[i];
		}
		int code = arguments_add(a, name, value ? value : "", e);

		if (code)
			return code;
	}
	return arguments_finish(a, e);
}

static int print_answer(const struct route *route, const struct reply *r, const char *output)
{
	struct err e = {0};

	if (r->body.full) {
		fprintf(stderr, PROGRAM " %s: " TOO_LARGE "\n", route->command);
		return EXIT_NO_ANSWER;
	}
	if (r->status >= 400) {
		print_error(route, r);
		return r->status == 400 ? EXIT_USAGE : EXIT_NO_ANSWER;
	}
	if (output && user_file_write(output, &r->body, &e) != 0) {
		fprintf(stderr, PROGRAM " %s: %s\n", route->command, e.text);
		return EXIT_NO_ANSWER;
	}
	if (output)
		return EXIT_OK;
	if (fwrite(buf_text(&r->body), 1, r->body.len, stdout) == r->body.len &&
		fflush(stdout) == 0)
		return EXIT_OK;
	fprintf(stderr, PROGRAM " %s: cannot write the answer to stdout\n", route->command);
	return EXIT_NO_ANSWER;
}

int query_main(struct app *app, const struct route *route, int argc, char **argv)
{
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	const char *output = NULL;
	struct err e = {0};

	arguments_begin(&a, route->parameters);
	a.flags = true;
	if (read_flags(route, &a, argc, argv, &output, &e) != 0)
		return usage_error(route, e.text);
	int code = route->answer(app, &a, &r, &e);

	if (code != 0) {
		fprintf(stderr, PROGRAM " %s: %s\n", route->command, e.text);
		code = EXIT_NO_ANSWER;
	} else {
		code = print_answer(route, &r, output);
	}
	buf_done(&r.body);
	return code;
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
