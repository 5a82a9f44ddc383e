/* Prints --help, --version, and the tables of deploy/manual/. All texts come from the tables of options
 * and routes in this program. */
#ifndef EXPORTER_CLI_MANUAL_H
#define EXPORTER_CLI_MANUAL_H

#include <stdbool.h>

#include "collectors/base/buf.h"

/* These functions append the man page of the program and that of its routes (man(7)). */
void manual_man(struct buf *out);
void manual_man_routes(struct buf *out);

/* Returns word `i` that may follow "manual". NULL = there are no more. */
const char *manual_table_word(size_t i);

#define MANUAL_FLAG_MAX 128
/* Writes the flag of a parameter: "--job-name" for job_name. */
void manual_flag(const char *name, char out[MANUAL_FLAG_MAX]);

/* Returns true when the first argument is the word "manual", "help" or "version". Also returns true
 * when --help, --help=all, -h or --version is an argument, and no "--" comes before it. Returns false
 * for the command "run", because options_read reads its options. */
bool manual_wanted(int argc, char **argv);
int manual_main(int argc, char **argv);

#endif
