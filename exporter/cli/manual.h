/* Prints --help, --version and the README's tables from the program's tables. */
#ifndef EXPORTER_CLI_MANUAL_H
#define EXPORTER_CLI_MANUAL_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* The commands without a route; a NULL word ends them. */
struct manual_command {
	const char *word, *synopsis, *help;
	enum command_bits bits;
};
extern const struct manual_command manual_commands[];

/* Appends a man page (man(7)), and a completion script for bash. */
void manual_man(struct buf *out);
void manual_bash(struct buf *out);

/* Has the command line --help, -h or --version before any "--", or the word manual? */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
