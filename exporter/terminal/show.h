/* Answers as tables and sentences for a person. Each function reads the JSON of a route, so that
 * the terminal shows the same numbers as every other client. Pure, but for the clock of
 * show_jobs. */
#ifndef EXPORTER_TERMINAL_SHOW_H
#define EXPORTER_TERMINAL_SHOW_H

#include <jansson.h>

#include "collectors/base/buf.h"
#include "exporter/terminal/screen.h"

struct shown {
	const char *command; /* command of the route: "recommend" */
	/* Command of another route, whose answer is shown as text instead; NULL = none. */
	const char *from;
	/* Flag that is set in the question for text and CSV, whose columns are what it adds; NULL = none. */
	const char *with;
	/* Appends the answer as text. If `explain` is true, adds the reasons. */
	void (*show)(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
	/* Key of the list in the answer that CSV consists of; NULL = the answer has no list. */
	const char *list;
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
