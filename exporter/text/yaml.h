/* Reads YAML files that users write, with libyaml. Reading is strict: an unknown key, a repeated
 * key or a value of the wrong type is an error. The error names the file, the line and the accepted
 * values. An array of struct yaml_key describes the keys of a mapping. The arena of struct yaml
 * owns the texts and arrays that are read. */
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
	const char *file;    /* name for error messages */
	struct arena *arena; /* owned by the caller */
};

/* Parses the first document of `text`. Returns -EINVAL when `text` is not YAML or is longer than
 * YAML_SIZE_MAX. If `text` is empty, yaml_open succeeds, and yaml_root returns NULL. `file` and
 * `arena` must outlive `y`. */
int yaml_open(struct yaml *y, const char *file, const char *text, size_t len, struct arena *arena,
	struct err *e);
void yaml_close(struct yaml *y);
yaml_node_t *yaml_root(struct yaml *y);
yaml_node_t *yaml_node(struct yaml *y, yaml_node_item_t index);

/* A function that reads one value into `*into`. For the value null, it is not called, and `*into`
 * stays unchanged. */
typedef int yaml_reader(struct yaml *y, yaml_node_t *value, void *into, struct err *e);

struct yaml_key {
	const char *name; /* NULL ends a table */
	yaml_reader *read;
	size_t offset; /* offset of the member in the struct to which `into` points */
};

/* Reads the mapping `node` into the struct `into`, by the table `keys`. `node` NULL, or the value
 * null, counts as an empty mapping. `subject` is the name of the mapping in error messages; "" =
 * the whole file. */
int yaml_mapping(struct yaml *y, yaml_node_t *node, const char *subject,
	const struct yaml_key *keys, void *into, struct err *e);

/* Sets `e` to "FILE:LINE: " and the message; the line is that of `node`. Returns -EINVAL. */
int yaml_error(const struct yaml *y, const yaml_node_t *node, struct err *e, const char *format,
	...) __attribute__((format(printf, 4, 5)));

yaml_reader yaml_text;     /* stores a const char *; accepts any scalar */
yaml_reader yaml_flag;     /* stores a bool; accepts true, yes, on, y, false, no, off, n */
yaml_reader yaml_count;    /* stores a uint64_t */
yaml_reader yaml_duration; /* stores a double in seconds; accepts 0, 1h30m, 250ms */
yaml_reader yaml_texts;    /* stores a struct text_list; accepts a list of scalars */

#endif
