/*
 * --catalogue.rate: exchange rates of one's own, which win over a catalogue's.
 */
#ifndef EXPORTER_CATALOGUE_RATES_H
#define EXPORTER_CATALOGUE_RATES_H

#include <stdbool.h>

#include "collectors/base/err.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* To go on after "accepted is". */
#define RATE_ACCEPTED "a currency and the US dollars for one unit of it, such as EUR=1.16"

/* Is it such a text? Whether there is such a currency shows when a catalogue has it or not. */
bool rate_fits(const char *text);

/* texts: "EUR=1.16", US dollars for one unit. Only while nobody else holds the catalogue. -EINVAL names the wrong one. */
int catalogue_set_rates(struct catalogue *c, const struct words *texts, struct err *e);

#endif
