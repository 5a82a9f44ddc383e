/* What a catalogue holds, as text for people: the answers of "catalogue info" and "catalogue search". */
#ifndef EXPORTER_CATALOGUE_TEXT_H
#define EXPORTER_CATALOGUE_TEXT_H

#include "collectors/base/buf.h"
#include "recommender/catalogue/catalogue.h"

/* age_seconds: since it was fetched; NaN = it was not. */
void catalogue_info(struct buf *out, const struct catalogue *c, double age_seconds);

/*
 * The active servers whose server_id, api_reference, display_name or family contains text, ignoring case, cheapest
 * first; at most limit lines below the heading. Answers how many there are.
 */
size_t catalogue_search(struct buf *out, const struct catalogue *c, const char *text, size_t limit);

#endif
