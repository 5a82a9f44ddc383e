/* Limits the number of different job names, because a job name that changes with each run would
 * make too many time series in Prometheus. A name needs one of `max` places: only runs of names
 * with a place are followed. A place is idle when its name has no active run.
 *
 * When all places are taken, a name can only take the place of another name:
 * - If the last run of a name with a place began over JOB_NAME_REST_SECONDS ago, any name may take
 *   the place. Otherwise the place must be idle.
 * - A new name takes an idle place from the user with the most places. That user must afterwards
 *   still have at least as many places as the user of the new name. One user with many names thus
 *   does not lock out other users.
 * - A name that lost its place is remembered for a day. When its next run begins, it takes an idle
 *   place of its own user, or else of any user.
 * - While `max` names without a place are remembered, new names get no idle place. This stops a
 *   user whose jobs have a new name each time. */
#ifndef EXPORTER_DISCOVERY_NAME_QUOTA_H
#define EXPORTER_DISCOVERY_NAME_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/clock.h"
#include "collectors/runs.h"

#define JOB_NAME_REST_SECONDS 86400

struct quota_name {
	char name[JOB_KEY_MAX];
	uint64_t user;    /* user whose run got the place for this name */
	struct mono used; /* when the last run of this name began */
	size_t runs;      /* number of active runs of this name */
	size_t held;      /* number of places of `user`; 0 = this name has no place */
};

struct name_quota {
	size_t n, room, max;
	struct quota_name *name;
};

/* Call it when a run of the job `name` begins. Returns true if the name has or gets a place. The
 * caller must then call name_quota_ended when the run ends or cannot be followed. Returns false
 * when there are too many job names. `user` is the user of the run; for an unknown user, always
 * pass the same number. */
bool name_quota_admit(struct name_quota *j, const char *name, uint64_t user, struct mono now);
void name_quota_ended(struct name_quota *j, const char *name);
void name_quota_done(struct name_quota *j);

#endif
