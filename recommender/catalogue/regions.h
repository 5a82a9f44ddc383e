/* Finds regions by name, alias, country and continent. */
#ifndef RECOMMENDER_CATALOGUE_REGIONS_H
#define RECOMMENDER_CATALOGUE_REGIONS_H

#include "collectors/base/text_list.h"
#include "recommender/catalogue/catalogue.h"

/* Returns true if `list` contains `word`, ignoring case. `between` separates the words of the
 * list. */
bool region_list_has(const char *list, char between, const char *word);

/* Returns the part of `name` after "vendor~", or all of `name` if it has no "~". NULL = the vendor
 * in `name` is not `vendor_id`. */
const char *region_name_at_vendor(const char *name, const char *vendor_id);

/* Returns true if `name` is the region_id, api_reference, display_name or an alias of `r`, ignoring
 * case. "vendor~name" matches only regions of that vendor. */
bool region_is(const struct region *r, const char *name);

/* Returns the region's name in the vendor's own tools: "us-central1", "fsn1". Returns "" if the
 * name is unknown, or only a number. */
const char *region_typed(const struct region *r);

struct region_filter {
	struct text_list regions;    /* names, as in region_is */
	struct text_list countries;  /* ISO 3166-1 alpha-2 */
	struct text_list continents; /* "Europe", "North America", ... */
};

enum region_kind { REGION_NAME, REGION_COUNTRY, REGION_CONTINENT, REGION_KINDS };

/* A word of a filter that no region matches. */
struct region_unknown {
	enum region_kind kind; /* which list of the filter has the word */
	const char *word;
};

/* Finds the regions that match every non-empty list of the filter. *ret, in `arena`, has one flag
 * for each region of `c`: true = it matches. *ret is NULL if all lists are empty. Returns false if
 * a word matches no region; *unknown then has the first such word. `unknown` may be NULL. */
bool regions_find(const struct catalogue *c, const struct region_filter *p, struct arena *arena,
	const bool **ret, struct region_unknown *unknown);

#endif
