/* exporter/kubernetes: who owns a pod, from the answers of a double of the Kubernetes API. The
 * bodies are those of a real API server (1.36.3), without members that are not read. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/naming/recognise.h"
#include "exporter/kubernetes/owner_chain.h"
#include "exporter/kubernetes/pod_owners.h"
#include "tests/support/fake_log.h"

#define UID(n) "0000000" #n "-1111-2222-3333-444455556666"
#define POD    "/api/v1/namespaces/etl/pods/p"
#define JOBS   "/apis/batch/v1/namespaces/etl/jobs/"
#define ARGO   "/apis/argoproj.io/v1alpha1/namespaces/etl/workflows/"
#define RAY    "/apis/ray.io/v1/namespaces/etl/rayclusters/"
#define Q      "/api/v1/namespaces/etl/pods/q"
#define ROUTES 6

/* Metadata of an object, its owner, and its other members. */
#define META(name, uid, more)                                                                      \
	"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"     \
	"\"name\":\"" name "\",\"namespace\":\"etl\",\"uid\":\"" uid "\"" more "}}"
#define OWNED(version, kind, name, uid)                                                            \
	",\"ownerReferences\":[{\"apiVersion\":\"" version "\",\"kind\":\"" kind                   \
	"\",\"name\":\"" name "\",\"uid\":\"" uid "\",\"controller\":true,"                        \
	"\"blockOwnerDeletion\":true}]"

struct route {
	const char *path;
	int status; /* 0 = 200; below 0 = an error instead of an answer */
	const char *body;
};

struct double_api {
	const struct route *route; /* ends with path NULL */
	atomic_uint calls;
	atomic_int status; /* for all paths, instead of theirs; 0 = theirs */
	double retry_after;
	char asked[2000]; /* the paths, each with a blank after it */
};

static int get(void *context, const char *path, struct http_response *ret, struct err *e)
{
	struct double_api *d = context;
	const struct route *r = d->route;
	size_t n = strlen(d->asked);

	atomic_fetch_add(&d->calls, 1);
	snprintf(d->asked + n, sizeof d->asked - n, "%s ", path);
	while (r->path && strcmp(r->path, path) != 0)
		r++;
	int status = d->status ? d->status : !r->path ? 404 : r->status ? r->status : 200;

	if (status < 0)
		return err_set(e, status, "no answer");
	ret->status = status;
	ret->retry_after_seconds = d->retry_after;
	buf_done(&ret->body);
	ret->body = BUF_MAX(OBJECT_JSON_MAX);
	if (r->path && ret->status == 200)
		buf_adds(&ret->body, r->body);
	if (ret->body.full)
		return err_set(e, -E2BIG, "too large");
	return 0;
}

static const struct mono later = {NS_PER_S};

/* Finds the owner of the pod "p" in the namespace "etl". Returns the code; `name` receives the name
 * of its job, or "" without one. */
static int find(struct double_api *d, enum pod_class *class, char *name)
{
	const struct owner_api api = {d, get};
	struct owner_chain *c = owner_chain_new(&api);
	const struct pod_id pod = {"etl", "p", UID(1)};
	struct pod_ownership found;
	struct recognised r = {.job_name = ""};
	struct err e = {0};
	int code = owner_chain_find(c, &pod, later, &found, &e);
	const struct process_text text = {.pod = {found.words.data, found.words.len}};

	if (code == 0 && found.words.len)
		recognise(&text, &r);
	text_copy(r.job_name, name, JOB_NAME_MAX);
	*class = found.class;
	assert_true(code == 0 || e.text[0]);
	assert_int_equal(owner_chain_questions(c), d->calls);
	buf_done(&found.words);
	owner_chain_free(c);
	return code;
}

