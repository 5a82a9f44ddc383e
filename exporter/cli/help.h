/* Prints --help of the program and of each command. */
#ifndef EXPORTER_CLI_HELP_H
#define EXPORTER_CLI_HELP_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

/* A command that is not a route (exporter/api/route.h). A NULL `word` ends the table. */
struct help_command {
	const char *word, *synopsis, *help;
	unsigned bits; /* enum command_bits; 0 = it has no options */
	/* A function that returns the i-th word that may follow the command, and NULL past the
	 * last. `follower` NULL = no word may follow. */
	const char *(*follower)(size_t i);
	/* heading under which --help lists the words of `follower`; NULL = --help does not list
	 * them */
	const char *placeholder;
	void (*explain)(struct buf *out); /* writes text above the options of --help; NULL = none */
};
extern const struct help_command help_commands[];

/* Finds the command `word` in help_commands. Returns NULL if there is none, for example because the
 * command is a route. */
const struct help_command *help_command_find(const char *word);

/* Returns the word of the i-th command, including the commands of routes. NULL = there are no
 * more. */
const char *help_command_word(size_t i);

/* The options and parameters that most people need: --help of the command `word` shows only these
 * `names`. --help=all shows all options. A command that is not in this table always shows all. A
 * NULL `word` ends the table. */
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

/* Appends the help of the command `word`: with the options that most people need (help_usual), or
 * with all options if `all` is true. If `word` is "" or a flag, appends the help of the program.
 * Returns false if there is no such command. */
bool help_of_word(struct buf *out, const char *word, bool all);

/* Prints that there is no command `word`, and which command was probably meant. Returns the exit
 * code for bad usage. */
int help_refuse_word(const char *word);

#endif
