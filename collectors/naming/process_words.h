/* One process against the table of systems: its variables, arguments and files, word by word. Pure. */
#ifndef COLLECTORS_NAMING_PROCESS_WORDS_H
#define COLLECTORS_NAMING_PROCESS_WORDS_H

#include "collectors/naming/recognise.h"
#include "collectors/naming/systems.h"

/* Arguments further back say nothing about which job it is. */
#define ARGUMENTS_MAX 256

/* The texts of one process, taken apart once. */
struct process_words {
	struct slice variable[VARIABLE_COUNT]; /* data NULL: not set */
	size_t n_arguments;
	struct slice argument[ARGUMENTS_MAX];
	struct slice command_line, file, pod;
};

void process_words_split(const struct process_text *text, struct process_words *ret);
/* The first source that has something; NULL when none has. */
const struct from *process_words_read(const struct process_words *w, const struct word *word,
	struct slice *ret);

struct slice naming_last_part(struct slice s, char separator); /* all of it without one */
bool naming_ends_in(struct slice s, const char *ending);       /* and is longer */

#endif
