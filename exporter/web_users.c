/* Passwords, off the serving threads. */
#include "exporter/web_users.h"

#include <crypt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

/* Good and bad ones apart, so that a guesser cannot push a scraper's out. */
#define KNOWN_MAX 64

#define KEY_SIZE 32 /* of SHA-256 */

struct key {
	unsigned char byte[KEY_SIZE];
};

struct known {
	size_t n, next;
	struct key key[KNOWN_MAX];
};

struct job {
	struct key key;
	char *password, *hash;
	bool known_name;
	uint64_t address;
	void (*resume)(void *context);
	void *context;
};

struct web_users {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started, stopping;
	unsigned holders; /* the thread and the owner */
	unsigned char secret[KEY_SIZE];
	struct known known[2]; /* denied, allowed */
	size_t n;              /* waiting, oldest first; the first's is being computed */
	struct job job[WEB_USERS_WAITING_MAX];
};

struct web_users *web_users_new(void)
{
	struct web_users *u = xcalloc(1, sizeof *u);

	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->wake, NULL);
	u->holders = 1;
	if (gnutls_rnd(GNUTLS_RND_KEY, u->secret, sizeof u->secret) < 0)
		abort();
	return u;
}

/* With the lock, which is gone afterwards. */
static void let_go(struct web_users *u)
{
	bool last = --u->holders == 0;

	pthread_mutex_unlock(&u->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->wake);
	explicit_bzero(u->secret, sizeof u->secret);
	free(u);
}

static void job_done(struct job *job)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it was taken out of the queue, and is done once. */
	explicit_bzero(job->password, strlen(job->password));
	free(job->password);
	free(job->hash);
}

void web_users_stop(struct web_users *u)
{
	struct job job[WEB_USERS_WAITING_MAX];

	pthread_mutex_lock(&u->lock);
	size_t n = u->n;

	u->stopping = true;
	u->n = 0;
	memcpy(job, u->job, n * sizeof job[0]);
	pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	for (size_t i = 0; i < n; i++) {
		job[i].resume(job[i].context);
		job_done(&job[i]);
	}
}

void web_users_free(struct web_users *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	let_go(u);
}

/*
 * What is kept instead of a password: useless without the secret, which lives as long as the program. The hash is
 * part of it, so a changed file makes what was known unknown.
 */
static bool key_of(const struct web_users *u, const char *name, const char *hash,
	const char *password, struct key *ret)
{
	gnutls_hmac_hd_t h;

	if (gnutls_hmac_init(&h, GNUTLS_MAC_SHA256, u->secret, sizeof u->secret) < 0)
		return false;
	bool ok = gnutls_hmac(h, name, strlen(name) + 1) == 0 &&
		  gnutls_hmac(h, hash, strlen(hash) + 1) == 0 &&
		  gnutls_hmac(h, password, strlen(password) + 1) == 0;

	gnutls_hmac_deinit(h, ret->byte);
	return ok;
}

/*
 * What the password of an unknown name is compared with, always in vain: the hash of one of the users, and of the same
 * one each time, so that how long it takes tells a stranger from none of them, whatever their hashes cost.
 */
static const char *hash_for_stranger(const struct web_users *u, const struct web_question *q)
{
	struct key key;
	uint32_t number;

	if (!key_of(u, q->name, "", "", &key))
		return NULL;
	memcpy(&number, key.byte, sizeof number);
	return q->config->user[number % q->config->n_users].hash;
}

static bool knows(const struct known *k, const struct key *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (gnutls_memcmp(k->key[i].byte, key->byte, KEY_SIZE) == 0)
			return true;
	return false;
}

static void learn(struct known *k, const struct key *key)
{
	k->key[k->next] = *key;
	k->next = (k->next + 1) % KNOWN_MAX;
	if (k->n < KNOWN_MAX)
		k->n++;
}

static bool password_fits(const char *password, const char *hash)
{
	struct crypt_data *data = xcalloc(1, sizeof *data);
	const char *got = crypt_rn(password, hash, data, (int)sizeof *data);
	bool ret =
		got && strlen(got) == strlen(hash) && gnutls_memcmp(got, hash, strlen(hash)) == 0;

	explicit_bzero(data, sizeof *data);
	free(data);
	return ret;
}

