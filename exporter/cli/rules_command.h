/* "rightsize-exporter rules ...": tests the rules of --jobs.rules without a server.
 *
 * - test: prints how each process of this machine, or of --processes=FILE, is named.
 * - test --pid=N: prints the result of each rule for one process.
 * - check: validates the file of --jobs.rules.
 * - capture: prints the processes of this machine as JSON (process_dump.h). */
#ifndef EXPORTER_CLI_RULES_COMMAND_H
#define EXPORTER_CLI_RULES_COMMAND_H

#include <stddef.h>

/* `argv` contains the arguments after the word "rules". Returns the exit code: 0 = done, 1 =
 * failed, 2 = bad usage. */
int rules_command_main(int argc, char **argv);

/* Returns word `i` that may follow "rules". NULL = there are no more. */
const char *rules_command_word(size_t i);

#endif
