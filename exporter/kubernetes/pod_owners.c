#include "exporter/kubernetes/pod_owners.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/client/bearer_token.h"
#include "exporter/client/download.h"
#include "exporter/core/log.h"
#include "exporter/core/random_share.h"
#include "exporter/core/version.h"
#include "exporter/core/worker.h"
#include "exporter/options/options.h"

#define CONNECT_SECONDS 2.0
#define ANSWER_SECONDS  5.0
#define FIRST_DELAY     1.0
#define LONGEST_DELAY   300.0
/* Rate limit: 5 requests a second, as in client-go, after the first 100. When a node starts, all
 * its pods, by default up to 110, are requested at the same time. */
#define QUESTIONS_A_SECOND 5.0
#define QUESTIONS_AT_ONCE  100.0
/* Value of Accept that requests only the metadata of an object, and not the variables and commands
 * of a pod. */
#define ACCEPT "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

#define URL_SIZE 1024

struct asked_pod {
	char space[POD_SPACE_MAX], name[POD_NAME_MAX], uid[POD_UID_MAX];
	struct mono asked_at;
	bool awaited;         /* the sampler waits for the answer */
	bool failed;          /* a request for this pod failed */
	enum pod_class class; /* POD_UNANSWERED = not known yet */
	struct buf words;
};

/* The connection to the API of the cluster. Only the worker thread uses it. */
struct api_client {
	char address[URL_SIZE / 2]; /* "https://HOST:PORT" */
	char user_agent[64], token_file[URL_SIZE], ca_file[URL_SIZE];
	struct download_options options;
	struct download *download; /* opened at the first request, because libcurl takes 5 MB */
};

struct pod_owners {
	struct api_client client;
	struct owner_chain *chain;
	void (*known)(void *context);
	void *context;
	struct worker worker;
	atomic_bool stop; /* aborts a transfer */
	/* Worker thread only. */
	struct complaint complaint;
	unsigned failures;      /* in a row */
	double allowance;       /* number of requests that may be made now */
	struct mono allowed_at; /* time at which `allowance` was computed */
	bool said;              /* true = the first success was logged */
	pthread_mutex_t lock;   /* guards the members below */
	struct mono retry_at;   /* while failing: time of the next question */
	bool failing;
	size_t n;
	struct asked_pod *pod; /* POD_OWNERS_MAX */
};

/* ---- the real API ---- */

static int get(void *context, const char *path, struct http_response *ret, struct err *e)
{
	struct api_client *c = context;
	char token[TOKEN_MAX] = "", url[2 * URL_SIZE];
	int code = bearer_token_read(c->token_file, token, e);

	if (code == 0 && !c->download)
		code = download_open(&c->download, &c->options, e);
	if (code == 0) {
		snprintf(url, sizeof url, "%s%s", c->address, path);
		code = download_get_as(c->download, url, token, ACCEPT, ret, e);
	}
	explicit_bzero(token, sizeof token);
	return code;
}

/* Reads the address that Kubernetes sets in each container. Returns false outside of Kubernetes. */
static bool find_address(char *ret, size_t size)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	static const char of_host[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.:-";

	if (!host || !host[0] || !port || !port[0] || host[strspn(host, of_host)] ||
		port[strspn(port, "0123456789")])
		return false;
	bool v6 = strchr(host, ':') != NULL;
	int n = snprintf(ret, size, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);

	return n > 0 && (size_t)n < size;
}

/* Returns false if the API is not used (pod_owners_start). */
static bool client_init(struct api_client *c, const struct options *o, const atomic_bool *stop)
{
	char token[TOKEN_MAX];
	struct err e = {0};

	if (!o->kubernetes_api || !o->jobs_recognise || o->jobs_pod ||
		!find_address(c->address, sizeof c->address))
		return false;
	snprintf(c->token_file, sizeof c->token_file, "%s/token", o->kubernetes_account);
	snprintf(c->ca_file, sizeof c->ca_file, "%s/ca.crt", o->kubernetes_account);
	snprintf(c->user_agent, sizeof c->user_agent, "rightsize-exporter/%s", version.version);
	int code = bearer_token_read(c->token_file, token, &e);

	explicit_bzero(token, sizeof token);
	if (code && code != -ENOENT)
		log_line(LOG_LEVEL_WARN,
			"the Kubernetes API is not asked who owns pods: jobs are named by their "
			"pods",
			"err", e.text, NULL);
	c->options = (struct download_options){
		.user_agent = c->user_agent,
		.ca_file = c->ca_file,
		.ca_option = "--kubernetes.account",
		.connect_seconds = CONNECT_SECONDS,
		.total_seconds = ANSWER_SECONDS,
		.max_bytes = OBJECT_JSON_MAX,
		.stop = stop,
	};
	return code == 0;
}

/* ---- the pods ---- */

static struct asked_pod *pod_of(const struct pod_owners *o, const char *uid)
{
	for (size_t i = 0; i < o->n; i++)
		if (strcmp(o->pod[i].uid, uid) == 0)
			return &o->pod[i];
	return NULL;
}

