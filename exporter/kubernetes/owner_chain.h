/* Finds out which object owns a pod: asks the Kubernetes API for the metadata of the pod, then of
 * its owner, the owner's owner and so on, up to the object that stays the same from run to run. One
 * thread. */
#ifndef EXPORTER_KUBERNETES_OWNER_CHAIN_H
#define EXPORTER_KUBERNETES_OWNER_CHAIN_H

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "exporter/client/download.h"
#include "exporter/kubernetes/object_meta.h"

/* Largest size of the words of one pod (pod_ownership.words), in bytes. A label that does not fit
 * is ignored. The words of the owner always fit. */
#define OWNER_WORDS_MAX 4608
/* Most requests to the API for one pod: one for the pod, the others for its owners. */
#define OWNER_QUESTIONS_MAX 4

/* The Kubernetes API, or a replacement for tests. */
struct owner_api {
	void *context;
	/* Asks for the metadata of one object. `path` begins with "/api". Returns 0 for a complete
	 * answer of any status, -E2BIG if it is longer than OBJECT_JSON_MAX, and any other error
	 * if there is none. */
	int (*get)(void *context, const char *path, struct http_response *ret, struct err *e);
};

struct pod_id {
	const char *space, *name, *uid;
};

enum pod_class {
	/* Unknown whether the pod is a job: it has no owner, or its owner's kind does not say so.
	 * The pod's own name is then used. */
	POD_AS_NAMED,
	POD_IS_JOB,
	POD_IS_SERVICE, /* owned by a Deployment, a StatefulSet, a DaemonSet or the node itself */
	POD_UNANSWERED, /* the API has not answered yet; only from pod_owners_find */
};

struct pod_ownership {
	enum pod_class class;
	/* KEY=VALUE strings, each ended by NUL: the labels and annotations that name jobs, of the
	 * pod and of an Argo Workflow that owns it. For a job also "pod.owner" (the name that stays
	 * the same from run to run) and "pod.owner-kind". */
	struct buf words;
};

struct owner_chain;

struct owner_chain *owner_chain_new(const struct owner_api *api); /* copies `api` */
void owner_chain_free(struct owner_chain *c);                     /* NULL does nothing */

/* Fills `ret`; the caller calls buf_done for its words, also after an error. If the right to read
 * an owner is missing, the chain ends at this owner, a log line names the right, and owners of this
 * kind are requested again OWNER_REFUSED_SECONDS later. If the API answers with an error of its own
 * (5xx) for an owner, the chain ends at this owner, too. A pod that is gone, or whose metadata is
 * too large or malformed, is POD_AS_NAMED.
 *
 * -EACCES: the right to read pods is missing. -EPERM: the token is not accepted. -EIO: the API does
 * not answer as it should, or cannot be asked. */
int owner_chain_find(struct owner_chain *c, const struct pod_id *pod, struct mono now,
	struct pod_ownership *ret, struct err *e);

/* Returns the seconds that the API asked to wait in its last answer; 0 = it did not. */
double owner_chain_wait(const struct owner_chain *c);

/* Returns the number of requests that the last owner_chain_find made. */
unsigned owner_chain_questions(const struct owner_chain *c);

/* Time until a missing right is tried again. */
#define OWNER_REFUSED_SECONDS 300.0

#endif
