/* How the outcomes of runs are shown: words, letters and styles. */
#ifndef EXPORTER_TERMINAL_OUTCOMES_H
#define EXPORTER_TERMINAL_OUTCOMES_H

#include "exporter/terminal/screen.h"

struct outcome_row {
	const char *name;  /* as in JSON: "oom_killed" */
	const char *word;  /* "out of memory" */
	const char *brief; /* for narrow columns: "OOM" */
	char letter;       /* one letter, for a row of runs */
	enum style style;
};

/* Finds how an outcome is shown. `name` is as in JSON. For another name, returns the row of
 * "unknown". */
const struct outcome_row *outcomes_find(const char *name);

#endif
