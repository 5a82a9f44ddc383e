#include "exporter/http/web_access.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/base/clock.h"
#include "collectors/base/file.h"
#include "exporter/core/log.h"
#include "exporter/http/web_tls.h"
#include "exporter/text/yaml.h"

/* Maximum number of files to watch: the configuration, the certificate, its key, and the
 * certificate of the authority for clients. */
#define FILES_MAX 4

/* A file counts as complete when it has not changed for this many seconds. */
#define SETTLE_SECONDS 1

struct web_stamp {
	struct timespec changed, modified;
	ino_t inode;
	dev_t device;
	off_t size;
	int error;
};

/* The files of one version of the configuration. `stamp` has the size, times and inode of a file,
 * as they were before the version was read. */
struct watched {
	size_t n;
	struct watched_file {
		char *path;
		struct web_stamp stamp;
		/* stamp of the file at the last check, and the time at which this stamp was first
		 * seen */
		struct web_stamp seen;
		struct mono since;
	} file[FILES_MAX];
};

struct web_version {
	atomic_uint holders;
	struct web_config *config;
	struct web_tls *tls; /* TLS settings; NULL = no TLS */
};

struct web_access {
	char *path;
	bool tls;
	struct web_users *users;
	atomic_bool bad;      /* the configuration file is invalid now */
	pthread_mutex_t lock; /* guards the members below */
	struct web_version *last_good;
	struct watched watched;
	double tokens; /* number of tokens of the rate limit at the time `counted` */
	struct mono counted;
};

/* ---- versions ---- */

static struct web_stamp stamp_of(const char *path)
{
	struct stat s;

	if (stat(path, &s) != 0)
		return (struct web_stamp){.error = errno};
	return (struct web_stamp){.changed = s.st_ctim,
		.modified = s.st_mtim,
		.inode = s.st_ino,
		.device = s.st_dev,
		.size = s.st_size};
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_stamp(const struct web_stamp *a, const struct web_stamp *b)
{
	return a->error == b->error && a->inode == b->inode && a->device == b->device &&
	       a->size == b->size && same_time(a->changed, b->changed) &&
	       same_time(a->modified, b->modified);
}

static void watch_file(struct watched *w, const char *path)
{
	if (!path)
		return;
	struct watched_file *f = &w->file[w->n++];

	*f = (struct watched_file){.path = xstrdup(path), .stamp = stamp_of(path)};
	f->seen = f->stamp;
}

static void watched_done(struct watched *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->file[i].path);
	w->n = 0;
}

/* Reads a file. Refuses a pipe: when it is read a second time, it is empty, and an empty
 * configuration would allow every request. */
static int read_text(struct buf *ret, const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return err_set(e, -EINVAL,
			"%s is a pipe: give a regular file, which can be read again after a change",
			path);
	return file_read(ret, path, e);
}

static void version_free(struct web_version *v)
{
	web_tls_free(v->tls);
	web_config_free(v->config);
	free(v);
}

static int load_tls(struct web_version *v, struct watched *seen, struct err *e)
{
	watch_file(seen, v->config->cert.file);
	watch_file(seen, v->config->key.file);
	watch_file(seen, v->config->client_ca.file);
	return web_tls_load(&v->tls, v->config, e);
}

static int version_read(struct web_version **ret, const char *path, struct watched *seen,
	struct err *e)
{
	struct buf text AUTO(buf_done) = BUF_MAX(YAML_SIZE_MAX);

	watch_file(seen, path);
	int code = read_text(&text, path, e);

	if (code)
		return code;
	struct web_version *v = xcalloc(1, sizeof *v);

	v->holders = 1;
	code = web_config_parse(&v->config, path, buf_text(&text), text.len, e);
	if (code == 0 && v->config->tls)
		code = load_tls(v, seen, e);
	if (code)
		version_free(v);
	else
		*ret = v;
	return code;
}

void web_access_drop(struct web_version *v)
{
	if (v && atomic_fetch_sub(&v->holders, 1) == 1)
		version_free(v);
}

const struct web_config *web_access_config(const struct web_version *v)
{
	return v->config;
}

bool web_access_attach(struct web_version *v, gnutls_session_t session)
{
	return v->tls && web_tls_attach(v->tls, session);
}

/* ---- reloading ---- */

/* Returns true while a changed file may be incomplete: it changed less than SETTLE_SECONDS ago. A
 * file that is being written may lack users, and would then allow every request.
 *
 * The file's change time may be in the future, because of another machine's clock or a clock that
 * was set back. The age of the change is then counted from the time when the change was first
 * seen. */
static bool is_being_written(struct watched_file *f, const struct web_stamp *now)
{
	struct now t = now_read();
	int64_t age = t.wall.ns - now->changed.tv_sec * NS_PER_S - now->changed.tv_nsec;

	if (!same_stamp(now, &f->seen)) {
		f->seen = *now;
		f->since = t.mono;
	}
	return !now->error && age < SETTLE_SECONDS * NS_PER_S &&
	       mono_seconds_between(f->since, t.mono) < SETTLE_SECONDS;
}

/* Returns true when the files must be loaded again: one has changed, and none is still being
 * written. The caller holds the lock. */
