/* Prints --help, --version, and the tables of deploy/manual/. All texts come from the tables of options
 * and routes in this program. */
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

/* These functions append the man page of the program, that of its routes (man(7)), and completion scripts for
 * bash, zsh and fish. */
void manual_man(struct buf *out);
void manual_man_routes(struct buf *out);
void manual_bash(struct buf *out);
void manual_zsh(struct buf *out);
void manual_fish(struct buf *out);

/* Returns true when the first argument is the word "manual", "help" or "version". Also returns true
 * when --help, --help=all, -h or --version is an argument, and no "--" comes before it. Returns false
 * for the command "run", because options_read reads its options. */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
