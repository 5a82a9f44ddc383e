/*
 * Routes from the command line: rightsize-exporter stats --job-name etl --runs=3. The parameters
 * of the route are the flags, and the answer is the same.
 */
#ifndef EXPORTER_CLI_QUERY_H
#define EXPORTER_CLI_QUERY_H

#include "exporter/core/app.h"
#include "exporter/api/route.h"

/* The route that a command-line word stands for, or NULL. */
const struct route *query_route(const char *command);

/*
 * Moves the arguments that are the route's (its parameters with their values) to the front of
 * argv, in their order, and returns how many they are; what is left is for options_read. Looks no
 * further than "--".
 */
int query_split(const struct route *route, int argc, char **argv);

/*
 * Answers on stdout. argv holds arguments of the route only: --job-name X or --job-name=X, and
 * -o FILE, which puts the answer there. What goes wrong is said on stderr. Returns the exit code: 0, 1 = no answer, 2 = bad usage.
 */
int query_main(struct app *app, const struct route *route, int argc, char **argv);

/*
 * Writes the answer of a command to a file, as -o does. pairs: parameter and value, name NULL ends. An answer that is an
 * error is not written: e has its sentence.
 */
int query_save(struct app *app, const char *command, const char *const pairs[][2], const char *path,
	struct err *e);

/* Says on stderr that a word is no flag, and which flag was probably meant: the exit code of bad usage. */
int query_refuse(const struct route *route, const char *word);

/* What --help prints of the route's parameters. */
void query_help(struct buf *out, const struct route *route);

#endif
