/* Prints the man pages, the shell completions and the tables of deploy/manual/. The program makes
 * these texts from its own tables: options, routes, metrics, and the others in MANUAL_TABLES. */
#ifndef EXPORTER_CLI_MANUAL_H
#define EXPORTER_CLI_MANUAL_H

#include <stdbool.h>

#include "collectors/base/buf.h"

/* manual_man appends the man page of the program, and manual_man_routes that of its routes
 * (man(7)). */
void manual_man(struct buf *out);
void manual_man_routes(struct buf *out);

/* X(word, function): a word that may follow "manual", and the function that appends the text for
 * this word. */
/* clang-format off */
#define MANUAL_TABLES(X) \
X("metrics", metrics_markdown) \
X("options", options_markdown) \
X("quantities", quantity_markdown) \
X("routes", routes_markdown) \
X("openapi", openapi_json) \
X("columns", fields_markdown) \
X("strategies", strategies_markdown) \
X("formats", formats_markdown) \
X("warnings", warnings_markdown) \
X("man", manual_man) \
X("man-routes", manual_man_routes) \
X("bash", completion_bash) \
X("zsh", completion_zsh) \
X("fish", completion_fish)
/* clang-format on */

/* Returns true when manual_main must be called:
 * - The first argument is the word "manual", "help" or "version".
 * - A flag before the first "--" asks for text, such as --help (option_question). For the command
 *   run, options_read finds such flags instead: the job's command may have the same flags. */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
