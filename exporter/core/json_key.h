/* Tables that list the keys of a JSON object: of the body of a POST request, or of the top level of
 * an answer. exporter/api/json_body.h and exporter/forward/run_message.h read bodies by these
 * tables. The manual and /openapi.json (exporter/api/openapi.h) are made from the same tables. A
 * table is a constant array of struct json_key that ends with a `name` of NULL. */
#ifndef EXPORTER_CORE_JSON_KEY_H
#define EXPORTER_CORE_JSON_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/buf.h"

/* The type of a key's value. Each comment first names the C type of the member at json_key.offset
 * that receives the value. */
enum json_key_kind {
	KEY_TEXT,   /* const char *: UTF-8 without control characters, least..most bytes */
	KEY_WHOLE,  /* double without a fraction, least..most */
	KEY_NUMBER, /* double, least..most */
	KEY_COUNT,  /* uint64_t, least..most */
	KEY_CORES,  /* double, least..most: a number of CPUs, or a text such as "500m" */
	KEY_BYTES,  /* double, least..most: whole bytes, or a text such as "4Gi" */
	KEY_FLAG,   /* bool */
	KEY_CHOICE, /* const char *: one of the words of `choice`, in exactly this case */
	KEY_OBJECT, /* json_t *, borrowed */
	KEY_LIST,   /* only of answers: an array */
	/* double, least..most: seconds since 1970 UTC, or a text in RFC 3339. An answer has such a
	 * text in UTC. */
	KEY_TIME,
	KEY_UNREAD, /* any value; the program ignores it */
};

struct json_key {
	/* Name of the key. KEY_ANY = any name that the table does not list. In a table without
	 * KEY_ANY, an unlisted name is an error. */
	const char *name;
	enum json_key_kind kind;
	/* In a body: the key must be present, and its value must not be null. In an answer: the key
	 * is always present. */
	bool required;
	double least, most;
	/* Offset of the member that gets the value. If the key is absent or null, the member is
	 * unchanged. */
	size_t offset;
	/* unit of the value in the plural, such as "seconds"; NULL = no unit */
	const char *unit;
	const char *(*choice)(size_t i); /* returns the i-th accepted word; NULL past the last */
	const struct json_key *members;  /* keys of the object; NULL = not described */
	const char *help;                /* one sentence without a full stop */
};

#define KEY_ANY "*"

/* Appends a description of the accepted values: "a whole number from 1 to 9". */
void json_key_accepts(const struct json_key *k, struct buf *out);

/* Table entries that describe two keys of json_put_job: namespace and cluster. */
/* clang-format off */
#define JOB_PLACE_KEYS \
	{"namespace", KEY_TEXT, .help = "Namespace of the job, if it has one"}, \
	{"cluster", KEY_TEXT, .help = "Cluster of the job, if it has one"}
/* clang-format on */

#endif
