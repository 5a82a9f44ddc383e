/* --help, --version, and the tables that the README shows: all printed from the tables of the program. */
#ifndef EXPORTER_CLI_MANUAL_H
#define EXPORTER_CLI_MANUAL_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* The commands that are no route's; word NULL ends. */
struct manual_command {
	const char *word, *synopsis, *help;
	enum command_bits bits;
};
extern const struct manual_command manual_commands[];

/* A man page (man(7)), and completion for bash. */
void manual_man(struct buf *out);
void manual_bash(struct buf *out);

/* Does the command line ask for the manual: --help or -h (before any "--"), --version, or the word manual? */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
