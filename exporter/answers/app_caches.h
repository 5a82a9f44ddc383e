/* The caches that answers share: the catalogue, sizings, behaviour. */
#ifndef EXPORTER_ANSWERS_APP_CACHES_H
#define EXPORTER_ANSWERS_APP_CACHES_H

#include "exporter/core/app.h"

/* Frees what no answer used for 10 minutes. Any thread. */
void app_caches_tidy(struct app *app);

/* Frees all. Call it after all threads have ended. */
void app_caches_done(struct app *app);

#endif
