/* Summary of a job's runs for forecasts on other servers. Pure. */
#ifndef RECOMMENDER_SERVERS_JOB_PROFILE_H
#define RECOMMENDER_SERVERS_JOB_PROFILE_H

#include "recommender/servers/forecast.h"
#include "recommender/servers/related_benchmarks.h"
#include "recommender/run.h"

#define PROFILE_RUNS 20 /* newest successful runs that count */

/*
 * Medians over the newest successful runs on the server type of the newest run, and the band that
 * holds four of five next runs. reference stays unknown. Without such a run all is unknown.
 */
struct job_profile job_profile_of(const struct runs *runs);

/*
 * The habits of the job from the same runs. The words of the job's name stand for its programs
 * ("nightly/gzip-logs" has gzip), as runs do not record them. Texts are in arena.
 */
struct job_habits job_profile_habits(const struct runs *runs, struct arena *arena);

#endif
