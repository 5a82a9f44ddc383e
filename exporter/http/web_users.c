#include "exporter/http/web_users.h"

#include <crypt.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "collectors/base/thread.h"

#define KEY_SIZE 32 /* bytes of a SHA-256 hash */

struct password_key {
	unsigned char byte[KEY_SIZE];
};

/* The results of password checks. Each kind has its own cache, so that wrong guesses cannot
 * displace the entry of a scraper:
 * - WRONG: the password is wrong, from every client address. The address of the entry is ANYBODY.
 * - RIGHT: the password is right, from every client address. The address of the entry is ANYBODY.
 * - RIGHT_FROM_THERE: a client at the address of the entry has already sent the right password. */
enum verdict_kind { WRONG, RIGHT, RIGHT_FROM_THERE, KINDS };
#define ANYBODY   0
#define KNOWN_MAX 256

struct known_passwords {
	size_t n, next;
	struct {
		struct password_key key;
		uint64_t address;
	} one[KNOWN_MAX];
};

/* A password check for which a suspended request waits. `address` identifies the client
 * (web_question.address). */
struct password_job {
	struct password_key key;
	char *password, *hash;
	bool known_name;
	uint64_t address;
	/* true = the first waiting check of its client address; later checks of the address are for
	 * the same password */
	bool first;
	void (*resume)(void *context);
	void *context;
};

struct web_users {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	/* number of references to this struct: one of the thread, and one of the caller of
	 * web_users_start */
	unsigned holders;
	unsigned char secret[KEY_SIZE];
	struct known_passwords known[KINDS];
	struct failure_limit failures;
	size_t n; /* waiting checks, oldest first; job[0] is being computed */
	struct password_job job[WEB_USERS_WAITING_MAX];
};

/* ---- limit of wrong passwords: a bucket is stored as the time at which it is full ---- */

#define REFILL_NS (FAILURE_SECONDS * NS_PER_S)

static bool is_full(const struct failure_bucket *b, struct mono now)
{
	return b->full_at.ns <= now.ns;
}

/* Returns the index of the bucket of the address. If the address has no bucket, returns the index
 * of a full bucket: it limits no address and can be reused. If no bucket is full, returns
 * FAILURE_ADDRESSES, the shared bucket. */
static size_t place_of(const struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t ret = FAILURE_ADDRESSES;

	for (size_t i = 0; i < FAILURE_ADDRESSES; i++) {
		if (is_full(&l->of_one[i], now))
			ret = i;
		else if (l->of_one[i].address == address)
			return i;
	}
	return ret;
}

bool failure_limit_reached(const struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t i = place_of(l, address, now);
	const struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;

	return b->full_at.ns - now.ns > (FAILURE_BURST - 1) * REFILL_NS;
}

void failure_limit_count(struct failure_limit *l, uint64_t address, struct mono now)
{
	size_t i = place_of(l, address, now);
	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;

	b->address = address;
	b->full_at.ns = (is_full(b, now) ? now.ns : b->full_at.ns) + REFILL_NS;
}

/* Drops a reference to `u`, and frees `u` if it was the last. The caller holds the lock, and this
 * function releases it. */
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

static void job_done(struct password_job *job)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the job left the queue, so this runs once. */
	explicit_bzero(job->password, strlen(job->password));
	free(job->password);
	free(job->hash);
}

void web_users_stop(struct web_users *u)
{
	struct password_job job[WEB_USERS_WAITING_MAX];

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

/* Computes the key of the cache for a name and a password. The cache does not store passwords, and
 * passwords cannot be guessed from a key without `u->secret`, which exists only in this process.
 * The key also depends on the hash in the configuration file. Cached results therefore become
 * invalid when the hash changes. */
static bool key_of(const struct web_users *u, const char *name, const char *hash,
	const char *password, struct password_key *ret)
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

/* Returns a hash for a request with an unknown user name. Its password is checked against this
 * hash, so that the time until the refusal does not reveal which names exist. Hashes may differ in
 * cost. The result is therefore the hash of a real user, and always of the same user for the same
 * name. */
static const char *hash_for_stranger(const struct web_users *u, const struct web_question *q)
{
	struct password_key key;
	uint32_t number;

	if (!key_of(u, q->name, "", "", &key))
		return NULL;
	memcpy(&number, key.byte, sizeof number);
	return q->config->user[number % q->config->n_users].hash;
}

static bool same_key(const struct password_key *a, const struct password_key *b)
{
	return gnutls_memcmp(a->byte, b->byte, KEY_SIZE) == 0;
}

static bool knows(const struct known_passwords *k, const struct password_key *key, uint64_t address)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->one[i].address == address && same_key(&k->one[i].key, key))
			return true;
	return false;
}

