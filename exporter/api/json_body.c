/* Reads JSON objects into structs. */
#include "exporter/api/json_body.h"

#include <math.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"

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

static void add_accepted(struct buf *out, const struct json_body_key *k)
{
	switch (k->kind) {
	case BODY_TEXT:
		buf_addf(out, "a text of %.0f to %.0f bytes without control characters", k->least,
			k->most);
		break;
	case BODY_WHOLE:
		buf_addf(out, "a whole number from %.0f to %.0f", k->least, k->most);
		break;
	case BODY_CORES:
		buf_addf(out, "a number of cores, or a text such as \"500m\", from %g to %g",
			k->least, k->most);
		break;
	case BODY_BYTES:
		buf_addf(out,
			"a whole number of bytes, or a text such as \"512M\", \"4Gi\" or \"8GB\", "
			"from %.0f to %.0f",
			k->least, k->most);
		break;
	case BODY_FLAG:
		buf_adds(out, "true or false");
		break;
	case BODY_OBJECT:
		buf_adds(out, "an object");
		break;
	}
}

static bool take_value(const struct json_body_key *k, const json_t *value, void *field)
{
	double v = json_is_number(value) ? json_number_value(value) : (double)NAN;
	const char *text = json_string_value(value);
	const struct slice words = {text, json_string_length(value)};

	if (text && k->kind == BODY_CORES)
		quantity_cores(words, &v);
	if (text && k->kind == BODY_BYTES)
		quantity_bytes(words, QUANTITY_OF_PEOPLE, 0, &v);
	switch (k->kind) {
	case BODY_TEXT:
		if (!text || strlen(text) != json_string_length(value) || !utf8_plain(text) ||
			(double)strlen(text) < k->least || (double)strlen(text) > k->most)
			return false;
		*(const char **)field = text;
		return true;
	case BODY_WHOLE:
	case BODY_CORES:
	case BODY_BYTES:
		if (!(v >= k->least && v <= k->most) || (k->kind != BODY_CORES && v != floor(v)))
			return false;
		*(double *)field = v;
		return true;
	case BODY_FLAG:
		*(bool *)field = json_is_true(value);
		return json_is_boolean(value);
	case BODY_OBJECT:
		*(const json_t **)field = value;
		return json_is_object(value);
	}
	return false;
}

static bool refuse_unknown(const char *subject, const char *name, const struct json_body_key *keys,
	struct reply *r)
{
	struct buf message = BUF_MAX(MESSAGE_MAX);
	char shown[64];

	utf8_clean(name, strlen(name), shown, sizeof shown);
	buf_addf(&message, "%s has no key \"%s\"; there are:", subject, shown);
	for (const struct json_body_key *k = keys; k->name; k++)
		buf_addf(&message, "%s %s", k == keys ? "" : ",", k->name);
	return refuse(r, &message);
}

static const struct json_body_key *find_key(const struct json_body_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

bool json_body_read(const json_t *object, const char *subject, const struct json_body_key *keys,
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
	for (const struct json_body_key *k = keys; k->name; k++) {
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
		add_accepted(&message, k);
		return refuse(r, &message);
	}
	return true;
}
