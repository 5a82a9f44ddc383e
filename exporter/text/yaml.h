/*
 * Reads YAML files of users strictly, by libyaml. An unknown or repeated key or a value of the
 * wrong type is an error that names the file, the line and the accepted values. A table of struct
 * yaml_key describes each mapping. Texts and arrays live in the arena of struct yaml.
 */
#ifndef EXPORTER_TEXT_YAML_H
#define EXPORTER_TEXT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/base/text_list.h"

#define YAML_SIZE_MAX ((size_t)1 << 20)

struct yaml {
	yaml_document_t document;
	const char *file;    /* for error messages */
	struct arena *arena; /* the caller's */
};

/*
 * Parses the first document of text. -EINVAL: not YAML, or longer than YAML_SIZE_MAX. The root of
 * an empty text is NULL. file and arena must outlive y.
 */
int yaml_open(struct yaml *y, const char *file, const char *text, size_t len, struct arena *arena,
	struct err *e);
void yaml_close(struct yaml *y);
yaml_node_t *yaml_root(struct yaml *y);
yaml_node_t *yaml_node(struct yaml *y, yaml_node_item_t index);

/* Reads one value into *into. Not called for null, which leaves *into unchanged. */
typedef int yaml_reader(struct yaml *y, yaml_node_t *value, void *into, struct err *e);

struct yaml_key {
	const char *name; /* NULL ends a table */
	yaml_reader *read;
	size_t offset; /* of the member to fill, in the struct into of yaml_mapping */
};

/* Reads a mapping (NULL or null: empty). subject names it in errors; "" = the whole file. */
int yaml_mapping(struct yaml *y, yaml_node_t *node, const char *subject,
	const struct yaml_key *keys, void *into, struct err *e);

/* Sets e to "FILE:LINE: " and the message. Returns -EINVAL. */
int yaml_error(const struct yaml *y, const yaml_node_t *node, struct err *e, const char *format,
	...) __attribute__((format(printf, 4, 5)));

yaml_reader yaml_text;     /* const char *; any scalar */
yaml_reader yaml_flag;     /* bool; true, false, yes, no, on, off */
yaml_reader yaml_count;    /* uint64_t */
yaml_reader yaml_duration; /* double, seconds; 0, or numbers with units as in 1h30m, 250ms */
yaml_reader yaml_texts;    /* struct text_list; a list of scalars */

#endif
