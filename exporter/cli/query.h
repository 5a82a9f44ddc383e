/* Runs a route as a command, with its parameters as flags: stats --job-name etl --runs=3. */
#ifndef EXPORTER_CLI_QUERY_H
#define EXPORTER_CLI_QUERY_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"

/* The route with this command word, or NULL. */
const struct route *query_route(const char *command);

/*
 * Moves the route's parameters and their values to the front of argv, in order, and returns their
 * number. The rest is for options_read. Stops at "--".
 */
int query_split(const struct route *route, int argc, char **argv);

/*
 * Writes the answer to stdout, or to the file of -o FILE; errors go to stderr. argv holds the
 * route's arguments only: --job-name X or --job-name=X. Returns the exit code: 0, 1: no answer, 2:
 * bad usage.
 */
int query_main(struct app *app, const struct route *route, int argc, char **argv);

/*
 * Writes the answer of a command to a file, as -o does. pairs: parameters and values; a NULL name
 * ends them. If the answer is an error, nothing is written and e holds its message.
 */
int query_save(struct app *app, const char *command, const char *const pairs[][2], const char *path,
	struct err *e);

/* Prints that a word is no flag, with the probable flag. Returns the exit code of bad usage. */
int query_refuse(const struct route *route, const char *word);

/* Appends the route's parameters for --help. */
void query_help(struct buf *out, const struct route *route);

#endif
