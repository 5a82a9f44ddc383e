/* The thread that asks the Kubernetes API which objects own the pods of this node, and the answers
 * so far. The kind of the owner shows whether the pod is a job, and a job is named by its owner. No
 * caller blocks until the thread has an answer.
 *
 * - The thread asks once about each pod: for the pod, then for its owners (owner_chain.h). After
 *   the first 100 requests, it makes at most 5 requests a second, as Kubernetes' own clients do
 *   (client-go).
 * - The thread uses the address that Kubernetes sets in each container, and the token and the
 *   certificate authority in the folder of --kubernetes.account. It reads the token anew for each
 *   request, because the kubelet renews it. The token is never logged.
 * - While the API does not answer, or refuses, pods are named at once as without the API. The
 *   thread asks again after a second, then after growing pauses of up to 5 minutes. Pods for which
 *   a request failed come after all others. If a request fails again for such a pod, and the API
 *   answered for other pods in the meantime, the thread gives the pod up. */
#ifndef EXPORTER_KUBERNETES_POD_OWNERS_H
#define EXPORTER_KUBERNETES_POD_OWNERS_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/err.h"
#include "exporter/kubernetes/owner_chain.h"

/* Maximum number of pods that are remembered. The kubelet runs 110 pods on a node by default. */
#define POD_OWNERS_MAX 1000
/* The longest wait for the owner of a pod. Afterwards the pod is named as without the API. The run
 * still begins at the start of its process: the wait only delays when it is listed. */
#define POD_OWNER_PATIENCE_SECONDS 3.0

struct options;
struct pod_owners;

/* Starts the thread. Sets `*ret` to NULL, and returns 0, if the API is not used: without
 * --kubernetes.api, outside of Kubernetes, without a token that can be read, without
 * --jobs.recognise, or with --jobs.pod. */
int pod_owners_start(struct pod_owners **ret, const struct options *o, struct err *e);

/* As pod_owners_start, with another API. For tests. */
int pod_owners_start_with(struct pod_owners **ret, const struct owner_api *api, struct err *e);

/* Sets the function that the thread calls when it has an answer for which a call of pod_owners_find
 * with `waits` is waiting. Call this before the first pod_owners_find. */
void pod_owners_tell(struct pod_owners *o, void (*known)(void *context), void *context);

/* Sets `*ret` to the class of the pod, and appends the pod's words (struct pod_ownership). If
 * nothing is known, has the thread ask, and `*ret` is POD_UNANSWERED. Returns false while the
 * caller should wait for the answer and call again: up to POD_OWNER_PATIENCE_SECONDS, unless the
 * API fails. After that it returns true, and the caller names the pod as without the API. `waits`:
 * the caller needs the answer now; false = the question only fills the table in advance. If `o` is
 * NULL, `*ret` is POD_AS_NAMED. Sampler thread. */
bool pod_owners_find(struct pod_owners *o, const struct pod_id *pod, struct mono now, bool waits,
	struct buf *words, enum pod_class *ret);

/* Ends the thread within a second. pod_owners_find may still be called, but makes no more requests.
 * NULL does nothing. */
void pod_owners_stop(struct pod_owners *o);
void pod_owners_free(struct pod_owners *o);

#endif
