/* Reads JSON several times as fast as jansson, because an exporter may receive thousands of
 * messages at once. A tree points into its text and its arena: both must live as long as the
 * tree. */
#ifndef EXPORTER_CORE_JSON_TREE_H
#define EXPORTER_CORE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

enum json_node_kind {
	NODE_NULL,
	NODE_FALSE,
	NODE_TRUE,
	NODE_WHOLE,  /* a number that was written without a point and an exponent: `whole` */
	NODE_NUMBER, /* another number, or a whole number outside int64_t: `number` */
	NODE_TEXT,
	NODE_ARRAY,
	NODE_OBJECT,
};

struct json_node {
	enum json_node_kind kind;
	struct slice name; /* of a member of an object */
	union {
		int64_t whole;
		double number; /* infinity if it is too large for a double */
		/* May contain NULs and invalid UTF-8. */
		struct slice text;
		struct { /* the members of an object are sorted: short names first */
			const struct json_node *child;
			size_t n;
		};
	};
	/* A member, at any depth below this node, whose name occurs twice in its object. NULL =
	 * every name occurs once. */
	const struct json_node *twice;
};

/* Reads a text that is one array or one object. Returns -EINVAL for any other text; `e` then says
 * what is expected, and where. */
int json_tree_read(struct json_node *ret, struct slice text, struct arena *arena, struct err *e);

/* Returns the member with this name. Returns NULL if there is none, or if `object` is no
 * object. */
const struct json_node *json_node_find(const struct json_node *object, const char *name);

bool json_node_is_number(const struct json_node *v);
double json_node_number(const struct json_node *v); /* NaN = no number */

/* Like json_is_in_range (exporter/core/json.h). */
bool json_node_is_in_range(const struct json_node *v, double least, double most);

#endif
