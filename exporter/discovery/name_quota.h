/*
 * Limits the number of different job names. A name that changes with each run must not flood
 * Prometheus. A name loses its place to a new one JOB_NAME_REST_SECONDS after its last run
 * began.
 *
 * One user with many names must not lock out other users. When all max places are taken, a user
 * with fewer places takes an idle one (its name has no active run) from the user with most places,
 * unless that user would then have fewer.
 *
 * No job is lost by that. A known name without a place takes an idle place of its own user, else of
 * any user, when its next run begins. At most max names without a place are kept for a day, so one
 * user alone cannot bring in ever new names.
 */
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
	struct mono used; /* begin of the last run */
	size_t runs;      /* active ones */
	size_t held;      /* places of the user; 0: this name has no place */
};

struct name_quota {
	size_t n, room, max;
	struct quota_name *name;
};

/*
 * Counts a new run of this job by this user (any fixed number when unknown). False: there are too
 * many job names. After true the caller must call name_quota_ended, even when following failed.
 */
bool name_quota_admit(struct name_quota *j, const char *name, uint64_t user, struct mono now);
void name_quota_ended(struct name_quota *j, const char *name);
void name_quota_done(struct name_quota *j);

#endif
