/* Prints errors about the command line: a message, and a line such as "Try rightsize-exporter run
 * --help". A function that returns an int returns EXIT_USAGE, the exit code for a wrong command
 * line. */
#ifndef EXPORTER_CLI_USAGE_H
#define EXPORTER_CLI_USAGE_H

#include <stddef.h>

#include "collectors/base/buf.h"

#define EXIT_USAGE 2

/* Prints a text on stderr, without its control characters (utf8_clean_plain), which could change
 * the state of the terminal. Words of the command line and names in the history may contain
 * them. */
void usage_print(const char *text);

/* Appends "a, b or c". `word` returns the i-th word, and NULL past the last. */
void usage_add_words(struct buf *out, const char *(*word)(size_t i));

/* Prints "Try rightsize-exporter COMMAND --help". */
void usage_try(const char *command);

/* Prints "rightsize-exporter COMMAND: TEXT" and the line of usage_try. `command` is NULL for the
 * program itself. */
int usage_error(const char *command, const char *text);

/* Prints that the command does not accept the argument `word`. If `flag` is not NULL, also prints
 * that `word` was probably meant as the value of this option. */
int usage_argument(const char *command, const char *word, const char *flag);

/* Prints that `word` may not follow the command. If `word` is NULL, prints that a word is missing.
 * Then prints the words that may follow (`accepted`). */
int usage_word(const char *command, const char *word, const char *(*accepted)(size_t i));

#endif
