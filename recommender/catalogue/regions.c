#include "recommender/catalogue/regions.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

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

static const char *region_name(const struct region *r)
{
	return *r->api_reference ? r->api_reference : r->region_id;
}

static const char *region_country(const struct region *r)
{
	return r->country_id;
}

static const char *region_continent(const struct region *r)
{
	return r->continent;
}

const char *region_typed(const struct region *r)
{
	if (*r->api_reference)
		return r->api_reference;
	return r->region_id[strspn(r->region_id, "0123456789")] ? r->region_id : "";
}

/* A way to choose regions: by name, country or continent. */
struct region_choice {
	const char *kind;
	const char *(*name)(const struct region *r);
};

static const struct region_choice by_name = {"region", region_name};
static const struct region_choice by_country = {"country", region_country};
static const struct region_choice by_continent = {"continent", region_continent};

static bool is_chosen(const struct region_choice *way, const struct region *r, const char *word)
{
	if (way == &by_name)
		return region_is(r, word);
	return *word && strcasecmp(way->name(r), word) == 0;
}

static int no_such(const struct catalogue *c, const struct region_choice *way, const char *word,
	struct err *e)
{
	struct buf known = BUF_MAX(120);

	for (size_t i = 1; i < c->n_regions && !known.full; i++) {
		const char *name = way->name(&c->region[i]);
		size_t earlier = 1;

		while (earlier < i && strcmp(way->name(&c->region[earlier]), name) != 0)
			earlier++;
		if (*name && earlier == i)
			buf_addf(&known, "%s%s", known.len ? ", " : "", name);
	}
	int code = err_set(e, -ENOENT, "%s \"%.60s\" is not in the catalogue, which has %s%s",
		way->kind, word, known.len ? buf_text(&known) : "none", known.full ? ", ..." : "");

	buf_done(&known);
	return code;
}

/* Clears allowed[i] of each region that matches no word. -ENOENT: a word matches no region. */
static int keep_only(const struct catalogue *c, const struct text_list *words,
	const struct region_choice *way, bool *allowed, struct err *e)
{
	if (!words->n)
		return 0;
	for (size_t k = 0; k < words->n; k++) {
		bool found = false;

		for (size_t i = 1; i < c->n_regions && !found; i++)
			found = is_chosen(way, &c->region[i], words->text[k]);
		if (!found)
			return no_such(c, way, words->text[k], e);
	}
	for (size_t i = 1; i < c->n_regions; i++) {
		bool found = false;

		for (size_t k = 0; k < words->n && !found; k++)
			found = is_chosen(way, &c->region[i], words->text[k]);
		allowed[i] = allowed[i] && found;
	}
	return 0;
}

int regions_find(const struct catalogue *c, const struct region_filter *p, struct arena *arena,
	const bool **ret, struct err *e)
{
	bool *allowed = arena_alloc(arena, c->n_regions * sizeof *allowed);
	int code;

	if (!p->regions.n && !p->countries.n && !p->continents.n) {
		*ret = NULL;
		return 0;
	}
	for (size_t i = 1; i < c->n_regions; i++)
		allowed[i] = true;
	if ((code = keep_only(c, &p->regions, &by_name, allowed, e)) ||
		(code = keep_only(c, &p->countries, &by_country, allowed, e)) ||
		(code = keep_only(c, &p->continents, &by_continent, allowed, e)))
		return code;
	*ret = allowed;
	return 0;
}
