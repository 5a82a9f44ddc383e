/* Runs a route as a command. The parameters of the route are flags, as in "stats --job-name etl
 * --runs=3". */
#ifndef EXPORTER_CLI_QUERY_H
#define EXPORTER_CLI_QUERY_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"

/* Returns the route with this command word, or NULL. */
const struct route *query_route(const char *command);

/* Moves the parameters of the route, its other flags (query_flag_at) and their values to the front
 * of `argv`, in their order. Stops at "--". Returns the number of moved arguments. The caller
 * passes the remaining arguments to options_read. */
int query_split(const struct route *route, int argc, char **argv);

/* Runs the route and writes its answer to stdout, or to FILE with -o FILE. The format is that of
 * --format. Without --format, a terminal gets tables, and any other output gets JSON. Errors go to
 * stderr. `argv` contains the arguments that query_split moved to the front. Returns the exit code:
 * 0 = done, 1 = no answer, 2 = bad usage. */
int query_main(struct app *app, const struct route *route, int argc, char **argv);

/* Runs the command of a route and writes its answer to the file at `path`, as -o does. `pairs`
 * contains names and values of parameters, and ends with a NULL name. If the answer is an error,
 * writes no file and copies the error message to `e`. */
int query_save(struct app *app, const char *command, const char *const pairs[][2], const char *path,
	struct err *e);

/* Prints that the route's command has no flag `word`, and which flag was probably meant. Returns
 * the exit code for bad usage. */
int query_refuse(const struct route *route, const char *word);

/* A flag of a route's command that is not a parameter of the route, such as --color. */
struct query_flag {
	const char *name;
	bool needs_value;
};

/* Fills `ret` with the `i`-th flag of the route's command that is not a parameter. Returns false
 * after the last one. */
bool query_flag_at(const struct route *route, size_t i, struct query_flag *ret);

/* Returns the `k`-th word that the flag or parameter `name` of the route's command accepts. Returns
 * NULL past the last word, and if `name` accepts any text. */
const char *query_flag_word(const struct route *route, const char *name, size_t k);

/* Appends the part of --help that lists the parameters of a route and the flags of query_flag_at.
 * `names` restricts the list (options_help_shows); NULL = list all. Returns how many were left
 * out. */
size_t query_help(struct buf *out, const struct route *route, const char *const *names);

#endif
