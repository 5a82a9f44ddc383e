/* Results that one answer keeps for the next one: the catalogue, sizings, behaviour. */
#ifndef EXPORTER_ANSWERS_APP_CACHES_H
#define EXPORTER_ANSWERS_APP_CACHES_H

#include "exporter/core/app.h"

/* Frees a catalogue, and sizings, that no answer used in the last minutes. Any thread. */
void app_caches_tidy(struct app *app);

/* After all threads have ended. Frees them all. */
void app_caches_done(struct app *app);

#endif
