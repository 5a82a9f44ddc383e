#include "exporter/kubernetes/owner_chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/naming/stable_name.h"
#include "exporter/core/log.h"

/* Maximum number of results that are kept, so that all pods of one Job need only one request for
 * the Job. */
#define KNOWN_OWNERS_MAX 64
#define PATH_SIZE        (3 * POD_NAME_MAX)

/* The known kinds of owners. The kinds of other projects than Kubernetes are defined in:
 * argoproj/argo-workflows pkg/apis/workflow/v1alpha1, ray-project/kuberay ray-operator/apis/ray/v1,
 * kubeflow/spark-operator api/v1beta2, kubernetes-sigs/jobset api/jobset/v1alpha2. */
static const struct owner_kind {
	const char *group, *kind;
	enum pod_class class;
	/* Removes the part of a name that changes from run to run. NULL = no part changes. */
	struct slice (*steady)(struct slice name);
	/* Parts of the API's path for objects of this kind. NULL = objects of this kind are not
	 * requested: they have no owner, or the name of their owner does not matter. */
	const char *version, *plural;
	bool has_words; /* true = labels and annotations of such an object may name the job, too */
} kinds[] = {
	{"", "Pod", POD_AS_NAMED, NULL, "v1", "pods", false}, /* a Spark driver */
	{"batch", "Job", POD_IS_JOB, stable_name_without_schedule, "v1", "jobs", false},
	{"batch", "CronJob", POD_IS_JOB, NULL, NULL, NULL, false},
	{"argoproj.io", "Workflow", POD_IS_JOB, stable_name_without_generated, "v1alpha1",
		"workflows", true},
	{"argoproj.io", "CronWorkflow", POD_IS_JOB, NULL, NULL, NULL, false},
	{"jobset.x-k8s.io", "JobSet", POD_IS_JOB, stable_name_without_generated, NULL, NULL, false},
	{"sparkoperator.k8s.io", "SparkApplication", POD_IS_JOB, stable_name_without_generated,
		NULL, NULL, false},
	/* A RayJob creates a RayCluster. A RayCluster without an owner may be a service or a
	 * job. */
	{"ray.io", "RayCluster", POD_AS_NAMED, NULL, "v1", "rayclusters", false},
	{"apps", "ReplicaSet", POD_IS_SERVICE, NULL, NULL, NULL, false},
	{"apps", "StatefulSet", POD_IS_SERVICE, NULL, NULL, NULL, false},
	{"apps", "DaemonSet", POD_IS_SERVICE, NULL, NULL, NULL, false},
	{"", "ReplicationController", POD_IS_SERVICE, NULL, NULL, NULL, false},
	{"", "Node", POD_IS_SERVICE, NULL, NULL, NULL, false},
};
#define KIND_POD (&kinds[0])

struct top_owner {
	enum pod_class class;
	char kind[OBJECT_KIND_MAX], name[POD_NAME_MAX];
	/* true = the result may be kept: the last owner that was requested could be read, and has
	 * the UID of the reference to it */
	bool complete;
};

/* bytes that are kept free for the text of add_top */
#define TOP_WORDS_MAX (sizeof(struct top_owner) + 64)

struct owner_chain {
	struct owner_api api;
	struct http_response answer;
	unsigned questions; /* requests of the last owner_chain_find */
	struct complaint untold[ARRAY_LEN(kinds)];
	int64_t refused_until[ARRAY_LEN(kinds)]; /* monotonic ns; 0 = not refused */
	size_t n_known; /* number of results that were kept so far; `known` is a ring buffer */
	/* Any user may write any owner reference into a pod. A kept result is therefore used only
	 * if the pod's namespace and all members of the reference are the same. */
	struct known_owner {
		char space[POD_SPACE_MAX];
		struct owner_reference reference;
		struct top_owner top;
	} known[KNOWN_OWNERS_MAX];
};

struct owner_chain *owner_chain_new(const struct owner_api *api)
{
	struct owner_chain *c = xcalloc(1, sizeof *c);

	c->api = *api;
	return c;
}

void owner_chain_free(struct owner_chain *c)
{
	if (!c)
		return;
	buf_done(&c->answer.body);
	free(c);
}

double owner_chain_wait(const struct owner_chain *c)
{
	return c->answer.retry_after_seconds > 0 ? c->answer.retry_after_seconds : 0;
}

unsigned owner_chain_questions(const struct owner_chain *c)
{
	return c->questions;
}

/* ---- one object ---- */

static int code_of(int status)
{
	switch (status) {
	case 200:
		return 0;
	case 401:
		return -EPERM;
	case 403:
		return -EACCES;
	case 404:
		return -ENOENT;
	default:
		return -EIO;
	}
}

/* Requests an object. Errors:
 * - -ENOENT: the API has no such object (404), or the object is too large or malformed.
 * - -EIO: no answer came, even if `get` returned -ENOENT for a missing token file.
 * - The error that code_of returns for any other HTTP status. */
