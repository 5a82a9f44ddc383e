/* The table of systems lists words, such as the name of a job. These functions find the words in
 * the variables, arguments and files of one process. Pure functions. */
#ifndef COLLECTORS_NAMING_PROCESS_WORDS_H
#define COLLECTORS_NAMING_PROCESS_WORDS_H

#include "collectors/naming/recognise.h"
#include "collectors/naming/systems.h"

/* Later arguments are ignored, because they do not identify the job. */
#define ARGUMENTS_MAX 256

/* The texts of one process, split into variables and arguments. */
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

/* Returns the text after the last separator. Returns `s` if it has no separator. */
struct slice naming_last_part(struct slice s, char separator);

/* Returns false if `s` equals `ending`. */
bool naming_ends_in(struct slice s, const char *ending);

#endif
