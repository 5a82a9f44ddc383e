/* Reads a catalogue from a file. The first bytes decide the format, not the name: an SQLite
 * database in the schema of sc-data, an SQL dump of that database, a JSON array, or CSV. Each may
 * be plain or packed with gzip. */
#ifndef EXPORTER_CATALOGUE_FILE_H
#define EXPORTER_CATALOGUE_FILE_H

#include "recommender/catalogue/catalogue.h"

struct catalogue_file_options {
	/* SQLite needs a real file, so a dump is unpacked into a temporary file. The file's name is
	 * `scratch` and a random ending; NULL = a name in /tmp. */
	const char *scratch;
	void (*progress)(void *context, size_t bytes); /* bytes read; may be NULL */
	void *progress_context;
};

/* Reads the catalogue. The path "-" means standard input; `o` may be NULL. Errors: -ENOENT, -EACCES
 * and similar when the file cannot be read, -EINVAL when the format is unknown. The message then
 * names the likely format and how to convert the file. */
int catalogue_from_file(struct catalogue **ret, const char *path,
	const struct catalogue_file_options *o, struct err *e);

#endif
