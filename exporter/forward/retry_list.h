/* Runs that could not be forwarded. The list stores how often each run failed, and when to retry
 * it.
 *
 * A run that probably causes its own failures is set aside: other runs are sent before it. A run is
 * set aside at once if the receiver answered but could not store it. A run is also set aside after
 * 3 failures of any kind in a row, because it may crash the receiver or a proxy.
 *
 * The list exists only in memory, so after a restart the program tries every run again. Only one
 * thread may use a list. */
#ifndef EXPORTER_FORWARD_RETRY_LIST_H
#define EXPORTER_FORWARD_RETRY_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/clock.h"

/* Maximum number of runs in the list. A new run in a full list replaces the run with the earliest
 * retry. */
#define RETRY_LIST_MAX 1024

struct retry_entry;
struct retry_list {
	struct retry_entry *run;
	size_t n, room;
};

struct retry_wait {
	struct mono now;
	double seconds; /* seconds from `now` until the retry */
};

/* Returns the number of failures of this run so far. */
unsigned retry_list_failures(const struct retry_list *s, const char *run_id);

/* Counts a failure of a run. `by_itself`: true = the receiver answered, but could not store the
 * run. `wait`: time until the retry. Returns true if this failure sets the run aside, so that the
 * caller logs this only once. */
bool retry_list_add(struct retry_list *s, const char *run_id, bool by_itself,
	struct retry_wait wait);

bool retry_list_is_aside(const struct retry_list *s, const char *run_id);

/* Returns true when the run is set aside and its wait is over. A wait of more than `most` seconds
 * counts as `most` seconds. */
bool retry_list_is_due(const struct retry_list *s, const char *run_id, struct mono now,
	double most);
bool retry_list_any_due(const struct retry_list *s, struct mono now, double most);

size_t retry_list_count(const struct retry_list *s);       /* runs that failed */
size_t retry_list_count_aside(const struct retry_list *s); /* runs that are set aside */

void retry_list_remove(struct retry_list *s, const char *run_id);
/* Removes all runs that are not among the `n` ids in `run_id`. */
void retry_list_keep_only(struct retry_list *s, const char *const *run_id, size_t n);
void retry_list_done(struct retry_list *s);

#endif
