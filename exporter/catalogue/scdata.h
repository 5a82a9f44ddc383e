/* Reads a catalogue from an SQLite file in the schema of Spare Cores' sc-data: a copy of their
 * database, or the cache of exporter/catalogue/cache.h. Missing columns make their fields unknown.
 * Enum names may have either case ("ONDEMAND", "ondemand"). */
#ifndef EXPORTER_CATALOGUE_SCDATA_H
#define EXPORTER_CATALOGUE_SCDATA_H

#include "recommender/catalogue/catalogue.h"

/* Reads the file without changing it. Blocks meanwhile: about a second for the whole database.
 * -ENOENT: no such file; -EINVAL: not a database, or no servers and prices; the message names the
 * missing table. */
int catalogue_from_scdata(struct catalogue **ret, const char *path, struct err *e);

/* The same, but the catalogue names `source` as its origin instead of `path`. */
int catalogue_from_scdata_as(struct catalogue **ret, const char *path, const char *source,
	struct err *e);

#endif
