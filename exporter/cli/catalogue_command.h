/*
 * rightsize-exporter catalogue info|update|import|search: what is known of servers and prices, and where more of it
 * comes from.
 */
#ifndef EXPORTER_CATALOGUE_COMMAND_H
#define EXPORTER_CATALOGUE_COMMAND_H

#include "collectors/base/buf.h"

/* argv: what follows the word catalogue. Returns the exit code: 0, 1 = it did not work, 2 = bad usage. */
int catalogue_main(int argc, char **argv);

/* What --help prints: one line and one sentence for each word, with so many blanks before them. */
void catalogue_help(struct buf *out);

#endif
