/* Appends the completion scripts of the shells. The words in them come from the tables of options,
 * routes and commands. The scripts do not contain the names of jobs and runs: they call this
 * program, which reads the names from the history, whenever a person presses Tab. */
#ifndef EXPORTER_CLI_COMPLETION_H
#define EXPORTER_CLI_COMPLETION_H

#include "collectors/base/buf.h"

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