/* Returns an entry for a new pod. If all entries are in use, reuses the oldest entry that has an
 * answer. Returns NULL if none has an answer. */
static struct asked_pod *new_pod(struct pod_owners *o)
{
	struct asked_pod *oldest = NULL;

	if (o->n < POD_OWNERS_MAX)
		return &o->pod[o->n++];
	for (size_t i = 0; i < o->n; i++)
		if (o->pod[i].class != POD_UNANSWERED &&
			(!oldest || o->pod[i].asked_at.ns < oldest->asked_at.ns))
			oldest = &o->pod[i];
	if (oldest)
		buf_done(&oldest->words);
	return oldest;
}

/* Adds a pod without an answer, and wakes the thread. Returns NULL if new_pod has no entry for it.
 * The caller holds the lock. */
static struct asked_pod *add_pod(struct pod_owners *o, const struct pod_id *pod, struct mono now)
{
	struct asked_pod *p = new_pod(o);

	if (!p)
		return NULL;
	*p = (struct asked_pod){.asked_at = now, .class = POD_UNANSWERED};
	text_copy(pod->space, p->space, sizeof p->space);
	text_copy(pod->name, p->name, sizeof p->name);
	text_copy(pod->uid, p->uid, sizeof p->uid);
	worker_wake(&o->worker);
	return p;
}

bool pod_owners_find(struct pod_owners *o, const struct pod_id *pod, struct mono now, bool waits,
	struct buf *words, enum pod_class *ret)
{
	bool awaited = false;

	*ret = POD_AS_NAMED;
	if (!o || o->stop)
		return true;
	pthread_mutex_lock(&o->lock);
	struct asked_pod *p = pod_of(o, pod->uid);

	if (!p)
		p = add_pod(o, pod, now);
	*ret = p ? p->class : POD_UNANSWERED;
	if (p && p->class != POD_UNANSWERED) {
		buf_add(words, p->words.data, p->words.len);
	} else if (p && !o->failing &&
		   mono_seconds_between(p->asked_at, now) <= POD_OWNER_PATIENCE_SECONDS) {
		p->awaited = p->awaited || waits;
		awaited = true;
	}
	pthread_mutex_unlock(&o->lock);
	return !awaited;
}

/* ---- the thread ---- */

/* Returns true if the pod `a` must be requested before `b`. Pods for which a request failed come
 * last. Otherwise the older pod comes first. */
static bool is_before(const struct asked_pod *a, const struct asked_pod *b)
{
	return a->failed != b->failed ? b->failed : a->asked_at.ns < b->asked_at.ns;
}

/* Copies the pod of the next request. Returns false if no pod waits. */
static bool next_pod(struct pod_owners *o, struct asked_pod *ret)
{
	const struct asked_pod *first = NULL;

	pthread_mutex_lock(&o->lock);
	for (size_t i = 0; i < o->n; i++)
		if (o->pod[i].class == POD_UNANSWERED && (!first || is_before(&o->pod[i], first)))
			first = &o->pod[i];
	if (first)
		*ret = *first;
	pthread_mutex_unlock(&o->lock);
	return first != NULL;
}

/* Stores the answer for a pod. Moves the words out of `take`. Returns true if the sampler waits for
 * this answer. */
static bool keep(struct pod_owners *o, const char *uid, struct pod_ownership *take)
{
	bool awaited = false;

	pthread_mutex_lock(&o->lock);
	o->failing = false;
	struct asked_pod *p = pod_of(o, uid);

	if (p) {
		p->class = take->class;
		p->words = take->words;
		awaited = p->awaited;
		take->words = BUF_MAX(0);
	}
	pthread_mutex_unlock(&o->lock);
	return awaited;
}

static double delay(const struct pod_owners *o, int code)
{
	if (code == -EACCES)
		return OWNER_REFUSED_SECONDS;
	return fmax(retry_delay(o->failures, FIRST_DELAY, LONGEST_DELAY),
		owner_chain_wait(o->chain));
}

/* Call it when a request for a pod failed. Returns true if the pod is given up: it gets its name
 * without the API. This happens at the second failure of the pod, if the API has answered for
 * another pod in between. The cause must then be this pod, and not the API. */
static bool give_up(struct pod_owners *o, const char *uid)
{
	pthread_mutex_lock(&o->lock);
	struct asked_pod *p = pod_of(o, uid);
	bool ret = p && p->failed && !o->failing;

	if (ret)
		p->class = POD_AS_NAMED;
	pthread_mutex_unlock(&o->lock);
	return ret;
}

/* Forgets the pods without an answer, except the pod `uid`, for which the request failed. Most of
 * them will end before the API answers again. */
