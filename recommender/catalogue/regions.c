#include "recommender/catalogue/regions.h"

#include <string.h>
#include <strings.h>

bool region_list_has(const char *list, char between, const char *word)
{
	const char separator[] = {between, '\0'};
	size_t n = strlen(word);

	for (const char *at = list; *at && n;) {
		size_t len = strcspn(at, separator);

		if (len == n && strncasecmp(at, word, n) == 0)
			return true;
		at += len + (at[len] == between);
	}
	return false;
}

const char *region_name_at_vendor(const char *name, const char *vendor_id)
{
	const char *tilde = strchr(name, '~');
	size_t n = tilde ? (size_t)(tilde - name) : 0;

	if (!tilde)
		return name;
	return strlen(vendor_id) == n && strncasecmp(vendor_id, name, n) == 0 ? tilde + 1 : NULL;
}

bool region_is(const struct region *r, const char *name)
{
	name = region_name_at_vendor(name, r->vendor_id);
	return name && *name &&
	       (strcasecmp(r->region_id, name) == 0 || strcasecmp(r->api_reference, name) == 0 ||
		       strcasecmp(r->display_name, name) == 0 ||
		       region_list_has(r->aliases, '|', name));
}

const char *region_typed(const struct region *r)
{
	if (*r->api_reference)
		return r->api_reference;
	return r->region_id[strspn(r->region_id, "0123456789")] ? r->region_id : "";
}

static bool is_chosen(const struct region *r, enum region_kind kind, const char *word)
{
	if (kind == REGION_NAME)
		return region_is(r, word);
	return *word &&
	       strcasecmp(kind == REGION_COUNTRY ? r->country_id : r->continent, word) == 0;
}

/* Sets allowed[i] to false for each region that matches none of the words. Returns the first word
 * that matches no region of the catalogue, or NULL. */
static const char *keep_only(const struct catalogue *c, const struct text_list *words,
	enum region_kind kind, bool *allowed)
{
	for (size_t k = 0; k < words->n; k++) {
		bool found = false;

		for (size_t i = 1; i < c->n_regions && !found; i++)
			found = is_chosen(&c->region[i], kind, words->text[k]);
		if (!found)
			return words->text[k];
	}
	for (size_t i = 1; i < c->n_regions && words->n; i++) {
		bool found = false;

		for (size_t k = 0; k < words->n && !found; k++)
			found = is_chosen(&c->region[i], kind, words->text[k]);
		allowed[i] = allowed[i] && found;
	}
	return NULL;
}

bool regions_find(const struct catalogue *c, const struct region_filter *p, struct arena *arena,
	const bool **ret, struct region_unknown *unknown)
{
	const struct text_list *const words[REGION_KINDS] = {
		[REGION_NAME] = &p->regions,
		[REGION_COUNTRY] = &p->countries,
		[REGION_CONTINENT] = &p->continents,
	};
	bool *allowed = arena_alloc(arena, c->n_regions * sizeof *allowed), asked = false;

	for (size_t i = 1; i < c->n_regions; i++)
		allowed[i] = true;
	for (unsigned kind = 0; kind < REGION_KINDS; kind++) {
		const char *wrong = keep_only(c, words[kind], (enum region_kind)kind, allowed);

		if (wrong && unknown)
			*unknown = (struct region_unknown){(enum region_kind)kind, wrong};
		if (wrong)
			return false;
		asked = asked || words[kind]->n;
	}
	*ret = asked ? allowed : NULL;
	return true;
}