static int get_object(struct owner_chain *c, const char *path, struct object_meta *ret,
	struct buf *words, struct err *e)
{
	response_headers_clear(&c->answer);
	c->questions++;
	int code = c->api.get(c->api.context, path, &c->answer, e);

	if (code)
		return code == -E2BIG ? -ENOENT : -EIO;
	if ((code = code_of(c->answer.status))) {
		err_set(e, code, "the Kubernetes API answers %d", c->answer.status);
		return code;
	}
	const struct slice body = {buf_text(&c->answer.body), c->answer.body.len};

	return object_meta_read(body, ret, words, e) ? -ENOENT : 0;
}

static bool write_path(const struct owner_kind *k, const char *space, const char *name, char *ret,
	size_t size)
{
	int n = snprintf(ret, size, "/%s%s/%s/namespaces/%s/%s/%s", k->group[0] ? "apis/" : "api",
		k->group, k->version, space, k->plural, name);

	return n > 0 && (size_t)n < size;
}

/* ---- the owners above ---- */

static const struct owner_kind *kind_of(const struct owner_reference *o)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].group, o->group) == 0 && strcmp(kinds[i].kind, o->kind) == 0)
			return &kinds[i];
	return NULL;
}

/* Returns the class of an owner. A kind that is not in the table, but ends with "Job", is a job:
 * operators of training frameworks name their kinds PyTorchJob, MPIJob, TFJob, RayJob, TrainJob and
 * so on. */
static enum pod_class class_of(const struct owner_reference *o, const struct owner_kind *k)
{
	static const char job[] = "Job";
	size_t len = strlen(o->kind);

	if (k)
		return k->class;
	return len >= sizeof job - 1 && strcmp(o->kind + len - (sizeof job - 1), job) == 0 ?
		       POD_IS_JOB :
		       POD_AS_NAMED;
}

static void set_name(struct slice name, struct top_owner *top)
{
	slice_copy(name, top->name, sizeof top->name);
}

static void name_by_reference(const struct owner_reference *o, const struct owner_kind *k,
	struct top_owner *top)
{
	struct slice name = {o->name, strlen(o->name)};

	text_copy(o->kind, top->kind, sizeof top->kind);
	if (k)
		set_name(k->steady ? k->steady(name) : name, top);
	else
		set_name(stable_name_without_generated(name), top);
}

/* If Kubernetes made the name of the object from a prefix (generateName), uses the prefix as the
 * name of the owner. */
static void name_by_prefix(const struct object_meta *m, struct top_owner *top)
{
	size_t len = strlen(m->generate_name);

	len = len > GENERATED_AFTER ? GENERATED_AFTER : len;
	if (strncmp(m->name, m->generate_name, len) != 0)
		return;
	while (len && (m->generate_name[len - 1] == '-' || m->generate_name[len - 1] == '.'))
		len--;
	if (len)
		set_name((struct slice){m->generate_name, len}, top);
}

/* Logs that an owner could not be read. Call it when the API refused the request (403) or failed
 * (5xx). After 403, owners of this kind are not requested for OWNER_REFUSED_SECONDS. */
static void note_untold(struct owner_chain *c, const struct owner_kind *k, struct mono now)
{
	size_t i = (size_t)(k - kinds);
	bool refused = code_of(c->answer.status) == -EACCES;
	char right[POD_NAME_MAX], status[16];

	if (refused)
		c->refused_until[i] = now.ns + (int64_t)(OWNER_REFUSED_SECONDS * NS_PER_S);
	if (!log_complaint_due(&c->untold[i]))
		return;
	snprintf(right, sizeof right, "get %s%s%s", k->plural, k->group[0] ? "." : "", k->group);
	snprintf(status, sizeof status, "%d", c->answer.status);
	log_line(LOG_LEVEL_WARN,
		"the Kubernetes API does not tell who owns a pod's owner: jobs are named by what "
		"is known of it",
		"needs", refused ? right : NULL, "kind", k->kind, "status", status, NULL);
}

/* Reads the owner `at`. Returns -ENOENT if this owner cannot be read, and another error only if the
 * API does not work. */
static int read_owner(struct owner_chain *c, const char *space, const struct owner_reference *at,
	struct mono now, struct buf *words, struct object_meta *ret, struct err *e)
{
	const struct owner_kind *k = kind_of(at);
	size_t before = words->len;
	char path[PATH_SIZE];

	if (c->refused_until[k - kinds] > now.ns ||
		!write_path(k, space, at->name, path, sizeof path))
		return -ENOENT;
	int code = get_object(c, path, ret, k->has_words ? words : NULL, e);
	bool fails = c->answer.status / 100 == 5;

