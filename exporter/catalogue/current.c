/* Loads the catalogue, keeps it in memory, and loads it again when its file changed. */
#include "exporter/catalogue/current.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/base/scan.h"
#include "exporter/catalogue/cache.h"
#include "exporter/catalogue/file.h"
#include "exporter/catalogue/rates.h"

#define DAY 86400.0
/* Vendors change prices every few weeks, so an old catalogue is stale. A built-in or imported
 * catalogue is stale after STALE_SECONDS. A fetched catalogue is stale after STALE_REFRESHES times
 * the refresh interval. */
#define STALE_SECONDS   (30 * DAY)
#define STALE_REFRESHES 3.0

/* Properties of a file. If the file changes, one of them differs. */
struct catalogue_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	int64_t modified_ns;
};

struct current_catalogue {
	struct current_catalogue_config config;
	pthread_mutex_t lock; /* guards the members below */
	struct catalogue *catalogue;
	struct catalogue_stamp stamp; /* stamp of the loaded file; all members 0 = no file */
	struct cache_origin origin;   /* origin.at 0 = the catalogue is not from the cache */
	struct mono used;
	struct catalogue_stamp warned; /* stamp of the cache at the last call of config.warn */
	bool silent; /* the file is a pipe, and no catalogue could be read from it */
	struct fetcher *fetcher;
	struct err no_fetcher; /* why the fetcher could not start */
};

static struct catalogue_stamp stamp_of(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) != 0)
		return (struct catalogue_stamp){0};
	return (struct catalogue_stamp){st.st_dev, st.st_ino, st.st_size,
		st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec};
}

static bool is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static bool same_stamp(const struct catalogue_stamp *a, const struct catalogue_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->modified_ns == b->modified_ns;
}

struct current_catalogue *current_catalogue_new(const struct current_catalogue_config *config)
{
	struct current_catalogue *s = xcalloc(1, sizeof *s);

