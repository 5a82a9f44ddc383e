/* Answers as tables and sentences for a person. Each function reads the JSON of a route, so that the
 * terminal shows the same numbers as every other client. Pure, but for the clock of show_jobs. */
#ifndef EXPORTER_TERMINAL_SHOW_H
#define EXPORTER_TERMINAL_SHOW_H

#include <math.h>

#include <jansson.h>

#include "collectors/base/buf.h"
#include "exporter/terminal/screen.h"

struct shown {
	const char *command; /* of the route: "recommend" */
	/* Route whose answer is shown instead; NULL = that of `command`. */
	const char *from;
	/* Appends the answer. `explain`: with the reasons. */
	void (*show)(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
	/* Key of the list in the answer that CSV consists of; NULL = the answer has no list. */
	const char *list;
};

/* NULL = answers of this command are always written as they are. */
const struct shown *show_find(const char *command);

void show_jobs(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_runs(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_recommend(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_servers(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_stats(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_benchmarks(struct buf *out, const json_t *answer, const struct screen *s, bool explain);
void show_server(struct buf *out, const json_t *answer, const struct screen *s, bool explain);

/* Appends the warnings of an answer, one paragraph each, at most `most` of them. */
void show_warnings(struct buf *out, const json_t *answer, const struct screen *s, size_t most);
/* Appends the notes of an answer about servers. */
void show_notes(struct buf *out, const json_t *answer, const struct screen *s);
/* Appends the command that says more: "Next: rightsize-exporter WORDS --job-name=NAME". */
void show_next(struct buf *out, const struct screen *s, const char *words, const char *job_name);

/* Member of an object. NaN or "" = it is absent, null or of another type. */
static inline double show_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static inline const char *show_text(const json_t *v)
{
	return json_is_string(v) ? json_string_value(v) : "";
}

static inline const char *show_string(const json_t *o, const char *key)
{
	return show_text(json_object_get(o, key));
}

#endif
