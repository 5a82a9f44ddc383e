/*
 * --catalogue.rate: exchange rates of one's own, which win over a catalogue's.
 */
#ifndef EXPORTER_CATALOGUE_RATES_H
#define EXPORTER_CATALOGUE_RATES_H

#include "collectors/base/err.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* texts: "EUR=1.16", US dollars for one unit. Only while nobody else holds the catalogue. -EINVAL names the wrong one. */
int catalogue_set_rates(struct catalogue *c, const struct text_list *texts, struct err *e);

#endif
