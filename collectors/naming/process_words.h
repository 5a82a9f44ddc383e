/* Finds the words of one process. A word is one piece of information about its job, such as the
 * name or the run id. The table of systems (systems.h) defines where each word is: in a variable,
 * an argument or a file. The functions are pure. */
#ifndef COLLECTORS_NAMING_PROCESS_WORDS_H
#define COLLECTORS_NAMING_PROCESS_WORDS_H

#include "collectors/naming/recognise.h"
#include "collectors/naming/systems.h"

/* Maximum number of arguments that are read. Later arguments are ignored. */
#define ARGUMENTS_MAX 256

/* The texts of one process, split into variables and arguments. */
struct process_words {
	struct slice variable[VARIABLE_COUNT]; /* values of variables; data NULL = not set */
	size_t n_arguments;
	struct slice argument[ARGUMENTS_MAX];
	struct slice command_line, file, pod;
};

void process_words_split(const struct process_text *text, struct process_words *ret);
/* Finds the first source of `word` that has a value in this process. Sets `*ret` to the value and
 * returns the source. Returns NULL if no source has a value. */
const struct from *process_words_read(const struct process_words *w, const struct word *word,
	struct slice *ret);

/* Returns the text after the last separator. Returns `s` if it has no separator. */
struct slice naming_last_part(struct slice s, char separator);

/* Returns true if `s` ends in `ending` and has at least one byte before `ending`. */
bool naming_ends_in(struct slice s, const char *ending);

#endif
