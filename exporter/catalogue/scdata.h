/* Reads a catalogue from an SQLite file in the schema of Spare Cores' sc-data: a copy of their
 * database, or the cache of exporter/catalogue/cache.h. If a column is missing, its field is
 * unknown in all rows. Enum names may have either case ("ONDEMAND", "ondemand"). */
#ifndef EXPORTER_CATALOGUE_SCDATA_H
#define EXPORTER_CATALOGUE_SCDATA_H

#include "recommender/catalogue/catalogue.h"

/* Reads the file and does not change it. Blocks for about a second with the whole database.
 * -ENOENT: no such file.
 * -EINVAL: the file is not a database, cannot be read, or lacks the table server or server_price.
 * The message names a missing table. -E2BIG: too many rows. */
int catalogue_from_scdata(struct catalogue **ret, const char *path, struct err *e);

/* Like catalogue_from_scdata, but sets the member `source` of the catalogue to `source`, not to
 * `path`. */
int catalogue_from_scdata_as(struct catalogue **ret, const char *path, const char *source,
	struct err *e);

#endif
