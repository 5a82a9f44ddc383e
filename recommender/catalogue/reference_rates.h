/* Exchange rates that are compiled in, so that prices in other currencies can be compared without a
 * network. A catalogue uses one where its source gives no rate. A rate of the source, and a rate of
 * --catalogue.rate, come first.
 *
 * Source: euro foreign exchange reference rates of the European Central Bank, which publishes them
 * on each working day for information. Who is billed in such a currency pays another rate: the
 * rates move by a few percent in a month. */
#ifndef RECOMMENDER_CATALOGUE_REFERENCE_RATES_H
#define RECOMMENDER_CATALOGUE_REFERENCE_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "recommender/catalogue/catalogue.h"

/* Returns the rate with its date and source. Upper and lower case are equal. NULL = the bank publishes none for this code, or the
 * code is USD. The result is static. */
const struct currency *reference_rate(const char *code);

/* Returns the i-th rate of the table; NULL past the last. */
const struct currency *reference_rate_at(size_t i);

/* Returns true when the rate is from this table. Such a rate is not saved with a catalogue: a later
 * program has a later table. */
bool currency_is_reference(const struct currency *currency);

#endif
