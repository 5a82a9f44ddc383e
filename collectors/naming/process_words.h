/* Reads the words of one process that the table of systems names, from its variables, arguments and
 * files. Pure functions. */
#ifndef COLLECTORS_NAMING_PROCESS_WORDS_H
#define COLLECTORS_NAMING_PROCESS_WORDS_H

#include "collectors/naming/recognise.h"
#include "collectors/naming/systems.h"

/* Later arguments are ignored, because they do not identify the job. */
#define ARGUMENTS_MAX 256

/* The texts of one process, split once. */
struct process_words {
	struct slice variable[VARIABLE_COUNT]; /* data NULL = not set */
	size_t n_arguments;
	struct slice argument[ARGUMENTS_MAX];
	struct slice command_line, file, pod;
};

void process_words_split(const struct process_text *text, struct process_words *ret);
/* Finds the first source of `word` that has a value. Returns NULL when no source has one. */
const struct from *process_words_read(const struct process_words *w, const struct word *word,
	struct slice *ret);

struct slice naming_last_part(struct slice s, char separator); /* `s` itself when it has none */
bool naming_ends_in(struct slice s, const char *ending);       /* false when both are equal */

#endif