static void job_has_the_name_of_the_owner_that_stays(void **state)
{
	static const struct {
		const char *what;
		struct route route[ROUTES];
		enum pod_class class;
		const char *name;
	} table[] = {
		{"CronJob",
			{{POD, 0,
				 META("p", UID(1),
					 OWNED("batch/v1", "Job", "nightly-29401234", UID(2)))},
				{JOBS "nightly-29401234", 0,
					META("nightly-29401234", UID(2),
						OWNED("batch/v1", "CronJob", "nightly", UID(3)))}},
			POD_IS_JOB, "nightly"},
		{"CronJob with a date at its end",
			{{POD, 0,
				META("p", UID(1),
					OWNED("batch/v1", "CronJob", "load-20261121", UID(2)))}},
			POD_IS_JOB, "load"},
		{"kubectl create job try1 --from=cronjob/nightly",
			{{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "try1", UID(2)))},
				{JOBS "try1", 0,
					META("try1", UID(2),
						OWNED("batch/v1", "CronJob", "nightly", UID(3)))}},
			POD_IS_JOB, "nightly"},
		{"name made from a prefix",
			{{POD, 0,
				 META("p", UID(1), OWNED("batch/v1", "Job", "load-tea22", UID(2)))},
				{JOBS "load-tea22", 0,
					META("load-tea22", UID(2), ",\"generateName\":\"load-\"")}},
			POD_IS_JOB, "load"},
		{"plain Job",
			{{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "import-eu", UID(2)))},
				{JOBS "import-eu", 0, META("import-eu", UID(2), "")}},
			POD_IS_JOB, "import-eu"},
		{"plain Job with a generated end",
			{{POD, 0,
				 META("p", UID(1), OWNED("batch/v1", "Job", "load-x7k2p", UID(2)))},
				{JOBS "load-x7k2p", 0, META("load-x7k2p", UID(2), "")}},
			POD_IS_JOB, "load"},
		{"JobSet",
			{{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "train-w-0", UID(2)))},
				{JOBS "train-w-0", 0,
					META("train-w-0", UID(2),
						OWNED("jobset.x-k8s.io/v1alpha2", "JobSet", "train",
							UID(3)))}},
			POD_IS_JOB, "train"},
		{"PyTorchJob",
			{{POD, 0,
				META("p", UID(1),
					OWNED("kubeflow.org/v1", "PyTorchJob", "mnist-x7k2p",
						UID(2)))}},
			POD_IS_JOB, "mnist"},
		{"RayJob",
			{{POD, 0,
				 META("p", UID(1),
					 OWNED("ray.io/v1", "RayCluster", "fit-x7k2p", UID(2)))},
				{RAY "fit-x7k2p", 0,
					META("fit-x7k2p", UID(2),
						OWNED("ray.io/v1", "RayJob", "fit", UID(3)))}},
			POD_IS_JOB, "fit"},
		{"RayCluster that stays",
			{{POD, 0,
				 META("p", UID(1),
					 OWNED("ray.io/v1", "RayCluster", "shared", UID(2)))},
				{RAY "shared", 0, META("shared", UID(2), "")}},
			POD_AS_NAMED, ""},
		{"Spark's executor",
			{{POD, 0, META("p", UID(1), OWNED("v1", "Pod", "pi-driver", UID(2)))},
				{"/api/v1/namespaces/etl/pods/pi-driver", 0,
					META("pi-driver", UID(2),
						OWNED("sparkoperator.k8s.io/v1beta2",
							"SparkApplication", "pi", UID(3)))}},
			POD_IS_JOB, "pi"},
		{"Workflow of a CronWorkflow",
			{{POD, 0,
				 META("p", UID(1),
					 ",\"labels\":{\"workflows.argoproj.io/workflow\":\"etl-x7k2p\"}" OWNED(
						 "argoproj.io/v1alpha1", "Workflow", "etl-x7k2p",
						 UID(2)))},
				{ARGO "etl-x7k2p", 0,
					META("etl-x7k2p", UID(2),
						",\"labels\":{\"workflows.argoproj.io/cron-workflow\":"
						"\"hourly\"}" OWNED("argoproj.io/v1alpha1",
							"CronWorkflow", "hourly", UID(3)))}},
			POD_IS_JOB, "hourly"},
		{"Workflow of a template",
			{{POD, 0,
				 META("p", UID(1),
					 ",\"labels\":{\"workflows.argoproj.io/workflow\":\"w\"}" OWNED(
						 "argoproj.io/v1alpha1", "Workflow", "w", UID(2)))},
				{ARGO "w", 0,
					META("w", UID(2),
						",\"labels\":{\"workflows.argoproj.io/"
						"workflow-template\":\"report\"}")}},
			POD_IS_JOB, "report"},
		{"Deployment",
			{{POD, 0,
				META("p", UID(1),
					OWNED("apps/v1", "ReplicaSet", "web-5d78c9869d", UID(2)))}},
			POD_IS_SERVICE, ""},
		{"DaemonSet",
			{{POD, 0,
				META("p", UID(1),
					OWNED("apps/v1", "DaemonSet", "fluent-bit", UID(2)))}},
			POD_IS_SERVICE, ""},
		{"Job of a service",
			{{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "migrate", UID(2)))},
				{JOBS "migrate", 0,
					META("migrate", UID(2),
						OWNED("apps/v1", "StatefulSet", "db", UID(3)))}},
			POD_IS_JOB, "migrate"},
		{"no owner", {{POD, 0, META("p", UID(1), ",\"labels\":{\"app\":\"x\"}")}},
			POD_AS_NAMED, ""},
		{"no owner, but a user's name",
			{{POD, 0,
				META("p", UID(1),
					",\"annotations\":{\"rightsize/job-name\":\"mine\"}")}},
			POD_AS_NAMED, "mine"},
		{"another kind",
			{{POD, 0,
				META("p", UID(1),
					OWNED("acme.example/v1", "Widget", "w", UID(2)))}},
			POD_AS_NAMED, ""},
		{"Job in another group is another kind",
			{{POD, 0,
				 META("p", UID(1),
					 OWNED("batch.volcano.sh/v1alpha1", "Job", "v", UID(2)))},
				{JOBS "v", 0,
					META("v", UID(2),
						OWNED("batch/v1", "CronJob", "wrong", UID(3)))}},
			POD_IS_JOB, "v"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct double_api d = {.route = table[i].route};
		enum pod_class class;
		char name[JOB_NAME_MAX];

		assert_int_equal(find(&d, &class, name), 0);
		if (class != table[i].class || strcmp(name, table[i].name) != 0)
			fail_msg("%s: class %d, %s; asked %s", table[i].what, (int)class, name,
				d.asked);
	}
}

