/* Reads JSON objects into structs. */
#include "exporter/api/json_body.h"

#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "exporter/core/json.h"

#define MESSAGE_MAX 1024

static bool refuse(struct reply *r, struct buf *message)
{
	reply_error(r, 400, "bad_body", "%s", buf_text(message));
	buf_done(message);
	return false;
}

json_t *json_body_parse(struct slice body, struct reply *r)
{
	struct buf message = BUF_MAX(MESSAGE_MAX);
	json_error_t e = {0};
	json_t *ret = body.len ? json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, &e) : NULL;

	if (json_is_object(ret))
		return ret;
	if (body.len == 0)
		buf_adds(&message, "the body must be a JSON object; it is empty");
	else if (ret)
		buf_adds(&message, "the body must be a JSON object");
	else
		buf_addf(&message, "the body must be a JSON object; line %d: %s",
			e.line > 0 ? e.line : 1, e.text);
	json_decref(ret);
	refuse(r, &message);
	return NULL;
}

/* Returns the accepted word that equals `text`, or NULL. */
static const char *choice_of(const struct json_key *k, struct slice text)
{
	const char *word;

	for (size_t i = 0; text.data && (word = k->choice(i)); i++)
		if (slice_is(text, word))
			return word;
	return NULL;
}

static bool is_whole(enum json_key_kind kind)
{
	return kind == KEY_WHOLE || kind == KEY_BYTES;
}

static bool take_value(const struct json_key *k, const json_t *value, void *field)
{
	double v = json_number(value);
	const char *text = json_string_value(value);
	const struct slice words = {text, json_string_length(value)};

	if (text && k->kind == KEY_CORES)
		quantity_cores(words, &v);
	if (text && k->kind == KEY_BYTES)
		quantity_bytes(words, QUANTITY_OF_PEOPLE, 0, &v);
	switch (k->kind) {
	case KEY_TEXT:
		if (!text || strlen(text) != json_string_length(value) || !utf8_plain(text) ||
			(double)strlen(text) < k->least || (double)strlen(text) > k->most)
			return false;
		*(const char **)field = text;
		return true;
	case KEY_WHOLE:
	case KEY_NUMBER:
	case KEY_CORES:
	case KEY_BYTES:
		if (!(v >= k->least && v <= k->most) || (is_whole(k->kind) && v != floor(v)) ||
			(!text && !json_is_in_range(value, k->least, k->most)))
			return false;
		*(double *)field = v;
		return true;
	case KEY_FLAG:
		*(bool *)field = json_is_true(value);
		return json_is_boolean(value);
	case KEY_CHOICE:
		*(const char **)field = choice_of(k, words);
		return *(const char **)field;
	case KEY_OBJECT:
		*(const json_t **)field = value;
		return json_is_object(value);
	case KEY_COUNT:
	case KEY_LIST:
	case KEY_TIME:
	case KEY_UNREAD:
		break;
	}
	return false;
}

static bool refuse_unknown(const char *subject, const char *name, const struct json_key *keys,
	struct reply *r)
{
	struct buf message = BUF_MAX(MESSAGE_MAX);
	char shown[64];

	utf8_clean(name, strlen(name), shown, sizeof shown);
	buf_addf(&message, "%s has no key \"%s\"; there are:", subject, shown);
	for (const struct json_key *k = keys; k->name; k++)
		buf_addf(&message, "%s %s", k == keys ? "" : ",", k->name);
	return refuse(r, &message);
}

static const struct json_key *find_key(const struct json_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

bool json_body_read(const json_t *object, const char *subject, const struct json_key *keys,
	void *into, struct reply *r)
{
	struct buf message = BUF_MAX(MESSAGE_MAX);
	const char *name;
	json_t *value, *all = (json_t *)(uintptr_t)object;

	json_object_foreach(all, name, value)
	{
		if (!find_key(keys, name))
			return refuse_unknown(subject, name, keys, r);
	}
	for (const struct json_key *k = keys; k->name; k++) {
		value = json_object_get(object, k->name);
		if (json_is_null(value) || !value) {
			if (!k->required)
				continue;
			buf_addf(&message, "%s needs %s: ", subject, k->name);
		} else if (take_value(k, value, (char *)into + k->offset)) {
			continue;
		} else {
			buf_addf(&message, "%s of %s: accepted is ", k->name, subject);
		}
		json_key_accepts(k, &message);
		return refuse(r, &message);
	}
	return true;
}
