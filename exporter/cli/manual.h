/* Prints --help, --version and the README's tables from the program's tables. */
#ifndef EXPORTER_CLI_MANUAL_H
#define EXPORTER_CLI_MANUAL_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* A command that is not a route. A NULL `word` ends the table. */
struct manual_command {
	const char *word, *synopsis, *help;
	enum command_bits bits;
};
extern const struct manual_command manual_commands[];

/* Append a man page (man(7)) and a completion script for bash. */
void manual_man(struct buf *out);
void manual_bash(struct buf *out);

/* Returns true when the first argument is the word "manual", or when --help, -h or --version comes
 * before any "--". Returns false for "run", because options_read reads its options. */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
