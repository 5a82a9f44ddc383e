/* Names of GPUs: their manufacturer, and whether two names mean the same. Any thread. */
#ifndef RECOMMENDER_CATALOGUE_GPUS_H
#define RECOMMENDER_CATALOGUE_GPUS_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"

/* Returns the manufacturer of the server's GPUs, for a source that does not name it: "NVIDIA", "AMD"
 * and so on. The model decides or, if it does not, the name of the server. "" = unknown. */
const char *gpus_manufacturer(const struct server *s);

/* Returns true if `a` and `b` can be names of the same model, or of the same manufacturer: one of the
 * names contains the other as whole words, ignoring case. Examples: a driver says "Tesla
 * V100-SXM2-16GB", and a catalogue "V100". A list of PCI devices says "NVIDIA Corporation". */
bool gpus_same_name(const char *a, const char *b);

#endif