static bool changed(struct web_access *w)
{
	bool ret = false;

	for (size_t i = 0; i < w->watched.n; i++) {
		struct watched_file *f = &w->watched.file[i];
		struct web_stamp now = stamp_of(f->path);

		if (same_stamp(&now, &f->stamp))
			continue;
		if (is_being_written(f, &now))
			return false;
		ret = true;
	}
	return ret;
}

/* Returns true when a file changed while the version was read. The version may then be
 * incomplete. */
static bool changed_meanwhile(const struct watched *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct web_stamp now = stamp_of(w->file[i].path);

		if (!same_stamp(&now, &w->file[i].stamp))
			return true;
	}
	return false;
}

/* If the rate limit has changed, fills its token bucket. */
static void begin_rate(struct web_access *w, const struct web_config *old,
	const struct web_config *now)
{
	if (old && old->rate_burst == now->rate_burst && old->rate_interval == now->rate_interval)
		return;
	w->tokens = (double)now->rate_burst;
	w->counted = now_read().mono;
}

/* Reads a new version. Returns -EAGAIN when the files changed while they were read: call it again
 * later. The caller holds the lock. */
static int reload(struct web_access *w, struct err *e)
{
	struct web_version *v;

	/* Watch the files of the new version even if it is invalid: it may become valid when only
	 * its certificate file is corrected. */
	watched_done(&w->watched);
	int code = version_read(&v, w->path, &w->watched, e);

	if (code)
		return code;
	if (w->last_good && changed_meanwhile(&w->watched)) {
		web_access_drop(v);
		return -EAGAIN;
	}
	if (w->last_good && v->config->tls != w->tls) {
		web_access_drop(v);
		return err_set(e, -EINVAL,
			"%s: TLS cannot be turned %s at run time: restart the server", w->path,
			w->tls ? "off" : "on");
	}
	begin_rate(w, w->last_good ? w->last_good->config : NULL, v->config);
	web_access_drop(w->last_good);
	w->last_good = v;
	return 0;
}

/* Reloads changed files. The caller holds the lock. */
static void refresh(struct web_access *w)
{
	struct err e = {0};

	if (!changed(w))
		return;
	int code = reload(w, &e);

	if (code == -EAGAIN)
		return;
	w->bad = code != 0;
	if (w->bad)
		log_line(LOG_LEVEL_ERROR,
			"web configuration invalid: every request is refused until it is corrected",
			"error", e.text, NULL);
	else
		log_line(LOG_LEVEL_INFO, "web configuration reloaded", "file", w->path, NULL);
}

int web_access_open(struct web_access **ret, const char *path, struct err *e)
{
	struct web_access *w = xcalloc(1, sizeof *w);
	int code = 0;

	pthread_mutex_init(&w->lock, NULL);
	if (path) {
		w->path = xstrdup(path);
		code = reload(w, e);
		/* Start the thread even if there are no users yet: when a later change adds users,
		 * starting a thread may fail. */
		if (code == 0)
			code = web_users_start(&w->users, e);
	}
	if (code) {
		web_access_close(w);
		return code;
	}
	if (path)
		w->tls = w->last_good->config->tls;
	*ret = w;
	return 0;
}

bool web_access_with_tls(const struct web_access *w)
{
	return w->tls;
}

void web_access_stop(struct web_access *w)
{
	if (w->users)
		web_users_stop(w->users);
}

void web_access_close(struct web_access *w)
{
	if (!w)
		return;
	watched_done(&w->watched);
	web_access_drop(w->last_good);
	web_users_free(w->users);
	pthread_mutex_destroy(&w->lock);
	free(w->path);
	free(w);
}

struct web_version *web_access_hold(struct web_access *w)
{
	if (!w->path)
		return NULL;
	pthread_mutex_lock(&w->lock);
	refresh(w);
	struct web_version *v = w->last_good;

	atomic_fetch_add(&v->holders, 1);
	pthread_mutex_unlock(&w->lock);
	return v;
}

/* ---- access ---- */

/* The rate limit, a token bucket as in golang.org/x/time/rate. Takes a token for a request, or
 * returns false when there is none. The bucket has rate_burst tokens at first, which is also its
 * maximum. */
static bool within_rate(struct web_access *w, const struct web_config *c)
{
	if (!(c->rate_interval > 0))
		return true;
	pthread_mutex_lock(&w->lock);
	struct mono now = now_read().mono;

	w->tokens = fmin((double)c->rate_burst,
		w->tokens + mono_seconds_between(w->counted, now) / c->rate_interval);
	w->counted = now;
	bool ret = w->tokens >= 1;

	if (ret)
		w->tokens -= 1;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

enum web_entry web_access_check(struct web_access *w, struct web_version *v, struct web_question *q,
	bool again)
{
	if (!v)
		return WEB_ENTER;
	if (w->bad)
		return WEB_NO_CONFIG;
	q->config = v->config;
	if (!again && !within_rate(w, v->config))
		return WEB_TOO_MANY;
	if (v->config->n_users == 0 || q->trusted)
		return WEB_ENTER;
	return web_users_ask(w->users, q);
}
