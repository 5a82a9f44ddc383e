/* Exchange rates that the user gives with the option --catalogue.rate. They replace the rates of
 * the catalogue. */
#ifndef EXPORTER_CATALOGUE_RATES_H
#define EXPORTER_CATALOGUE_RATES_H

#include "collectors/base/err.h"
#include "recommender/catalogue/catalogue.h"
#include "recommender/catalogue/regions.h"

/* Sets the rates of `c` from texts such as "EUR=1.16": one euro is 1.16 US dollars. The caller must
 * own the only reference to `c`. -EINVAL: the message names the wrong text. */
int catalogue_set_rates(struct catalogue *c, const struct text_list *texts, struct err *e);

#endif