/* The chain of owners ends where the API does not tell the next owner. The owners that are known
 * until then name the job. */
static void owner_that_cannot_be_read_ends_the_chain(void **state)
{
	static const char pod[] =
		META("p", UID(1), OWNED("batch/v1", "Job", "load-29401234", UID(2)));
	static const struct {
		struct route route[ROUTES];
		const char *said;
	} table[] = {
		{{{POD, 0, pod}}, ""},
		{{{POD, 0, pod}, {JOBS "load-29401234", 403, ""}}, " needs=get jobs.batch\n"},
		{{{POD, 0, pod}, {JOBS "load-29401234", 500, ""}}, "does not tell"},
		{{{POD, 0, pod}, {JOBS "load-29401234", 503, ""}}, "does not tell"},
		/* a later Job of the same name */
		{{{POD, 0, pod}, {JOBS "load-29401234", 0,
					 META("load-29401234", UID(9),
						 OWNED("batch/v1", "CronJob", "other", UID(3)))}},
			""},
		{{{POD, 0, pod}, {JOBS "load-29401234", 0, "{"}}, ""},
		/* an owner of itself */
		{{{POD, 0, pod},
			 {JOBS "load-29401234", 0,
				 META("load-29401234", UID(2),
					 OWNED("batch/v1", "Job", "load-29401234", UID(2)))}},
			""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct double_api d = {.route = table[i].route};
		enum pod_class class;
		char name[JOB_NAME_MAX];

		fake_log_clear();
		assert_int_equal(find(&d, &class, name), 0);
		assert_int_equal(class, POD_IS_JOB);
		assert_string_equal(name, "load");
		assert_in_range(d.calls, 2, OWNER_QUESTIONS_MAX);
		if (table[i].said[0])
			assert_non_null(strstr(fake_log(), table[i].said));
		else
			assert_string_equal(fake_log(), "");
	}
}

static void pod_that_tells_nothing_is_named_as_without_the_api(void **state)
{
	static char large[OBJECT_JSON_MAX + 2];
	const struct {
		struct route route;
		int code;
	} table[] = {
		{{POD, 404, ""}, 0},
		{{POD, 0, ""}, 0},
		{{POD, 0, "[]"}, 0},
		{{POD, 0, "{\"metadata\":{\"name\":\"p\"}}"}, 0},
		{{POD, 0, large}, 0},
		{{POD, 0, META("p", UID(9), OWNED("batch/v1", "Job", "of-another", UID(2)))}, 0},
		{{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "../../x", UID(2)))}, 0},
		{{POD, 0, META("p", UID(1), OWNED("batch/v1", "J o b", "x", UID(2)))}, 0},
		{{POD, 403, ""}, -EACCES},
		{{POD, 401, ""}, -EPERM},
		{{POD, 429, ""}, -EIO},
		{{POD, 500, ""}, -EIO},
		{{POD, 301, ""}, -EIO},
		{{POD, -ECONNREFUSED, ""}, -EIO},
		/* a token that may not be read, or is gone: no answer of the API */
		{{POD, -EACCES, ""}, -EIO},
		{{POD, -EPERM, ""}, -EIO},
		{{POD, -ENOENT, ""}, -EIO},
	};

	memset(large, ' ', sizeof large - 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct route route[] = {table[i].route, {0}};
		struct double_api d = {.route = route};
		enum pod_class class;
		char name[JOB_NAME_MAX];

		if (find(&d, &class, name) != table[i].code)
			fail_msg("%zu", i);
		assert_int_equal(class, POD_AS_NAMED);
		assert_string_equal(name, "");
		assert_int_equal(d.calls, 1);
	}
}

