/* Names of GPUs: their manufacturer, and whether two names are of one model. Any thread. */
#ifndef RECOMMENDER_CATALOGUE_GPUS_H
#define RECOMMENDER_CATALOGUE_GPUS_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"

/* Returns the manufacturer of the server's GPUs, for a source that does not name it: "NVIDIA", "AMD"
 * and so on. The model decides or, if it does not, the name of the server. "" = unknown. */
const char *gpus_manufacturer(const struct server *s);

/* Returns true if `a` and `b` can be names of the same model. Drivers say "Tesla V100-SXM2-16GB" where
 * catalogues say "V100": one of the names contains the other as whole words, ignoring case. */
bool gpus_same_model(const char *a, const char *b);

#endif