static void forget_unanswered(struct pod_owners *o, const char *uid)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		bool asked = strcmp(o->pod[i].uid, uid) == 0;

		o->pod[i].failed = o->pod[i].failed || asked;
		if (o->pod[i].class != POD_UNANSWERED || asked)
			o->pod[n++] = o->pod[i];
	}
	o->n = n;
}

static double note_failure(struct pod_owners *o, int code, struct mono now, const char *uid,
	const struct err *e)
{
	if (give_up(o, uid))
		return 0;
	o->failures++;
	double seconds = delay(o, code);

	pthread_mutex_lock(&o->lock);
	o->failing = true;
	forget_unanswered(o, uid);
	o->retry_at.ns = now.ns + (int64_t)(seconds * NS_PER_S);
	pthread_mutex_unlock(&o->lock);
	if (o->stop || !log_complaint_due(&o->complaint))
		return seconds;
	log_line(LOG_LEVEL_WARN,
		"the Kubernetes API does not say who owns a pod: jobs are named by their pods",
		"needs",
		code == -EACCES ? "get pods" :
		code == -EPERM  ? "a token that the API accepts" :
				  NULL,
		"err", e->text, NULL);
	return seconds;
}

static void note_success(struct pod_owners *o)
{
	o->failures = 0;
	if (log_complaint_over(&o->complaint) || !o->said)
		log_line(LOG_LEVEL_INFO,
			"the Kubernetes API says who owns a pod: jobs are named by their owners",
			"api", o->client.address, NULL);
	o->said = true;
}

/* Returns the seconds until the thread may ask for the next pod; 0 = now. */
static double wait_to_ask(struct pod_owners *o, struct mono now)
{
	pthread_mutex_lock(&o->lock);
	double left = o->failing ? mono_seconds_between(now, o->retry_at) : 0;

	pthread_mutex_unlock(&o->lock);
	if (left > 0)
		return left;
	double seconds = mono_seconds_between(o->allowed_at, now);

	o->allowance = fmin(o->allowance + seconds * QUESTIONS_A_SECOND, QUESTIONS_AT_ONCE);
	o->allowed_at = now;
	return fmax(OWNER_QUESTIONS_MAX - o->allowance, 0) / QUESTIONS_A_SECOND;
}

static double turn(void *context)
{
	struct pod_owners *o = context;
	struct mono now = now_read().mono;
	struct pod_ownership found;
	struct asked_pod p;
	struct err e = {0};

	if (!next_pod(o, &p))
		return INFINITY;
	double seconds = wait_to_ask(o, now);

	if (seconds > 0)
		return seconds;
	const struct pod_id id = {p.space, p.name, p.uid};
	int code = owner_chain_find(o->chain, &id, now, &found, &e);

	o->allowance -= owner_chain_questions(o->chain);
	if (code) {
		buf_done(&found.words);
		return note_failure(o, code, now, p.uid, &e);
	}
	note_success(o);
	bool awaited = keep(o, p.uid, &found);

	buf_done(&found.words);
	if (awaited && o->known)
		o->known(o->context);
	return 0;
}

/* ---- start and stop ---- */

static struct pod_owners *owners_new(void)
{
	struct pod_owners *o = xcalloc(1, sizeof *o);

	o->pod = xcalloc(POD_OWNERS_MAX, sizeof *o->pod);
	o->allowance = QUESTIONS_AT_ONCE;
	o->allowed_at = now_read().mono;
	pthread_mutex_init(&o->lock, NULL);
	worker_init(&o->worker);
	return o;
}

static int owners_begin(struct pod_owners *o, const struct owner_api *api, struct pod_owners **ret,
	struct err *e)
{
	o->chain = owner_chain_new(api);
	int code = worker_start(&o->worker, "pod owners", turn, o, e);

	if (code) {
		pod_owners_free(o);
		return code;
	}
	*ret = o;
	return 0;
}

int pod_owners_start_with(struct pod_owners **ret, const struct owner_api *api, struct err *e)
{
	return owners_begin(owners_new(), api, ret, e);
}

int pod_owners_start(struct pod_owners **ret, const struct options *options, struct err *e)
{
	struct pod_owners *o = owners_new();
	const struct owner_api api = {&o->client, get};

	if (client_init(&o->client, options, &o->stop))
		return owners_begin(o, &api, ret, e);
	pod_owners_free(o);
	*ret = NULL;
	return 0;
}

void pod_owners_tell(struct pod_owners *o, void (*known)(void *context), void *context)
{
	if (!o)
		return;
	o->known = known;
	o->context = context;
}

void pod_owners_stop(struct pod_owners *o)
{
	if (!o)
		return;
	o->stop = true;
	worker_stop(&o->worker);
	worker_join(&o->worker, INFINITY, NULL);
}

void pod_owners_free(struct pod_owners *o)
{
	if (!o)
		return;
	pod_owners_stop(o);
	worker_done(&o->worker);
	for (size_t i = 0; i < o->n; i++)
		buf_done(&o->pod[i].words);
	free(o->pod);
	owner_chain_free(o->chain);
	download_close(o->client.download);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