/* Finds the owner of a pod. Returns the owner's name, "" = none. The text is in `words`, which the
 * caller frees. */
static const char *owner_of(struct owner_chain *c, const struct pod_id *pod, double at,
	struct buf *words)
{
	const struct mono now = {(int64_t)(at * 1e9)};
	static const char key[] = "pod.owner=";
	struct pod_ownership found;

	assert_int_equal(owner_chain_find(c, pod, now, &found, NULL), 0);
	*words = found.words;
	assert_int_equal(found.class, words->len ? POD_IS_JOB : POD_AS_NAMED);
	const char *text = buf_text(words);

	if (!words->len)
		return "";
	assert_int_equal(strncmp(text, key, sizeof key - 1), 0);
	return text + sizeof key - 1;
}

/* A user may write any owner reference into a pod. Such a reference must not give another pod a
 * wrong owner. It must not get an owner that was found for another pod's reference either. */
static void reference_of_a_pod_says_nothing_about_another_pod(void **state)
{
#define CRON(name) OWNED("batch/v1", "CronJob", name, UID(9))
	static const struct {
		struct pod_id pod;
		const char *path, *body, *owner;
		unsigned calls;
	} table[] = {
		/* claims the UID of the Job below */
		{{"etl", "a", UID(1)}, "/api/v1/namespaces/etl/pods/a",
			META("a", UID(1), OWNED("batch/v1", "CronJob", "evil", UID(5))), "evil", 1},
		{{"etl", "b", UID(2)}, "/api/v1/namespaces/etl/pods/b",
			META("b", UID(2), OWNED("batch/v1", "Job", "evil", UID(5))), "evil", 2},
		{{"etl", "c", UID(3)}, "/api/v1/namespaces/etl/pods/c",
			META("c", UID(3), OWNED("batch/v1", "Job", "sweep", UID(5))), "nightly", 2},
		/* the same reference */
		{{"etl", "d", UID(4)}, "/api/v1/namespaces/etl/pods/d",
			META("d", UID(4), OWNED("batch/v1", "Job", "sweep", UID(5))), "nightly", 1},
		/* another name, kind, group, UID or namespace */
		{{"etl", "e", UID(6)}, "/api/v1/namespaces/etl/pods/e",
			META("e", UID(6), OWNED("batch/v1", "Job", "other", UID(5))), "other", 2},
		{{"etl", "f", UID(6)}, "/api/v1/namespaces/etl/pods/f",
			META("f", UID(6), OWNED("batch/v1", "CronJob", "sweep", UID(5))), "sweep",
			1},
		{{"etl", "g", UID(6)}, "/api/v1/namespaces/etl/pods/g",
			META("g", UID(6), OWNED("acme.example/v1", "Job", "sweep", UID(5))),
			"sweep", 1},
		{{"etl", "h", UID(6)}, "/api/v1/namespaces/etl/pods/h",
			META("h", UID(6), OWNED("batch/v1", "Job", "sweep", UID(6))), "sweep", 2},
		{{"ml", "i", UID(6)}, "/api/v1/namespaces/ml/pods/i",
			META("i", UID(6), OWNED("batch/v1", "Job", "sweep", UID(5))), "sweep", 2},
		/* without a UID nothing is kept */
		{{"etl", "j", UID(6)}, "/api/v1/namespaces/etl/pods/j",
			META("j", UID(6), OWNED("batch/v1", "Job", "sweep", "")), "sweep", 2},
		{{"etl", "j", UID(6)}, "/api/v1/namespaces/etl/pods/j",
			META("j", UID(6), OWNED("batch/v1", "Job", "sweep", "")), "sweep", 2},
	};
	struct route route[ARRAY_LEN(table) + 2] = {{NULL}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		route[i] = (struct route){table[i].path, 0, table[i].body};
	route[ARRAY_LEN(table)] =
		(struct route){JOBS "sweep", 0, META("sweep", UID(5), CRON("nightly"))};
	struct double_api d = {.route = route};
	const struct owner_api api = {&d, get};
	struct owner_chain *c = owner_chain_new(&api);

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf words AUTO(buf_done) = BUF_MAX(0);
		unsigned before = d.calls;
		const char *owner = owner_of(c, &table[i].pod, 1, &words);

		if (strcmp(owner, table[i].owner) != 0 || d.calls - before != table[i].calls)
			fail_msg("%s: %s after %u", table[i].path, owner, d.calls - before);
	}
	owner_chain_free(c);
}

