/*
 * A catalogue from any file that holds one. What it is shows in its first bytes, not in its name: an SQLite
 * database (sc-data's), an SQL dump of one, a JSON array, or CSV; plain or packed with gzip.
 */
#ifndef EXPORTER_CATALOGUE_FILE_H
#define EXPORTER_CATALOGUE_FILE_H

#include "recommender/catalogue/catalogue.h"

struct catalogue_file_options {
	/* A dump is unpacked into a file of that name and a random ending; NULL = in /tmp. */
	const char *scratch;
	void (*progress)(void *context, size_t bytes); /* read so far; NULL = nobody listens */
	void *progress_context;
};

/*
 * path "-" is standard input; o may be NULL. -ENOENT, -EACCES, ...: cannot be read; -EINVAL: none of these, and the
 * sentence says what it seems to be, and what to do with it.
 */
int catalogue_from_file(struct catalogue **ret, const char *path,
	const struct catalogue_file_options *o, struct err *e);

#endif
