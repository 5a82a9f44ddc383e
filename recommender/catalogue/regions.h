/* Finds regions by any of their names, by country and by continent. */
#ifndef RECOMMENDER_CATALOGUE_REGIONS_H
#define RECOMMENDER_CATALOGUE_REGIONS_H

#include "collectors/base/text_list.h"
#include "recommender/catalogue/catalogue.h"

/* True when word is in list, whose words are separated by between; ignores case. */
bool region_list_has(const char *list, char between, const char *word);

/* The part of name after "vendor~", or name without a "~"; NULL = the vendor is another one. */
const char *region_name_at_vendor(const char *name, const char *vendor_id);

/*
 * True when name is the region_id, api_reference, display_name or an alias of r, ignoring case.
 * "vendor~name" matches only regions of that vendor.
 */
bool region_is(const struct region *r, const char *name);

struct region_filter {
	struct text_list regions;    /* names, as in region_is */
	struct text_list countries;  /* ISO 3166-1 alpha-2 */
	struct text_list continents; /* "Europe", "North America", ... */
};

/*
 * Finds the regions that match every non-empty list. *ret: one flag per region of c, in arena; NULL
 * when all lists are empty. -ENOENT: a word matches no region; the message names the word and some
 * regions.
 */
int regions_find(const struct catalogue *c, const struct region_filter *p, struct arena *arena,
	const bool **ret, struct err *e);

#endif