/* With the lock: takes all who wait for this key out of the queue. */
static size_t take_jobs(struct web_users *u, const struct key *key,
	struct job ret[WEB_USERS_WAITING_MAX])
{
	size_t taken = 0, kept = 0;

	for (size_t i = 0; i < u->n; i++)
		if (gnutls_memcmp(u->job[i].key.byte, key->byte, KEY_SIZE) == 0)
			ret[taken++] = u->job[i];
		else
			u->job[kept++] = u->job[i];
	u->n = kept;
	return taken;
}

/* With the lock, which is not held while it computes and resumes. False: stopped meanwhile. */
static bool verify_first(struct web_users *u)
{
	struct job done[WEB_USERS_WAITING_MAX];
	struct key key = u->job[0].key;
	bool known_name = u->job[0].known_name;
	char *password = xstrdup(u->job[0].password), *hash = xstrdup(u->job[0].hash);

	pthread_mutex_unlock(&u->lock);
	bool fits = password_fits(password, hash) && known_name;

	explicit_bzero(password, strlen(password));
	free(password);
	free(hash);
	pthread_mutex_lock(&u->lock);
	if (u->stopping)
		return false;
	learn(&u->known[fits], &key);
	size_t n = take_jobs(u, &key, done);

	pthread_mutex_unlock(&u->lock);
	for (size_t i = 0; i < n; i++) {
		done[i].resume(done[i].context);
		job_done(&done[i]);
	}
	pthread_mutex_lock(&u->lock);
	return true;
}

/* One at a time. Jobs stay in the queue meanwhile, so that their addresses keep waiting. */
static void *verify_forever(void *context)
{
	struct web_users *u = context;

	pthread_mutex_lock(&u->lock);
	while (!u->stopping)
		if (u->n == 0)
			pthread_cond_wait(&u->wake, &u->lock);
		else if (!verify_first(u))
			break;
	let_go(u);
	return NULL;
}

/* With the lock. Started by the first password: most exporters never need it. */
static bool thread_started(struct web_users *u)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (u->started)
		return true;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, (size_t)256 * 1024);
	u->started = pthread_create(&thread, &attributes, verify_forever, u) == 0;
	pthread_attr_destroy(&attributes);
	if (u->started)
		u->holders++;
	return u->started;
}

/* With the lock. */
static enum web_verdict enqueue(struct web_users *u, const struct web_question *q,
	const struct key *key, const char *hash, bool known_name)
{
	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)
		return WEB_BUSY;
	for (size_t i = 0; i < u->n; i++)
		if (u->job[i].address == q->address &&
			gnutls_memcmp(u->job[i].key.byte, key->byte, KEY_SIZE) != 0)
			return WEB_BUSY;
	if (!thread_started(u))
		return WEB_BUSY;
	u->job[u->n++] = (struct job){.key = *key,
		.password = xstrdup(q->password),
		.hash = xstrdup(hash),
		.known_name = known_name,
		.address = q->address,
		.resume = q->resume,
		.context = q->context};
	pthread_cond_signal(&u->wake);
	return WEB_LATER;
}

enum web_verdict web_users_ask(struct web_users *u, const struct web_question *q)
{
	const struct web_user *user = NULL;
	enum web_verdict ret;
	struct key key;

	if (!q->name || !q->password || q->config->n_users == 0)
		return WEB_DENIED;
	for (size_t i = 0; i < q->config->n_users && !user; i++)
		if (strcmp(q->config->user[i].name, q->name) == 0)
			user = &q->config->user[i];
	const char *hash = user ? user->hash : hash_for_stranger(u, q);

	/* Of a stranger no hash is part of it: who had that of another user, or will have it, is somebody else. */
	if (!hash || !key_of(u, q->name, user ? hash : "", q->password, &key))
		return WEB_BUSY;
	pthread_mutex_lock(&u->lock);
	if (knows(&u->known[true], &key))
		ret = WEB_ALLOWED;
	else if (knows(&u->known[false], &key))
		ret = WEB_DENIED;
	else
		ret = q->resume ? enqueue(u, q, &key, hash, user) : WEB_LATER;
	pthread_mutex_unlock(&u->lock);
	return ret;
}