/* An owner was found while a right was missing. When the right may have been granted, the API is
 * asked again. */
static void right_that_was_given_is_used(void **state)
{
	struct route route[] = {
		{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "sweep", UID(2)))},
		{Q, 0, META("q", UID(3), OWNED("batch/v1", "Job", "sweep", UID(2)))},
		{JOBS "sweep", 403, META("sweep", UID(2), CRON("nightly"))},
		{0},
	};
	struct double_api d = {.route = route};
	const struct owner_api api = {&d, get};
	struct owner_chain *c = owner_chain_new(&api);
	struct buf first AUTO(buf_done) = BUF_MAX(0), second AUTO(buf_done) = BUF_MAX(0);

	assert_string_equal(owner_of(c, &(struct pod_id){"etl", "p", UID(1)}, 1, &first), "sweep");
	route[2].status = 0;
	assert_string_equal(owner_of(c, &(struct pod_id){"etl", "q", UID(3)},
				    OWNER_REFUSED_SECONDS + 2, &second),
		"nightly");
	owner_chain_free(c);
}

/* The API is asked only once for a Job that several pods have. After a refusal, a missing right is
 * not tried for five minutes. */
static void owner_is_asked_for_once(void **state)
{
	static const struct route route[] = {
		{POD, 0, META("p", UID(1), OWNED("batch/v1", "Job", "sweep", UID(2)))},
		{Q, 0, META("q", UID(3), OWNED("batch/v1", "Job", "sweep", UID(2)))},
		{"/api/v1/namespaces/etl/pods/r", 0,
			META("r", UID(4), OWNED("batch/v1", "Job", "other", UID(5)))},
		{JOBS "sweep", 403, ""},
		{JOBS "other", 403, ""},
		{0},
	};
	static const struct {
		struct pod_id pod;
		double at;
		unsigned calls;
	} table[] = {
		{{"etl", "p", UID(1)}, 1, 2},
		{{"etl", "q", UID(3)}, 1, 1},
		{{"etl", "r", UID(4)}, OWNER_REFUSED_SECONDS - 1, 1},
		{{"etl", "r", UID(4)}, OWNER_REFUSED_SECONDS + 2, 2},
	};
	struct double_api d = {.route = route};
	const struct owner_api api = {&d, get};
	struct owner_chain *c = owner_chain_new(&api);

	fake_log_clear();
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct pod_ownership found;
		unsigned before = d.calls;

		assert_int_equal(owner_chain_find(c, &table[i].pod,
					 (struct mono){(int64_t)(table[i].at * 1e9)}, &found, NULL),
			0);
		assert_int_equal(found.class, POD_IS_JOB);
		assert_int_equal(d.calls - before, table[i].calls);
		buf_done(&found.words);
	}
	owner_chain_free(c);
	assert_non_null(strstr(fake_log(), "needs=get jobs.batch"));
}

