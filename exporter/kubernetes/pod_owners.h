/* A thread that asks the Kubernetes API which objects own the pods of this node, and a table of its
 * answers. The kind of the owner shows whether the pod is a job, and the owner's name becomes the
 * name of the job. A caller does not block: while there is no answer, it calls again later.
 *
 * - The thread requests each pod once, and then its owners (owner_chain.h). After the first 100
 *   requests, it sends at most 5 requests a second, like Kubernetes' own clients (client-go).
 * - The thread uses the address of the API that Kubernetes sets in the environment of each
 *   container, and the token and the certificate authority in the folder of --kubernetes.account.
 *   It reads the token again for each request, because the kubelet renews it. The token is never
 *   logged.
 * - While the API does not answer or refuses requests, pods are named without the API. The thread
 *   tries again after a second, then after growing pauses of up to 5 minutes. Pods for which a
 *   request failed are requested after all others. If the request for such a pod fails again, and
 *   the API has answered for other pods in between, the thread gives up this pod. */
#ifndef EXPORTER_KUBERNETES_POD_OWNERS_H
#define EXPORTER_KUBERNETES_POD_OWNERS_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "exporter/kubernetes/owner_chain.h"

/* Maximum number of pods that are remembered. The kubelet runs 110 pods on a node by default. */
#define POD_OWNERS_MAX 1000
/* Maximum time to wait for the API to tell the owner of a pod. After this time, the run gets its
 * name from the pod itself. The wait delays only the time when the run appears. The recorded start
 * of the run is the start of its process. */
#define POD_OWNER_PATIENCE_SECONDS 3.0

struct options;
struct pod_owners;

/* Starts the thread. If the API cannot or must not be used, sets `*ret` to NULL and returns 0. The
 * API is used if this program runs in Kubernetes and can read its token, if --kubernetes.api and
 * --jobs.recognise are set, and if --jobs.pod is not set. */
int pod_owners_start(struct pod_owners **ret, const struct options *o, struct err *e);

/* Like pod_owners_start, but with a replacement for the API. For tests. */
int pod_owners_start_with(struct pod_owners **ret, const struct owner_api *api, struct err *e);

/* Sets the function that the thread calls when an answer has arrived for which the sampler waits
 * (pod_owners_find with `waits`). Call it before the first pod_owners_find. */
void pod_owners_tell(struct pod_owners *o, void (*known)(void *context), void *context);

/* Looks up the class of a pod in the table of answers. Writes the class to `*ret`, and appends the
 * pod's words (struct pod_ownership). Without an answer, the class is POD_UNANSWERED, and the
 * thread will request the pod. If `o` is NULL, the class is POD_AS_NAMED. Sampler thread only.
 *
 * Returns false if the caller should wait for an answer and call again. Returns true if the caller
 * can use the class. Also returns true if the pod must be named without the API, because the API
 * fails, or because no answer came in POD_OWNER_PATIENCE_SECONDS. `waits`: true = the caller needs
 * the answer now; false = the call only makes the thread request the pod in advance. */
bool pod_owners_find(struct pod_owners *o, const struct pod_id *pod, struct mono now, bool waits,
	struct buf *words, enum pod_class *ret);

/* Ends the thread within a second. pod_owners_find may still be called, but nothing is requested
 * any more. NULL does nothing. */
void pod_owners_stop(struct pod_owners *o);
void pod_owners_free(struct pod_owners *o);

#endif
