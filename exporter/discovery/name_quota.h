/*
 * How many different jobs there may be: a name that changes with each run must not flood Prometheus. A name that had no
 * run for JOB_NAME_REST_SECONDS makes room for another.
 *
 * Nor must one user with many names keep out the names of others: when all places are taken, a user who has fewer of
 * them, also with one more, gets that of a name without a run from the user who has most. Nobody's job is lost by that:
 * a name without a place comes back, when a run of it begins, in that of another of its own user's without a run, or else of
 * anybody's.
 * So there are max places, and within a day at most as many names again that had one: a user alone has no more than ever.
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
	uint64_t user; /* of whose process the run was that it got its place for */
	struct mono used;
	size_t runs; /* that go on */
	size_t held; /* places of this user; 0: this name has none itself */
};

struct name_quota {
	size_t n, room, max;
	struct quota_name *name;
};

/*
 * A run of this job begins, of a process of this user, any number where that is not known; false when there are too many
 * jobs already. Otherwise it goes on until name_quota_ended, also where it could not be followed.
 */
bool name_quota_admit(struct name_quota *j, const char *name, uint64_t user, struct mono now);
void name_quota_ended(struct name_quota *j, const char *name);
void name_quota_done(struct name_quota *j);

#endif
