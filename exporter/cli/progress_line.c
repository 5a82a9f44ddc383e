#include "exporter/cli/progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_SECONDS 0.2
#define CLEAR         "\r\033[K"

static double draw(void *context)
{
	struct progress_line *l = context;
	double seconds = mono_seconds_between(l->begun, now_read().mono);
	const char *unit = atomic_load(&l->progress.unit);
	uint64_t done = atomic_load(&l->progress.done), total = atomic_load(&l->progress.total);

	if (seconds < PROGRESS_LINE_FROM_SECONDS)
		return PROGRESS_LINE_FROM_SECONDS - seconds;
	fprintf(stderr, CLEAR "rightsize-exporter %s: ", l->command);
	if (unit && total)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s, ", done, total, unit);
	else if (unit)
		fprintf(stderr, "%" PRIu64 " %s, ", done, unit);
	fprintf(stderr, "%.0f s", seconds);
	l->drawn = true;
	return EVERY_SECONDS;
}

void progress_line_begin(struct progress_line *l, const char *command)
{
	const char *term = getenv("TERM");

	*l = (struct progress_line){.command = command, .begun = now_read().mono};
	worker_init(&l->worker);
	if (isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0)
		(void)worker_start(&l->worker, "progress", draw, l, NULL);
}

void progress_line_end(struct progress_line *l)
{
	worker_done(&l->worker);
	if (l->drawn)
		fputs(CLEAR, stderr);
}
