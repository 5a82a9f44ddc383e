/* Finds out which object owns a pod: asks the Kubernetes API for the metadata of the pod, then of
 * its owner, the owner's owner and so on, up to the object that is the same for all runs of a job,
 * such as a CronJob. Only one thread may use an owner_chain. */
#ifndef EXPORTER_KUBERNETES_OWNER_CHAIN_H
#define EXPORTER_KUBERNETES_OWNER_CHAIN_H

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "exporter/client/download.h"
#include "exporter/kubernetes/object_meta.h"

/* Maximum size of pod_ownership.words, in bytes. A label of the pod that does not fit is ignored.
 * There is always room for the words about its owner. */
#define OWNER_WORDS_MAX 4608
/* Maximum number of requests to the API for one pod: one for the pod, the others for its owners. */
#define OWNER_QUESTIONS_MAX 4

/* The Kubernetes API, or a replacement for tests. */
struct owner_api {
	void *context;
	/* Requests the metadata of one object. `path` begins with "/api". Returns 0 after a
	 * complete answer with any status, -E2BIG if the answer is longer than OBJECT_JSON_MAX, and
	 * another negative errno if there was no complete answer. */
	int (*get)(void *context, const char *path, struct http_response *ret, struct err *e);
};

struct pod_id {
	const char *space, *name, *uid;
};

enum pod_class {
	/* It is unknown whether the pod is a job: it has no owner, or an owner whose kind does not
	 * show it. The name of the pod itself is used. */
	POD_AS_NAMED,
	POD_IS_JOB,
	POD_IS_SERVICE, /* owned by a Deployment, a StatefulSet, a DaemonSet or the node itself */
	POD_UNANSWERED, /* the API has not answered yet; only from pod_owners_find */
};

struct pod_ownership {
	enum pod_class class;
	/* KEY=VALUE strings, each ended by NUL: the labels and annotations that may name the job.
	 * They are those of the pod, and of an Argo Workflow that owns it. A job also has
	 * "pod.owner", the name of the owner that is the same for all runs, and
	 * "pod.owner-kind". */
	struct buf words;
};

struct owner_chain;

struct owner_chain *owner_chain_new(const struct owner_api *api); /* copies `api` */
void owner_chain_free(struct owner_chain *c);                     /* NULL does nothing */

/* Finds the owner of a pod and fills `ret`. The caller calls buf_done for ret->words, even after an
 * error. The class is POD_AS_NAMED if the pod no longer exists, or if its metadata is too large or
 * malformed.
 *
 * An owner may have an owner, too. The search does not go further if the API answers 5xx, or if the
 * right to read an owner is missing. If the right is missing, a log line names the right, and
 * owners of this kind are not requested for OWNER_REFUSED_SECONDS.
 *
 * -EACCES: the right to read pods is missing. -EPERM: the API does not accept the token. -EIO: the
 * API could not be reached, or its answer is not valid. */
int owner_chain_find(struct owner_chain *c, const struct pod_id *pod, struct mono now,
	struct pod_ownership *ret, struct err *e);

/* Returns how many seconds to wait before the next request, as the API's last answer demands; 0 =
 * it does not demand a wait. */
double owner_chain_wait(const struct owner_chain *c);

/* Returns the number of requests that the last owner_chain_find made. */
unsigned owner_chain_questions(const struct owner_chain *c);

/* Seconds. If this program has no right to read a kind of owner, it requests an owner of this kind
 * again after this time. */
#define OWNER_REFUSED_SECONDS 300.0

#endif