	if (code == -EACCES || fails)
		note_untold(c, k, now);
	if (code)
		return code == -EACCES || fails ? -ENOENT : code;
	log_complaint_over(&c->untold[k - kinds]);
	/* With another UID, this is a newer object of the same name, and not the owner. */
	if (strcmp(ret->uid, at->uid) == 0)
		return 0;
	words->len = before;
	return -ENOENT;
}

/* Follows the owners from `first` on. Returns an error only if the API does not work. */
static int follow(struct owner_chain *c, const char *space, const struct owner_reference *first,
	struct mono now, struct buf *words, struct top_owner *ret, struct err *e)
{
	struct owner_reference at = *first;

	for (size_t depth = 1; depth < OWNER_QUESTIONS_MAX; depth++) {
		const struct owner_kind *k = kind_of(&at);
		enum pod_class class = class_of(&at, k);
		struct object_meta m;

		/* A Job is a job even if a service owns it. */
		if (class == POD_IS_SERVICE && ret->class == POD_IS_JOB)
			return 0;
		if (class != POD_AS_NAMED) {
			ret->class = class;
			name_by_reference(&at, k, ret);
		}
		if (!k || !k->plural)
			return 0;
		int code = read_owner(c, space, &at, now, words, &m, e);

		ret->complete = code == 0;
		if (code)
			return code == -ENOENT ? 0 : code;
		/* This object has an owner, too, but OWNER_QUESTIONS_MAX forbids another
		 * request. */
		if (m.owned && depth + 1 == OWNER_QUESTIONS_MAX)
			ret->complete = false;
		if (class == POD_IS_JOB)
			name_by_prefix(&m, ret);
		if (!m.owned)
			return 0;
		at = m.owner;
	}
	return 0;
}

static bool is_same(const struct owner_reference *a, const struct owner_reference *b)
{
	return strcmp(a->uid, b->uid) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->kind, b->kind) == 0 && strcmp(a->group, b->group) == 0;
}

static const struct top_owner *known_owner(const struct owner_chain *c, const char *space,
	const struct owner_reference *owner)
{
	size_t n = c->n_known < KNOWN_OWNERS_MAX ? c->n_known : KNOWN_OWNERS_MAX;

	for (size_t i = 0; i < n; i++)
		if (strcmp(c->known[i].space, space) == 0 && is_same(&c->known[i].reference, owner))
			return &c->known[i].top;
	return NULL;
}

static void keep_owner(struct owner_chain *c, const char *space,
	const struct owner_reference *owner, const struct top_owner *top)
{
	struct known_owner *o = &c->known[c->n_known++ % KNOWN_OWNERS_MAX];

	text_copy(space, o->space, sizeof o->space);
	o->reference = *owner;
	o->top = *top;
}

static int find_top(struct owner_chain *c, const char *space, const struct owner_reference *owner,
	struct mono now, struct buf *words, struct top_owner *ret, struct err *e)
{
	const struct top_owner *known = known_owner(c, space, owner);
	size_t before = words->len;

	if (known) {
		*ret = *known;
		return 0;
	}
	int code = follow(c, space, owner, now, words, ret, e);

	/* Do not keep the result if an owner has added words, because `known` has no place for
	 * words. This owner is requested again for each of its pods. */
	if (code == 0 && ret->complete && words->len == before)
		keep_owner(c, space, owner, ret);
	return code;
}

/* Appends the name and the kind of the owner. There is always enough space: owner_chain_find
 * limited all other words to OWNER_WORDS_MAX - TOP_WORDS_MAX bytes. */
static void add_top(const struct top_owner *top, struct buf *words)
{
	words->max = OWNER_WORDS_MAX;
	words->full = false;
	buf_addf(words, "pod.owner=%s%cpod.owner-kind=%s%c", top->name, 0, top->kind, 0);
}

int owner_chain_find(struct owner_chain *c, const struct pod_id *pod, struct mono now,
	struct pod_ownership *ret, struct err *e)
{
	struct top_owner top = {.class = POD_AS_NAMED};
	struct object_meta m;
	char path[PATH_SIZE];

	*ret = (struct pod_ownership){.words = BUF_MAX(OWNER_WORDS_MAX - TOP_WORDS_MAX)};
	c->questions = 0;
	if (!object_name_is_valid(pod->space) || !object_name_is_valid(pod->name) ||
		!write_path(KIND_POD, pod->space, pod->name, path, sizeof path))
		return 0;
	int code = get_object(c, path, &m, &ret->words, e);

	/* The pod no longer exists, or another pod has its name now. */
	if (code == -ENOENT || (code == 0 && strcmp(m.uid, pod->uid) != 0)) {
		buf_reset(&ret->words);
		return 0;
	}
	if (code == 0 && m.owned)
		code = find_top(c, pod->space, &m.owner, now, &ret->words, &top, e);
	if (code)
		return code;
	ret->class = top.class;
	if (top.class == POD_IS_JOB)
		add_top(&top, &ret->words);
	return 0;
}
