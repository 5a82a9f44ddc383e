/* "rightsize-exporter export" prints the runs of a history, and "rightsize-exporter import" adds
 * the runs of another history or of another program. */
#ifndef EXPORTER_CLI_TRANSFER_H
#define EXPORTER_CLI_TRANSFER_H

#include "collectors/base/buf.h"

/* Run the commands "export" and "import". `argv` contains the arguments after the command word.
 * Both return the exit code: 0 = done, 1 = failed or some runs were left out, 2 = bad usage. */
int transfer_export(int argc, char **argv);
int transfer_import(int argc, char **argv);

/* Appends the list of sources, for --help of import. */
void transfer_import_help(struct buf *out);

#endif
