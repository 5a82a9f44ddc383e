/* Summary of a job's runs for forecasts on other servers. Pure functions. */
#ifndef RECOMMENDER_SERVERS_JOB_PROFILE_H
#define RECOMMENDER_SERVERS_JOB_PROFILE_H

#include "recommender/servers/forecast.h"
#include "recommender/servers/related_benchmarks.h"
#include "recommender/run.h"
#include "recommender/sizing/sizing.h"

#define PROFILE_RUNS 20 /* number of newest successful runs that are used */

/* Returns a profile of the next run. Its duration is that of the sizing `s`, so that an answer has
 * only one forecast; `s` NULL = unknown. Its usage is the median over the newest successful runs.
 * Runs on another server type than the newest run with a known type are left out. Runs on an
 * unknown type are kept. The caller sets the member `reference`. */
struct job_profile job_profile_of(const struct runs *runs, const struct sizing *s);

/* Returns how the job uses its resources (struct job_habits), from the same runs as job_profile_of.
 * Runs do not record the names of their programs, so the words of the job's name stand for them:
 * "nightly/gzip-logs" gives gzip. Texts are in `arena`. */
struct job_habits job_profile_habits(const struct runs *runs, struct arena *arena);

#endif
