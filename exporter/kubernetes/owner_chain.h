/* Finds out who owns a pod: asks the Kubernetes API for the metadata of the pod, and follows its
 * owners up to the one that stays from run to run. One thread. */
#ifndef EXPORTER_KUBERNETES_OWNER_CHAIN_H
#define EXPORTER_KUBERNETES_OWNER_CHAIN_H

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "exporter/client/download.h"
#include "exporter/kubernetes/object_meta.h"

/* Largest size of the words of one pod, in bytes. Further labels are ignored, and leave room for
 * the owner. */
#define OWNER_WORDS_MAX 4608
/* Most questions that one pod takes: the pod, and the owners that are followed. */
#define OWNER_QUESTIONS_MAX 4

/* The API, or its double. */
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
	/* The owner says nothing about it: there is none, or its kind is unknown. */
	POD_AS_NAMED,
	POD_IS_JOB,
	POD_IS_SERVICE, /* of a Deployment, a StatefulSet, a DaemonSet, the node itself */
	POD_UNANSWERED, /* the API has not told yet; only from pod_owners_find */
};

struct pod_ownership {
	enum pod_class class;
	/* KEY=VALUE strings, each ended by NUL: the pod's labels and annotations that name jobs, and
	 * for a job "pod.owner" (the name that stays) and "pod.owner-kind". */
	struct buf words;
};

struct owner_chain;

struct owner_chain *owner_chain_new(const struct owner_api *api); /* copies `api` */
void owner_chain_free(struct owner_chain *c);                     /* NULL does nothing */

/* Fills `ret`; the caller calls buf_done for its words, also after an error. If a right to read an
 * owner is missing, the chain ends there; a log line names the right, and it is tried again five
 * minutes later. An owner for which the API answers with an error of its own (5xx) ends the chain,
 * too: the API has told of the pod. A pod that is gone, or whose metadata is too large or malformed,
 * is POD_AS_NAMED.
 *
 * -EACCES: the right to read pods is missing. -EPERM: the token is not accepted. -EIO: the API does
 * not answer as it should, or cannot be asked. */
int owner_chain_find(struct owner_chain *c, const struct pod_id *pod, struct mono now,
	struct pod_ownership *ret, struct err *e);

/* Returns the seconds that the API asked to wait in its last answer; 0 = it did not. */
double owner_chain_wait(const struct owner_chain *c);

/* Returns the number of questions that the last owner_chain_find asked. */
unsigned owner_chain_questions(const struct owner_chain *c);

/* Time until a missing right is tried again. */
#define OWNER_REFUSED_SECONDS 300.0

#endif
