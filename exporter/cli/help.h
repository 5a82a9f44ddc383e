/* Prints --help of the program and of each command. */
#ifndef EXPORTER_CLI_HELP_H
#define EXPORTER_CLI_HELP_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* A command that is not a route. A NULL `word` ends the table. */
struct help_command {
	const char *word, *synopsis, *help;
	unsigned bits; /* enum command_bits; 0 = it has no options */
	/* Returns the i-th word that may follow the command, and NULL past the last. NULL = no word
	 * may follow. */
	const char *(*follower)(size_t i);
	/* the heading under which --help lists the words that may follow; NULL = no list */
	const char *placeholder;
	void (*explain)(struct buf *out); /* writes text above the options of --help; NULL = none */
};
extern const struct help_command help_commands[];

/* Returns NULL if there is no such command, or if it is a route. */
const struct help_command *help_command_find(const char *word);

/* Returns the i-th command, routes included. NULL = there are no more. */
const char *help_command_word(size_t i);

/* The names of the options and parameters that --help of a command shows. All names are shown by
 * --help=all, and by --help of a command that is not in the table. A NULL `word` ends the table. */
#define HELP_USUAL_MOST 10
struct help_usual {
	const char *word, *names[HELP_USUAL_MOST + 1];
};
extern const struct help_usual help_usual[];

/* An example of a command, for --help and the man page. A NULL `word` ends the table. */
struct help_example {
	const char *word, *line, *what;
};
extern const struct help_example help_examples[];

/* Appends the help of a command: the options that most people need, or all of them. Appends the
 * help of the program for "" and for a flag. Returns false if there is no such command. */
bool help_of_word(struct buf *out, const char *word, bool all);

/* Prints that `word` is no command, and the command that was probably meant. Returns the exit code
 * for bad usage. */
int help_refuse_word(const char *word);

#endif
