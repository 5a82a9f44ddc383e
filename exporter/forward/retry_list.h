/*
 * Runs that could not be forwarded: how often each failed, and when to retry it. A run that is
 * probably the cause of its own failures is set aside, so that it does not block the runs behind it.
 * It is set aside at once when the receiver answered but could not store it. After some other
 * failures in a row it is set aside too: a run may crash the receiver or a proxy.
 *
 * In memory only: a restarted program tries every run again. One thread.
 */
#ifndef EXPORTER_FORWARD_RETRY_LIST_H
#define EXPORTER_FORWARD_RETRY_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/clock.h"

/* When the list is full, the run with the earliest retry is removed. */
#define RETRY_LIST_MAX 1024

struct retry_entry;
struct retry_list {
	struct retry_entry *run;
	size_t n, room;
};

struct retry_wait {
	struct mono now;
	double seconds; /* from now until the retry of a run that is set aside */
};

/* Failures of this run so far. */
unsigned retry_list_failures(const struct retry_list *s, const char *run_id);

/* Counts a failure. True when this failure sets the run aside: log it once. */
bool retry_list_add(struct retry_list *s, const char *run_id, bool by_itself,
	struct retry_wait wait);

bool retry_list_is_aside(const struct retry_list *s, const char *run_id);

/* True when the run is set aside and its wait, at most `most` seconds, is over. */
bool retry_list_is_due(const struct retry_list *s, const char *run_id, struct mono now,
	double most);
bool retry_list_any_due(const struct retry_list *s, struct mono now, double most);

size_t retry_list_count(const struct retry_list *s);       /* runs that failed */
size_t retry_list_count_aside(const struct retry_list *s); /* runs that are set aside */

void retry_list_remove(struct retry_list *s, const char *run_id);
/* Removes all runs but these. */
void retry_list_keep_only(struct retry_list *s, const char *const *run_id, size_t n);
void retry_list_done(struct retry_list *s);

#endif
