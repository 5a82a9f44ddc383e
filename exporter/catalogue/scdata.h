/*
 * A catalogue from an SQLite file in the schema of Spare Cores' sc-data: one's own copy of their database, or
 * the cache that exporter/catalogue/cache.h writes. Columns that a version of the schema lacks are unknown;
 * names of enums may be spelled either way ("ONDEMAND", "ondemand").
 */
#ifndef EXPORTER_CATALOGUE_SCDATA_H
#define EXPORTER_CATALOGUE_SCDATA_H

#include "recommender/catalogue/catalogue.h"

/*
 * Read only; blocks for as long as reading takes (a second for the whole database). -ENOENT: no such file;
 * -EINVAL: no database, or none with servers and prices; the sentence says which table is missing.
 */
int catalogue_from_scdata(struct catalogue **ret, const char *path, struct err *e);

/* The same, calling itself source instead of path. */
int catalogue_from_scdata_as(struct catalogue **ret, const char *path, const char *source,
	struct err *e);

#endif
