/*
 * rightsize-exporter catalogue info|update|import|search: what is known of servers and prices, and where more of it
 * comes from.
 */
#ifndef EXPORTER_CLI_CATALOGUE_COMMAND_H
#define EXPORTER_CLI_CATALOGUE_COMMAND_H

#include "collectors/base/buf.h"
#include "recommender/catalogue/catalogue.h"

/* argv: what follows the word catalogue. Returns the exit code: 0, 1 = it did not work, 2 = bad usage. */
int catalogue_command_main(int argc, char **argv);

/* What --help prints: one line and one sentence for each word, with so many blanks before them. */
void catalogue_command_help(struct buf *out);

/* What "catalogue info" prints. age_seconds: since the catalogue was fetched; NaN = it was not. */
void catalogue_command_info(struct buf *out, const struct catalogue *c, double age_seconds);

/*
 * The active servers whose server_id, api_reference, display_name or family contains text, ignoring case, cheapest
 * first; at most limit lines below the heading. Returns how many servers match.
 */
size_t catalogue_command_search(struct buf *out, const struct catalogue *c, const char *text,
	size_t limit);

#endif