/* Two kinds of labels are ignored: those that Kubernetes may set on any pod, and those that look
 * like facts about the pod. However much text a user puts into labels, the owner is still found. */
static void words_are_those_that_name_jobs(void **state)
{
	struct buf body = BUF_MAX(OBJECT_JSON_MAX);
	const struct route route[] = {{POD, 0, NULL}, {0}};
	struct route filled[] = {route[0], route[1]};
	struct double_api d = {.route = filled};
	enum pod_class class;
	char name[JOB_NAME_MAX];
	static const char *const keys[] = {"metaflow/flow_name", "metaflow/step_name",
		"metaflow/task_id", "dag_id", "task_id", "map_index", "prefect.io/flow-name"};

	buf_adds(&body,
		"{\"metadata\":{\"name\":\"p\",\"uid\":\"" UID(
			1) "\",\"labels\":{"
			   "\"pod.uid\":\"" UID(9) "\",\"pod.owner\":\"theirs\",\"app\":\"theirs\","
						   "\"job-name\":\"theirs\"");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		buf_addf(&body, ",\"%s\":\"%0*d\"", keys[i], OBJECT_WORD_MAX, 7);
	buf_adds(&body, "}" OWNED("batch/v1", "CronJob", "nightly", UID(3)) "}}");
	filled[0].body = buf_text(&body);
	assert_int_equal(find(&d, &class, name), 0);
	assert_int_equal(class, POD_IS_JOB);
	assert_string_equal(name, "nightly");
	buf_done(&body);
}

/* ---- the thread ---- */

static void count(void *context)
{
	atomic_fetch_add((atomic_uint *)context, 1);
}

static void wait_for(const atomic_uint *n, unsigned least)
{
	for (int i = 0; i < 10000 && *n < least; i++)
		usleep(1000);
	assert_true(*n >= least);
}

/* The class of a pod (enum pod_class), or this value: its answer is awaited. */
enum { AWAITED = -1 };

