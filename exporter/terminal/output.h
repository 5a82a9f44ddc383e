/* Formats of a command's answer: tables for people, or JSON, YAML and CSV for programs. */
#ifndef EXPORTER_TERMINAL_OUTPUT_H
#define EXPORTER_TERMINAL_OUTPUT_H

#include <jansson.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"

enum output { OUTPUT_JSON, OUTPUT_TEXT, OUTPUT_YAML, OUTPUT_CSV, OUTPUTS };
extern const char *const output_name[OUTPUTS]; /* "json", "text", "yaml", "csv" */

/* Finds the format with this name. Returns false if there is none. */
bool output_find(const char *name, enum output *ret);

/* Appends a JSON document as YAML 1.2. All texts are quoted as in JSON, so that YAML reads none
 * of them as another type. */
void output_yaml(struct buf *out, const json_t *document);

/* Appends the objects of an array as CSV (RFC 4180): the keys of all objects are the columns, in
 * the order in which they first appear. A nested value is written as JSON. */
void output_csv(struct buf *out, const json_t *array);

#endif