static void learn(struct known_passwords *k, const struct password_key *key, uint64_t address)
{
	k->one[k->next].key = *key;
	k->one[k->next].address = address;
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

/* Takes all checks with this key out of the queue: they have the same result. Returns their number.
 * The caller holds the lock. */
static size_t take_jobs(struct web_users *u, const struct password_key *key,
	struct password_job ret[WEB_USERS_WAITING_MAX])
{
	size_t taken = 0, kept = 0;

	for (size_t i = 0; i < u->n; i++)
		if (same_key(&u->job[i].key, key))
			ret[taken++] = u->job[i];
		else
			u->job[kept++] = u->job[i];
	u->n = kept;
	return taken;
}

/* Records the result of a password check for the address of the client: remembers a right password,
 * and counts a wrong password towards the limit. If several requests of an address waited for the
 * same check, the result counts only once. The caller holds the lock. */
static void note_verdict(struct web_users *u, const struct password_job *job, bool fits)
{
	if (!job->first)
		return;
	if (fits)
		learn(&u->known[RIGHT_FROM_THERE], &job->key, job->address);
	else
		failure_limit_count(&u->failures, job->address, now_read().mono);
}

/* Does the first check of the queue, and resumes all requests that wait for its result. The caller
 * holds the lock, which is released during the check and during the calls of `resume`. Returns
 * false when web_users_stop was called during the check. */
static bool verify_first(struct web_users *u)
{
	struct password_job done[WEB_USERS_WAITING_MAX];
	struct password_key key = u->job[0].key;
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
	learn(&u->known[fits ? RIGHT : WRONG], &key, ANYBODY);
	size_t n = take_jobs(u, &key, done);

	for (size_t i = 0; i < n; i++)
		note_verdict(u, &done[i], fits);
	pthread_mutex_unlock(&u->lock);
	for (size_t i = 0; i < n; i++) {
		done[i].resume(done[i].context);
		job_done(&done[i]);
	}
	pthread_mutex_lock(&u->lock);
	return true;
}

/* The function of the thread. A check stays in the queue while it is computed. Meanwhile, a second
 * password from the same client address is refused. */
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

int web_users_start(struct web_users **ret, struct err *e)
{
	struct web_users *u = xcalloc(1, sizeof *u);
	pthread_t thread;

	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->wake, NULL);
	u->holders = 2;
	if (gnutls_rnd(GNUTLS_RND_KEY, u->secret, sizeof u->secret) < 0)
		abort();
	int code = thread_start(&thread, "passwords", verify_forever, u, e);

	if (code) {
		u->holders = 1;
		web_users_free(u);
		return code;
	}
	pthread_detach(thread);
	*ret = u;
	return 0;
}

/* Returns a check in the queue that came from this client address, or NULL. The caller holds the
 * lock. */
static const struct password_job *job_from(const struct web_users *u, uint64_t address)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->job[i].address == address)
			return &u->job[i];
	return NULL;
}

/* Adds a check to the queue. The caller holds the lock. */
static enum web_entry enqueue(struct web_users *u, const struct web_question *q,
	const struct password_key *key, const char *hash, bool known_name)
{
	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)
		return WEB_OVERLOADED;
	u->job[u->n] = (struct password_job){.key = *key,
		.password = xstrdup(q->password),
		.hash = xstrdup(hash),
		.known_name = known_name,
		.address = q->address,
		.first = !job_from(u, q->address),
		.resume = q->resume,
		.context = q->context};
	u->n++;
	pthread_cond_signal(&u->wake);
	return WEB_WAIT;
}

/* Decides about a password by the caches and the limits. WEB_WAIT = the password must be checked.
 * WEB_OVERLOADED = another password from this address is being checked. This is returned even if
 * `key` was right from another address. The caller holds the lock. */
static enum web_entry look_up(struct web_users *u, const struct password_key *key, uint64_t address)
{
	const struct password_job *waiting = job_from(u, address);

	if (knows(&u->known[RIGHT_FROM_THERE], key, address))
		return WEB_ENTER;
	if (knows(&u->known[WRONG], key, ANYBODY))
		return WEB_UNAUTHORIZED;
	if (failure_limit_reached(&u->failures, address, now_read().mono))
		return WEB_TOO_MANY_FAILURES;
	if (waiting && !same_key(&waiting->key, key))
		return WEB_OVERLOADED;
	if (!knows(&u->known[RIGHT], key, ANYBODY))
		return WEB_WAIT;
	learn(&u->known[RIGHT_FROM_THERE], key, address);
	return WEB_ENTER;
}

enum web_entry web_users_ask(struct web_users *u, const struct web_question *q)
{
	const struct web_user *user = NULL;
	struct password_key key;

	if (!q->name || !q->password || q->config->n_users == 0)
		return WEB_UNAUTHORIZED;
	for (size_t i = 0; i < q->config->n_users && !user; i++)
		if (strcmp(q->config->user[i].name, q->name) == 0)
			user = &q->config->user[i];
	const char *hash = user ? user->hash : hash_for_stranger(u, q);

	/* The key of an unknown name is computed with the hash "". If the file later gets a user of
	 * this name, the key changes. The cached "wrong password" then does not apply to the new
	 * user. */
	if (!hash || !key_of(u, q->name, user ? hash : "", q->password, &key))
		return WEB_OVERLOADED;
	pthread_mutex_lock(&u->lock);
	enum web_entry ret = look_up(u, &key, q->address);

	if (ret == WEB_WAIT && q->resume)
		ret = enqueue(u, q, &key, hash, user);
	pthread_mutex_unlock(&u->lock);
	return ret;
}
