/* Prints --help of the program and of each command. */
#ifndef EXPORTER_CLI_HELP_H
#define EXPORTER_CLI_HELP_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "exporter/options/options.h"

#define HELP_ALL "--help=all"

/* A command that is not a route. A NULL `word` ends the table. */
struct help_command {
	const char *word, *synopsis, *help;
	enum command_bits bits;
};
extern const struct help_command help_commands[];

/* The options and parameters that --help of a command shows, as flags have them. --help=all shows
 * every one. A NULL `word` ends the table. */
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

/* Returns true for "manual", "help" and "version", which ask about the program itself. */
bool help_is_word_for_it(const char *word);

/* Appends the help of a command: the options that most people need, or all of them. Appends the
 * help of the program for "", for a flag and for a word that asks about the program. Returns false
 * if there is no such command. */
bool help_of_word(struct buf *out, const char *word, bool all);

#define HELP_FLAG_MAX 128
/* Writes the flag of a parameter: "--job-name" for job_name. */
void help_flag(const char *name, char out[HELP_FLAG_MAX]);

/* Returns the command that `word` probably misspells, or NULL. */
const char *help_meant(const char *word);

#endif
