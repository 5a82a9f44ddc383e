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
#define RETRY_LIST_MAX 1024

struct retry_entry;
struct retry_list {
	struct retry_entry *run;
	size_t n, room;
};

/* seconds: until it is tried again, once it is set aside. */
struct retry_wait {
	struct mono now;
	double seconds;
};

/* How often this run has failed so far, 0 = never. */
unsigned retry_list_failures(const struct retry_list *s, const char *run_id);

/* One more failure. True when it is set aside now, and was not before: it is to be said once. */
bool retry_list_add(struct retry_list *s, const char *run_id, bool by_itself,
	struct retry_wait wait);

bool retry_list_is_aside(const struct retry_list *s, const char *run_id);

/* Set aside long enough; most: no run waits longer than so many seconds. */
bool retry_list_is_due(const struct retry_list *s, const char *run_id, struct mono now,
	double most);
bool retry_list_any_due(const struct retry_list *s, struct mono now, double most);

size_t retry_list_count(const struct retry_list *s);       /* of runs that failed */
size_t retry_list_count_aside(const struct retry_list *s); /* those of them that are set aside */

void retry_list_remove(struct retry_list *s, const char *run_id);
/* Forgets those that are not among these any more. */
void retry_list_keep_only(struct retry_list *s, const char *const *run_id, size_t n);
void retry_list_done(struct retry_list *s);

#endif
