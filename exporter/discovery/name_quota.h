/* Limits the number of different job names. A name that changes with each run must not flood
 * Prometheus. A name loses its place to a new name JOB_NAME_REST_SECONDS after its last run began.
 *
 * One user with many names must not lock out other users. A place is idle when its name has no
 * active run. When all `max` places are taken, a user takes an idle place from the user with the
 * most places. This happens only if the other user then still has at least as many places.
 *
 * A job that loses its place can get a place again. When its next run begins, its name takes an
 * idle place of its own user, or else of any user. At most `max` names without a place are kept,
 * for a day. This stops a user who brings in new names all the time. */
#ifndef EXPORTER_DISCOVERY_NAME_QUOTA_H
#define EXPORTER_DISCOVERY_NAME_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

#define JOB_NAME_REST_SECONDS 86400

struct quota_name {
	char name[JOB_NAME_MAX];
	uint64_t user;    /* owner of the process that got the place */
	struct mono used; /* when the last run began */
	size_t runs;      /* active runs */
	size_t held;      /* places of `user` in all; 0: this name has no place */
};

struct name_quota {
	size_t n, room, max;
	struct quota_name *name;
};

/* Counts a new run of this job by this user. An unknown user may be any fixed number. Returns false
 * when there are too many job names. After true, the caller must call name_quota_ended, even if
 * following the run failed. */
bool name_quota_admit(struct name_quota *j, const char *name, uint64_t user, struct mono now);
void name_quota_ended(struct name_quota *j, const char *name);
void name_quota_done(struct name_quota *j);

#endif