	s->config = *config;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void current_catalogue_free(struct current_catalogue *s)
{
	if (!s)
		return;
	fetcher_stop(s->fetcher);
	catalogue_free(s->catalogue);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Sets the user's exchange rates in `take`, and makes it the current catalogue. Takes over the
 * caller's reference, which must be the only one, because the rates change `take`. */
static int put_catalogue(struct current_catalogue *s, struct catalogue *take, struct err *e)
{
	int code = catalogue_set_rates(take, &s->config.fetcher.rates, e);

	if (code) {
		catalogue_free(take);
		return code;
	}
	catalogue_free(s->catalogue);
	s->catalogue = take;
	return 0;
}

static int load_file(struct current_catalogue *s, struct err *e)
{
	struct catalogue_stamp now = stamp_of(s->config.path);
	struct catalogue *c = NULL;
	int code;

	/* A pipe can be read only once. Do not try a second time, because the read would block all
	 * callers. */
	bool pipe = is_kind(s->config.path, S_IFIFO);

	if (s->catalogue && (pipe || same_stamp(&now, &s->stamp)))
		return 0;
	if (pipe && s->silent)
		return err_set(e, -ENODATA, "%s is a pipe, and no catalogue came out of it",
			s->config.path);
	code = catalogue_from_file(&c, s->config.path, NULL, e);
	s->silent = pipe && code;
	if (code == 0)
		code = put_catalogue(s, c, e);
	if (code == 0)
		s->stamp = now;
	return code;
}

/* Call it when a read of the cache failed with the error `code`. Returns 0 if the catalogue in
 * memory stays in use: it came from the cache, and the built-in catalogue has older prices. Returns
 * -ENOENT if no catalogue from the cache is in memory, or if the cache file is gone. */
static int go_on_without_cache(struct current_catalogue *s, int code,
	const struct catalogue_stamp *now, const struct err *e)
{
	if (code != -ENOENT && s->config.warn && !same_stamp(now, &s->warned)) {
		s->warned = *now;
		s->config.warn(e->text);
	}
	return code != -ENOENT && s->catalogue && s->origin.at.ns ? 0 : -ENOENT;
}

/* Loads the cached catalogue if it has changed. Each fetched page changes the file, but the
 * catalogue in the file changes only at the end of a fetch. The catalogue is therefore loaded only
 * if its origin has changed, too. Otherwise only its age is updated. -ENOENT: no catalogue is
 * cached. */
static int load_cache(struct current_catalogue *s)
{
	const char *path = s->config.fetcher.source.cache_path;
	struct catalogue_stamp now = stamp_of(path);
	struct cache_origin origin;
	struct catalogue *c = NULL;
	struct err e = {0};

	if (!now.inode)
		return -ENOENT;
	if (s->catalogue && s->origin.at.ns && same_stamp(&now, &s->stamp))
		return 0;
	int code = catalogue_cache_origin(&origin, path, &e);

	if (code)
		return go_on_without_cache(s, code, &now, &e);
	bool known = s->catalogue && s->origin.at.ns &&
		     strcmp(origin.source, s->origin.source) == 0 &&
		     (origin.at.ns == s->origin.at.ns ||
			     (*origin.hash && strcmp(origin.hash, s->origin.hash) == 0 &&
				     strcmp(origin.source_text, s->origin.source_text) == 0));

	if (!known)
		code = catalogue_cache_load(&c, &origin, path, &e);
	if (code == 0 && c)
		code = put_catalogue(s, c, &e);
	if (code)
		return go_on_without_cache(s, code, &now, &e);
	s->origin = origin;
	s->stamp = now;
	return 0;
}

static int load_built_in(struct current_catalogue *s, struct err *e)
{
	struct catalogue *c = NULL;

	if (s->catalogue && !s->origin.at.ns)
		return 0;
	int code = catalogue_built_in(&c, e);

	if (code == 0)
		code = put_catalogue(s, c, e);
	if (code == 0)
		s->origin = (struct cache_origin){0};
	return code;
}

/* Makes the newest fetched catalogue the current one if it could not be written to the cache.
 * Returns false if it is in the cache, or if none was fetched. */
static bool take_fetched(struct current_catalogue *s)
{
	struct catalogue *c = s->fetcher ? fetcher_catalogue(s->fetcher) : NULL;
	struct fetcher_state state;

	if (!c)
		return false;
	if (c == s->catalogue) {
		catalogue_free(c);
		return true;
	}
	fetcher_state(s->fetcher, &state);
	catalogue_free(s->catalogue);
	s->catalogue = c;
	s->origin = (struct cache_origin){.at = state.fetched_at};
	return true;
}

static int load_catalogue(struct current_catalogue *s, struct err *e)
{
	if (s->config.path)
		return load_file(s, e);
	if (take_fetched(s) || load_cache(s) == 0)
		return 0;
	return load_built_in(s, e);
}

/* Returns the time at which a date begins, in seconds since 1970 UTC. The date is a year, a month
 * or a day: "2026", "2026-08" or "2026-08-22". NaN = not a date. */
static double date_seconds(const char *date)
{
	struct scan s = SCAN(date, strlen(date));
	uint64_t year, month = 1, day = 1;

	if (!scan_u64(&s, &year) || year < 1970 || year > 9999)
		return NAN;
	if (scan_char(&s, '-') && scan_u64(&s, &month) && scan_char(&s, '-') && !scan_u64(&s, &day))
		day = 1;
	if (month < 1 || month > 12 || day < 1 || day > 31)
		return NAN;
	struct tm at = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};

	return (double)timegm(&at);
}

/* Returns the seconds from the time `at` to `now`. Returns 0 if `at` is up to a day in the future,
 * which time zones can cause. Returns NaN (unknown) if `at` is further in the future, because of a
 * typing error or a wrong clock. */
static double age_of(double at, double now)
{
	if (at - now > DAY)
		return NAN;
	return at > now ? 0 : now - at;
}

static void fill_state(struct current_catalogue *s, struct current_catalogue_state *ret)
{
	double now = wall_seconds(now_read().wall);
	struct fetcher_state fetcher = {0};
	bool fetched = !s->config.path && s->origin.at.ns && catalogue_is_url(s->origin.source);

	*ret = (struct current_catalogue_state){
		.fetched_at = fetched ? wall_seconds(s->origin.at) : (double)NAN};
	ret->age_seconds =
		age_of(fetched ? ret->fetched_at : date_seconds(s->catalogue->as_of), now);
	ret->stale =
		ret->age_seconds >
		(fetched ? STALE_REFRESHES * s->config.fetcher.refresh_seconds : STALE_SECONDS);
	if (s->fetcher)
		fetcher_state(s->fetcher, &fetcher);
	snprintf(ret->problem, sizeof ret->problem, "%s",
		s->fetcher ? fetcher.error : s->no_fetcher.text);
}

static void forget_catalogue(struct current_catalogue *s)
{
	if (s->config.path && is_kind(s->config.path, S_IFIFO))
		return; /* a pipe cannot be read again */
	catalogue_free(s->catalogue);
	s->catalogue = NULL;
	s->origin = (struct cache_origin){0};
}

static void start_fetcher(struct current_catalogue *s)
{
	if (!s->config.path && s->config.refresh && s->config.fetcher.source.cache_path &&
		!s->fetcher)
		fetcher_start(&s->fetcher, &s->config.fetcher, &s->no_fetcher);
}

int current_catalogue_hold(struct current_catalogue *s, bool keep, struct catalogue **ret,
	struct current_catalogue_state *state, struct err *e)
{
	pthread_mutex_lock(&s->lock);
	bool had = s->catalogue;
	int code;

	if (keep)
		start_fetcher(s);
	code = load_catalogue(s, e);
	if (code == 0) {
		catalogue_hold(s->catalogue);
		*ret = s->catalogue;
		fill_state(s, state);
		if (keep)
			s->used = now_read().mono;
		else if (!had)
			forget_catalogue(s);
	}
	pthread_mutex_unlock(&s->lock);
	return code;
}

void current_catalogue_tidy(struct current_catalogue *s, double seconds)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (s->catalogue && mono_seconds_between(s->used, now_read().mono) > seconds)
		forget_catalogue(s);
	pthread_mutex_unlock(&s->lock);
}
