/*
 * Runs that could not be handed on, so that one of them does not hold up those behind it: how often each failed
 * and when it is tried again. A run is set aside when it is likely to be the reason itself: at once when the other
 * exporter answered and could not take it, after some failures in a row whatever they were, since a run may also
 * be what breaks the other side or the way there.
 *
 * Kept in memory: who starts anew tries every run once more. One thread.
 */
#ifndef EXPORTER_FORWARD_RETRY_LIST_H
#define EXPORTER_FORWARD_RETRY_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/clock.h"

/* Of more runs, those that are to be tried next are forgotten first. */
#define SETBACKS_MAX 1024

struct setback;
struct setbacks {
	struct setback *run;
	size_t n, room;
};

/* seconds: until it is tried again, once it is set aside. */
struct setbacks_wait {
	struct mono now;
	double seconds;
};

/* How often this run has failed so far, 0 = never. */
unsigned setbacks_failures(const struct setbacks *s, const char *run_id);

/* One more failure. True when it is set aside now, and was not before: it is to be said once. */
bool setbacks_add(struct setbacks *s, const char *run_id, bool by_itself,
	struct setbacks_wait wait);

bool setbacks_is_aside(const struct setbacks *s, const char *run_id);

/* Set aside long enough; most: no run waits longer than so many seconds. */
bool setbacks_is_due(const struct setbacks *s, const char *run_id, struct mono now, double most);
bool setbacks_any_due(const struct setbacks *s, struct mono now, double most);

size_t setbacks_count(const struct setbacks *s); /* of runs that failed */
size_t setbacks_aside(const struct setbacks *s); /* those of them that are set aside */

void setbacks_remove(struct setbacks *s, const char *run_id);
/* Forgets those that are not among these any more. */
void setbacks_keep(struct setbacks *s, const char *const *run_id, size_t n);
void setbacks_done(struct setbacks *s);

#endif
