/*
 * Regions by any name that people and machines give them.
 */
#ifndef RECOMMENDER_CATALOGUE_REGIONS_H
#define RECOMMENDER_CATALOGUE_REGIONS_H

#include "collectors/base/text_list.h"
#include "recommender/catalogue/catalogue.h"

/* True when word is one of the words of list, which have this character between them; ignoring case. */
bool region_list_has(const char *list, char between, const char *word);

/* The name behind "vendor~", or all of one without it; NULL when it is for another vendor. */
const char *region_name_at_vendor(const char *name, const char *vendor_id);

/*
 * True when name is the region's region_id, api_reference, display_name or one of its aliases, ignoring case;
 * "vendor~name" only for that vendor.
 */
bool region_is(const struct region *r, const char *name);

struct region_filter {
	struct text_list regions;    /* as for region_is */
	struct text_list countries;  /* ISO 3166-1 alpha-2 */
	struct text_list continents; /* "Europe", "North America", ... */
};

/*
 * Which regions are in all of the lists that are not empty: one flag for each region of c, in arena; NULL when
 * all lists are empty. -ENOENT when a word fits no region of c: the sentence names it, and some that there are.
 */
int regions_find(const struct catalogue *c, const struct region_filter *p, struct arena *arena,
	const bool **ret, struct err *e);

#endif
