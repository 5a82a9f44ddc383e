/* Frees the caches that all answers share. They contain the catalogue, the recommended sizes of
 * next runs, the behaviour of jobs, and what was learnt from other jobs (neighbourhood.h). */
#ifndef EXPORTER_ANSWERS_APP_CACHES_H
#define EXPORTER_ANSWERS_APP_CACHES_H

#include "exporter/core/app.h"

/* Frees every entry that no answer has used for 10 minutes. Keeps what was learnt from other jobs
 * (neighbourhood.h), because it is small. Any thread. */
void app_caches_tidy(struct app *app);

/* Frees all caches. Call it after all threads have ended. */
void app_caches_done(struct app *app);

#endif
