/* A line on the terminal that shows how far a command has come, such as "overview: 1024 of 9000
 * jobs, 3 s" after the program's name. It is written to stderr, and only if stderr is a terminal
 * that can clear a line. */
#ifndef EXPORTER_CLI_PROGRESS_LINE_H
#define EXPORTER_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "collectors/base/clock.h"
#include "exporter/core/progress.h"
#include "exporter/core/worker.h"

/* The line appears after this many seconds, because most commands are faster. */
#define PROGRESS_LINE_FROM_SECONDS 1.0

struct progress_line {
	struct progress progress;
	const char *command;
	struct mono begun;
	bool drawn;
	struct worker worker;
};

/* Starts the thread that draws the line. `*l` must not be moved until progress_line_end. If stderr
 * is not a terminal, or if the thread cannot be started, no line appears. */
void progress_line_begin(struct progress_line *l, const char *command);

/* Stops the thread and clears the line. Call it before anything else is printed. */
void progress_line_end(struct progress_line *l);

#endif
