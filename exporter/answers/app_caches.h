/* The caches that all answers share. They hold the catalogue, the recommended sizes of next runs,
 * the behaviour of jobs, and summaries of neighbours (neighbourhood.h). */
#ifndef EXPORTER_ANSWERS_APP_CACHES_H
#define EXPORTER_ANSWERS_APP_CACHES_H

#include "exporter/core/app.h"

/* Frees everything that no answer has used for 10 minutes, except the summaries of neighbours,
 * which are small. Any thread. */
void app_caches_tidy(struct app *app);

/* Frees all caches. Call it after all threads have ended. */
void app_caches_done(struct app *app);

#endif
