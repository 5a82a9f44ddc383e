/* Exchange rates that are compiled in, so that prices in other currencies can be compared without a
 * network. A catalogue uses them only for currencies that get no rate from its source or from
 * --catalogue.rate.
 *
 * Source: euro foreign exchange reference rates, which the European Central Bank publishes on each
 * working day. A customer who is billed in another currency pays a slightly different rate: rates
 * move by a few percent in a month. */
#ifndef RECOMMENDER_CATALOGUE_REFERENCE_RATES_H
#define RECOMMENDER_CATALOGUE_REFERENCE_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "recommender/catalogue/catalogue.h"

/* Returns the rate of a currency code, with its date and source. Ignores case. NULL = the table has
 * no rate for this code, or the code is USD. The result is static. */
const struct currency *reference_rate(const char *code);

/* Returns the i-th rate of the table; NULL past the last. */
const struct currency *reference_rate_at(size_t i);

/* Returns true when the rate is from this table. Such a rate is not saved with a catalogue, because
 * a later version of the program has a newer table. */
bool currency_is_reference(const struct currency *currency);

#endif