static int ask(struct pod_owners *o, const char *name, const char *uid, double seconds)
{
	const struct pod_id pod = {"etl", name, uid};
	const struct mono now = {(int64_t)(seconds * 1e9)};
	struct buf words AUTO(buf_done) = BUF_MAX(OWNER_WORDS_MAX);
	enum pod_class class;

	if (pod_owners_find(o, &pod, now, true, &words, &class))
		return (int)class;
	assert_int_equal(class, POD_UNANSWERED);
	return AWAITED;
}

static void wait_until_settled(struct pod_owners *o, const char *name, const char *uid, int is)
{
	int left = 10000;

	while (ask(o, name, uid, 1) != is && left--)
		usleep(1000);
	assert_int_equal(ask(o, name, uid, 1), is);
}

static void owner_is_known_a_moment_after_it_was_asked_for(void **state)
{
	static const struct route route[] = {
		{POD, 0, META("p", UID(1), OWNED("batch/v1", "CronJob", "nightly", UID(2)))},
		{Q, 0, META("q", UID(3), OWNED("apps/v1", "DaemonSet", "d", UID(4)))},
		{0},
	};
	struct double_api d = {.route = route};
	const struct owner_api api = {&d, get};
	struct pod_owners *o;
	atomic_uint known = 0;

	assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
	pod_owners_tell(o, count, &known);
	assert_int_equal(ask(o, "p", UID(1), 1), AWAITED);
	wait_for(&known, 1);
	assert_int_equal(ask(o, "p", UID(1), 1), POD_IS_JOB);
	assert_int_equal(ask(o, "q", UID(3), 1), AWAITED);
	wait_for(&known, 2);
	assert_int_equal(ask(o, "q", UID(3), 1), POD_IS_SERVICE);
	assert_int_equal(ask(o, "p", UID(1), 1), POD_IS_JOB);
	assert_int_equal(d.calls, 2);
	pod_owners_stop(o);
	assert_int_equal(ask(o, "p", UID(1), 1), POD_AS_NAMED);
	pod_owners_free(o);
	assert_int_equal(ask(NULL, "p", UID(1), 1), POD_AS_NAMED);
}

/* While the API fails, nobody waits, and the API is not asked for each pod. */
static void failing_api_delays_no_name(void **state)
{
	static const struct route route[] = {{POD, 0, META("p", UID(1), "")}, {0}};
	static const struct {
		int status;
		const char *said;
	} table[] = {{403, "needs=get pods"}, {401, "needs=a token that the API accepts"},
		{500, "needs=\n"}, {-ECONNREFUSED, "needs=\n"}, {-EACCES, "needs=\n"}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct double_api d = {.route = route, .status = table[i].status};
		const struct owner_api api = {&d, get};
		struct pod_owners *o;

		fake_log_clear();
		assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
		wait_until_settled(o, "p", UID(1), POD_UNANSWERED);
		for (unsigned n = 0; n < 100; n++) {
			char uid[POD_UID_MAX];

			snprintf(uid, sizeof uid, "%08x-1111-2222-3333-444455556666", n);
			assert_int_equal(ask(o, "q", uid, 1), POD_UNANSWERED);
		}
		assert_int_equal(d.calls, 1);
		pod_owners_free(o);
		assert_non_null(strstr(fake_log(), table[i].said));
	}
}

/* If the API fails for a pod, the other pods are asked for first. If it fails again, the pod gets
 * the name that it has without the API. */
static void pod_that_fails_keeps_no_other_pod_waiting(void **state)
{
	static const struct route route[] = {
		{POD, 500, ""},
		{Q, 0, META("q", UID(3), OWNED("batch/v1", "CronJob", "nightly", UID(4)))},
		{0},
	};
	struct double_api d = {.route = route};
	const struct owner_api api = {&d, get};
	struct pod_owners *o;

	assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
	wait_until_settled(o, "p", UID(1), POD_UNANSWERED);
	assert_int_equal(ask(o, "q", UID(3), 1), POD_UNANSWERED);
	wait_until_settled(o, "q", UID(3), POD_IS_JOB);
	wait_until_settled(o, "p", UID(1), POD_AS_NAMED);
	assert_int_equal(ask(o, "new", UID(5), 1), AWAITED);
	pod_owners_free(o);
	assert_int_equal(strncmp(d.asked, POD " " Q " " POD " ", strlen(POD " " Q " " POD " ")), 0);
}

