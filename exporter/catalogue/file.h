/* Reads a catalogue from a file: an SQLite database in the schema of sc-data, an SQL dump of such a
 * database, a JSON array, or CSV. Each may be plain or packed with gzip. The first bytes show the
 * format; the file name does not matter. */
#ifndef EXPORTER_CATALOGUE_FILE_H
#define EXPORTER_CATALOGUE_FILE_H

#include "recommender/catalogue/catalogue.h"

struct catalogue_file_options {
	/* SQLite needs a real file, so a dump is written to a temporary database file. Its name is
	 * `scratch` with a random ending. If `scratch` is NULL, the file is in /tmp. */
	const char *scratch;
	/* Called with the number of bytes read so far. May be NULL. */
	void (*progress)(void *context, size_t bytes);
	void *progress_context;
};

/* Reads the catalogue. `path` "-" means standard input: a file, a pipe, a FIFO or a device. Any
 * other path must lead to a regular file or to a pipe of a shell, such as <(command). `o` may be
 * NULL.
 *
 * Returns -EINVAL without opening the file if it is a FIFO or a device. Returns -ENOENT, -EACCES or
 * a similar error when the file cannot be read. Returns -EINVAL when the format is unknown; the
 * message then says which format it probably is and how to convert it. */
int catalogue_from_file(struct catalogue **ret, const char *path,
	const struct catalogue_file_options *o, struct err *e);

#endif
