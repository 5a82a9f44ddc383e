/* Runs a route as a command. The parameters of the route are flags, as in "stats --job-name etl
 * --runs=3". */
#ifndef EXPORTER_CLI_QUERY_H
#define EXPORTER_CLI_QUERY_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"

/* Returns the route with this command word, or NULL. */
const struct route *query_route(const char *command);

/* Moves the route's parameters and their values to the front of `argv` and keeps their order.
 * Returns the number of moved arguments. options_read reads the remaining arguments. Stops at
 * "--". */
int query_split(const struct route *route, int argc, char **argv);

/* Writes the answer to stdout, or to FILE with -o FILE: as tables on a terminal, else as JSON;
 * --format chooses. Errors go to stderr. `argv` contains only parameters of the route and flags
 * of query_flag_at, as query_split collects them: --job-name X or --job-name=X. Returns the exit
 * code: 0 = done, 1 = no answer, 2 = bad usage. */
int query_main(struct app *app, const struct route *route, int argc, char **argv);

/* Runs a command and writes its answer to the file at `path`, as -o does. `pairs` has parameters
 * and values; a NULL name ends the list. If the answer is an error, writes no file and copies the
 * error message to `e`. */
int query_save(struct app *app, const char *command, const char *const pairs[][2], const char *path,
	struct err *e);

/* Prints that `word` is not a flag, and the flag that was probably meant. Returns the exit code for
 * bad usage. */
int query_refuse(const struct route *route, const char *word);

/* A flag of a query beside the parameters of its route, such as --color. */
struct query_flag {
	const char *name;
	bool needs_value;
};

/* Gets flag `i` of the route's command. Returns false after the last one. */
bool query_flag_at(const struct route *route, size_t i, struct query_flag *ret);

/* Returns the k-th word that a flag or a parameter of the route's command accepts. Returns NULL past
 * the last, and if any text is accepted. */
const char *query_flag_word(const struct route *route, const char *name, size_t k);

/* Appends to --help the parameters of a route and the flags of query_flag_at. Appends only those
 * in `names` (options_help_shows), or all if `names` is NULL. Returns how many were left out. */
size_t query_help(struct buf *out, const struct route *route, const char *const *names);

#endif