static int hang(void *context, const char *path, struct http_response *ret, struct err *e)
{
	atomic_bool *let_go = context;

	while (!*let_go)
		usleep(1000);
	return err_set(e, -ETIMEDOUT, "late");
}

static void name_waits_for_a_slow_api_as_long_as_its_patience(void **state)
{
	atomic_bool let_go = false;
	const struct owner_api api = {&let_go, hang};
	struct pod_owners *o;

	assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
	assert_int_equal(ask(o, "p", UID(1), 10), AWAITED);
	assert_int_equal(ask(o, "p", UID(1), 10 + POD_OWNER_PATIENCE_SECONDS - 0.1), AWAITED);
	assert_int_equal(ask(o, "p", UID(1), 10 + POD_OWNER_PATIENCE_SECONDS + 0.1),
		POD_UNANSWERED);
	let_go = true;
	pod_owners_free(o);
}

/* The table is full of pods for which the API has not answered. A further pod does not wait for an
 * answer. */
static void more_pods_than_the_table_holds_are_named_as_without_the_api(void **state)
{
	atomic_bool let_go = false;
	const struct owner_api api = {&let_go, hang};
	struct pod_owners *o;
	char uid[POD_UID_MAX];

	assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
	for (unsigned n = 0; n <= POD_OWNERS_MAX; n++) {
		snprintf(uid, sizeof uid, "%08x-1111-2222-3333-444455556666", n);
		assert_int_equal(ask(o, "p", uid, 1),
			n < POD_OWNERS_MAX ? AWAITED : POD_UNANSWERED);
	}
	let_go = true;
	pod_owners_free(o);
}

/* About 100 questions are asked at once, then 5 a second. Each pod here takes one question. The
 * thread keeps room for the four questions that a pod may take. */
static void many_pods_are_asked_for_at_a_bounded_rate(void **state)
{
	static const struct route none[] = {{0}};
	struct double_api d = {.route = none};
	const struct owner_api api = {&d, get};
	struct mono begin = now_read().mono;
	struct pod_owners *o;
	char uid[POD_UID_MAX];

	assert_int_equal(pod_owners_start_with(&o, &api, NULL), 0);
	for (unsigned n = 0; n < 200; n++) {
		snprintf(uid, sizeof uid, "%08x-1111-2222-3333-444455556666", n);
		ask(o, "p", uid, 1);
	}
	wait_for(&d.calls, 97);
	wait_for(&d.calls, 102);
	assert_true(mono_seconds_between(begin, now_read().mono) >= 1);
	pod_owners_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_has_the_name_of_the_owner_that_stays),
		cmocka_unit_test(owner_that_cannot_be_read_ends_the_chain),
		cmocka_unit_test(pod_that_tells_nothing_is_named_as_without_the_api),
		cmocka_unit_test(owner_is_asked_for_once),
		cmocka_unit_test(reference_of_a_pod_says_nothing_about_another_pod),
		cmocka_unit_test(right_that_was_given_is_used),
		cmocka_unit_test(words_are_those_that_name_jobs),
		cmocka_unit_test(owner_is_known_a_moment_after_it_was_asked_for),
		cmocka_unit_test(failing_api_delays_no_name),
		cmocka_unit_test(pod_that_fails_keeps_no_other_pod_waiting),
		cmocka_unit_test(many_pods_are_asked_for_at_a_bounded_rate),
		cmocka_unit_test(name_waits_for_a_slow_api_as_long_as_its_patience),
		cmocka_unit_test(more_pods_than_the_table_holds_are_named_as_without_the_api),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
