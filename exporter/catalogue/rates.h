/* --catalogue.rate: exchange rates from the user, which replace those of the catalogue. */
#ifndef EXPORTER_CATALOGUE_RATES_H
#define EXPORTER_CATALOGUE_RATES_H

#include "collectors/base/err.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* Sets rates from texts such as "EUR=1.16": one euro is 1.16 US dollars. No one else may have a
 * reference to `c`. -EINVAL: the message names the wrong text. */
int catalogue_set_rates(struct catalogue *c, const struct text_list *texts, struct err *e);

#endif
