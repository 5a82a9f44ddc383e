#include "exporter/kubernetes/object_meta.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "collectors/naming/recognise.h"

/* Maximum number of owners of an object that are read. An object usually has one. */
#define OWNERS_MAX 16

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define NAME_CHARACTERS    "abcdefghijklmnopqrstuvwxyz0123456789-."
#define UID_CHARACTERS     LETTERS_AND_DIGITS "-"

/* Copies a member of an object that is a text and consists only of `characters`. Writes "" if it is
 * missing, has other characters, or does not fit. */
static void take_text(const json_t *object, const char *member, const char *characters, char *ret,
	size_t size)
{
	const json_t *text = json_object_get(object, member);
	const char *value = json_string_value(text);
	size_t len = json_string_length(text);

	ret[0] = '\0';
	if (value && len < size && strspn(value, characters) == len)
		text_copy(value, ret, size);
}

bool object_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len && len < POD_NAME_MAX && strspn(name, NAME_CHARACTERS) == len &&
	       name[0] != '.' && name[0] != '-' && !strstr(name, "..");
}

/* Reads the API group from the member apiVersion: the part of "batch/v1" before the slash. For the
 * core group ("v1"), it is "". */
static void take_group(const json_t *reference, char ret[POD_NAME_MAX])
{
	char version[POD_NAME_MAX];

	take_text(reference, "apiVersion", NAME_CHARACTERS "/", version, sizeof version);
	char *slash = strchr(version, '/');

	if (slash)
		*slash = '\0';
	text_copy(slash ? version : "", ret, POD_NAME_MAX);
}

static bool take_owner(const json_t *metadata, struct owner_reference *ret)
{
	const json_t *all = json_object_get(metadata, "ownerReferences");
	const json_t *chosen = NULL;
	size_t n = json_array_size(all);

	for (size_t i = 0; i < n && i < OWNERS_MAX; i++) {
		const json_t *one = json_array_get(all, i);
		bool manages = json_is_true(json_object_get(one, "controller"));

		if (json_is_object(one) && (!chosen || manages))
			chosen = one;
		if (manages)
			break;
	}
	if (!chosen)
		return false;
	take_group(chosen, ret->group);
	take_text(chosen, "kind", LETTERS_AND_DIGITS, ret->kind, sizeof ret->kind);
	take_text(chosen, "name", NAME_CHARACTERS, ret->name, sizeof ret->name);
	take_text(chosen, "uid", UID_CHARACTERS, ret->uid, sizeof ret->uid);
	return ret->kind[0] && object_name_is_valid(ret->name);
}

static void add_words(const json_t *all, struct buf *words)
{
	const char *key;
	const json_t *text;

	json_object_foreach((json_t *)(uintptr_t)all, key, text)
	{
		const char *value = json_string_value(text);
		size_t len = json_string_length(text);

		if (value && len && len <= OBJECT_WORD_MAX && strlen(value) == len &&
			recognise_is_pod_word((struct slice){key, strlen(key)}))
			buf_addf(words, "%s=%s%c", key, value, 0);
	}
}

int object_meta_read(struct slice json, struct object_meta *ret, struct buf *words, struct err *e)
{
	json_error_t why;
	json_t *document = json_loadb(json.data, json.len, JSON_ALLOW_NUL, &why);
	const json_t *metadata = json_object_get(document, "metadata");
	struct object_meta m = {0};

	take_text(metadata, "name", NAME_CHARACTERS, m.name, sizeof m.name);
	take_text(metadata, "uid", UID_CHARACTERS, m.uid, sizeof m.uid);
	take_text(metadata, "generateName", NAME_CHARACTERS, m.generate_name,
		sizeof m.generate_name);
	m.owned = take_owner(metadata, &m.owner);
	bool ok = object_name_is_valid(m.name) && m.uid[0];

	if (ok && words) {
		add_words(json_object_get(metadata, "annotations"), words);
		add_words(json_object_get(metadata, "labels"), words);
	}
	json_decref(document);
	if (!ok)
		return err_set(e, -EBADMSG, "the answer is no object with a name and a UID");
	*ret = m;
	return 0;
}
