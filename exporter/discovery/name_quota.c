#include "exporter/discovery/name_quota.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

static struct quota_name *find_name(const struct name_quota *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (strcmp(j->name[i].name, name) == 0)
			return &j->name[i];
	return NULL;
}

static size_t places(const struct name_quota *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->name[i].held > 0;
	return n;
}

static size_t places_of(const struct name_quota *j, uint64_t user)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->name[i].held && j->name[i].user == user)
			return j->name[i].held;
	return 0;
}

static void set_places(struct name_quota *j, uint64_t user, size_t held)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->name[i].held && j->name[i].user == user)
			j->name[i].held = held;
}

static void give_place(struct name_quota *j, struct quota_name *to, uint64_t user)
{
	to->user = user;
	to->held = places_of(j, user) + 1;
	set_places(j, user, to->held);
}

static void take_place(struct name_quota *j, struct quota_name *from)
{
	size_t left = from->held - 1;

	from->held = 0;
	set_places(j, from->user, left);
}

/* Returns the name whose last run began longest ago. `with_place`: true = among the names that have
 * a place (name_quota.h), false = among the names that lost theirs. NULL = there is none. */
static struct quota_name *oldest(const struct name_quota *j, bool with_place)
{
	struct quota_name *ret = NULL;

	for (size_t i = 0; i < j->n; i++) {
		struct quota_name *n = &j->name[i];

		if ((n->held > 0) == with_place && (!ret || n->used.ns < ret->used.ns))
			ret = n;
	}
	return ret;
}

static bool rests(const struct quota_name *n, struct mono now)
{
	return n && mono_seconds_between(n->used, now) >= JOB_NAME_REST_SECONDS;
}

/* Returns the name that gives up its place first: a name of `user` that has a place but no active
 * run. If there are several, it is the one whose last run began longest ago. If `user` is NULL, it
 * is a name of the user with the most places. NULL = there is none. */
static struct quota_name *idle(const struct name_quota *j, const uint64_t *user)
{
	struct quota_name *ret = NULL;

	for (size_t i = 0; i < j->n; i++) {
		struct quota_name *n = &j->name[i];

		if (!n->held || n->runs || (user && n->user != *user))
			continue;
		if (!ret || n->held > ret->held ||
			(n->held == ret->held && n->used.ns < ret->used.ns))
			ret = n;
	}
	return ret;
}

/* Call it when all places are taken and a run begins whose name has no place. Returns the name that
 * must give up its place (rules: name_quota.h), or NULL when the new run's name gets no place. If
 * several names can give up their places, returns the one whose last run began longest ago.
 * `known`: the entry of the new run's name; NULL = the name is not remembered. */
static struct quota_name *name_to_replace(const struct name_quota *j,
	const struct quota_name *known, uint64_t user, struct mono now)
{
	struct quota_name *last = oldest(j, true), *most = idle(j, NULL);
	struct quota_name *own = known && known->user == user ? idle(j, &user) : NULL;

	if (rests(last, now))
		return last;
	if (known)
		return own ? own : most;
	if (j->n >= 2 * j->max && !rests(oldest(j, false), now))
		return NULL;
	return most && most->held > places_of(j, user) + 1 ? most : NULL;
}

static struct quota_name *add_name(struct name_quota *j, const char *name, struct mono now)
{
	struct quota_name *ret = oldest(j, false);

	if (!rests(ret, now)) {
		GROW(j->name, j->n, j->room);
		ret = &j->name[j->n++];
	}
	*ret = (struct quota_name){0};
	text_copy(name, ret->name, sizeof ret->name);
	return ret;
}

bool name_quota_admit(struct name_quota *j, const char *name, uint64_t user, struct mono now)
{
	struct quota_name *n = find_name(j, name);

	if (!n || !n->held) {
		if (places(j) >= j->max) {
			struct quota_name *from = name_to_replace(j, n, user, now);

			if (!from)
				return false;
			take_place(j, from);
		}
		if (!n)
			n = add_name(j, name, now);
		give_place(j, n, user);
	}
	n->used = now;
	n->runs++;
	return true;
}

void name_quota_ended(struct name_quota *j, const char *name)
{
	struct quota_name *n = find_name(j, name);

	if (n && n->runs)
		n->runs--;
}

void name_quota_done(struct name_quota *j)
{
	free(j->name);
	*j = (struct name_quota){0};
}
