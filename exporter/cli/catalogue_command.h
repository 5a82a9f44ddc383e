/* The commands "rightsize-exporter catalogue info|update|import|search": servers and prices. */
#ifndef EXPORTER_CLI_CATALOGUE_COMMAND_H
#define EXPORTER_CLI_CATALOGUE_COMMAND_H

#include "collectors/base/buf.h"
#include "recommender/catalogue/catalogue.h"

/* `argv` contains the arguments after the word "catalogue". Returns the exit code: 0 = done, 1 =
 * failed, 2 = bad usage. */
int catalogue_command_main(int argc, char **argv);

/* Appends the commands and their descriptions for --help. */
void catalogue_command_help(struct buf *out);

/* Returns word `i` that may follow "catalogue". NULL = there are no more. */
const char *catalogue_command_word(size_t i);

/* Appends the output of "catalogue info". `age_seconds` is the time since the catalogue was fetched
 * from its source; NaN = the catalogue comes from a file. */
void catalogue_command_info(struct buf *out, const struct catalogue *c, double age_seconds);

/* Finds the active servers whose server_id, api_reference, display_name or family contains `text`,
 * ignoring case. Appends a heading and the `limit` cheapest of these servers. Returns the number of
 * all servers found. */
size_t catalogue_command_search(struct buf *out, const struct catalogue *c, const char *text,
	size_t limit);

#endif
