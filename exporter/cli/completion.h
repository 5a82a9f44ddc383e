/* Prints the completions of shells. All words come from the tables of options, routes and
 * commands; the names of jobs and runs come from the history, when a person presses Tab. */
#ifndef EXPORTER_CLI_COMPLETION_H
#define EXPORTER_CLI_COMPLETION_H

#include "collectors/base/buf.h"

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
