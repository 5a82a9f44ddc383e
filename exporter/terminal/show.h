/* Shows the answers of routes as tables and sentences for people. Each function reads the JSON of a
 * route, so that the terminal shows the same numbers as every other client. The functions depend
 * only on their arguments; only show_jobs also reads the clock. */
#ifndef EXPORTER_TERMINAL_SHOW_H
#define EXPORTER_TERMINAL_SHOW_H

#include <jansson.h>

#include "collectors/base/buf.h"
#include "exporter/terminal/screen.h"

struct shown {
	const char *command; /* command of the route: "recommend" */
	/* The command of another route, whose answer is shown as text instead; NULL = show the
	 * route's own answer. */
	const char *from;
	/* A parameter of the route, which is set to true when the answer is written as text or CSV,
	 * because it adds values that these formats show. NULL = none. */
	const char *with;
	/* Appends the answer as text. If `explain` is true, adds the reasons. */
	void (*show)(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
	/* Key of the array in the answer that is written as CSV; NULL = the answer has none. */
	const char *list;
	/* Parameter of the route with which the answer is for programs: without --format, it is
	 * JSON also on a terminal. NULL = none. */
	const char *for_programs;
};

/* Finds how a command's answers are shown. NULL = they are written unchanged. */
const struct shown *show_find(const char *command);

void show_jobs(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_runs(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_recommend(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_servers(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_stats(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_benchmarks(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_server(struct buf *out, const json_t *answer, const struct screen *s, bool explain);

#endif
