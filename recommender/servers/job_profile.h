/*
 * What the runs of a job say about how it would run elsewhere. Pure.
 */
#ifndef RECOMMENDER_SERVERS_JOB_PROFILE_H
#define RECOMMENDER_SERVERS_JOB_PROFILE_H

#include "recommender/servers/forecast.h"
#include "recommender/servers/related_benchmarks.h"
#include "recommender/run.h"

#define PROFILE_RUNS 20 /* newest successful runs that are looked at */

/*
 * Medians over the newest successful runs on the kind of server where the newest ran, and the band that four of
 * five next runs are expected in; reference is left unknown. All unknown without such a run.
 */
struct job_profile job_profile_of(const struct runs *runs);

/*
 * The same of its habits. No run says which programs it was, so the words of the job's name stand for them
 * ("nightly/gzip-logs" has gzip); they are in arena.
 */
struct job_habits job_profile_habits(const struct runs *runs, struct arena *arena);

#endif
