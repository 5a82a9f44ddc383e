/* The thread that asks the Kubernetes API who owns the pods of this node, and what it has answered
 * so far. A pod whose owner is known is named by the owner, and is a job or not for certain. Nobody
 * waits for the thread.
 *
 * - It asks once about each pod: for the pod, then for its owners (owner_chain.h). It asks 5
 *   questions a second at most, as Kubernetes' own clients do (client-go), after a first 100.
 * - It uses the address that Kubernetes sets in each container, and the token and the authority in
 *   the folder of --kubernetes.account. It reads the token anew for each question, because the
 *   kubelet renews it. The token is never logged.
 * - While the API does not answer, or refuses, pods are named as without it, at once. The thread
 *   asks again after a second, then after growing pauses of up to 5 minutes. It asks for a new pod
 *   before one that failed, and no more for one that fails again while the API tells of others. */
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

/* Starts the thread. Sets `*ret` to NULL, and returns 0, where there is nobody to ask: without
 * --kubernetes.api, outside of Kubernetes, or without a token. */
int pod_owners_start(struct pod_owners **ret, const struct options *o, struct err *e);

/* As pod_owners_start, with another API. For tests. */
int pod_owners_start_with(struct pod_owners **ret, const struct owner_api *api, struct err *e);

/* The thread calls `known` when it has an answer for which somebody waits. Call this before the
 * first question. */
void pod_owners_tell(struct pod_owners *o, void (*known)(void *context), void *context);

/* Sets `*ret` to what is known about the pod, and appends its words (struct pod_ownership). Asks, if
 * nothing is known: POD_UNANSWERED. Returns false while the answer is worth a wait; without an
 * answer, the pod is then named as without the API, and may be looked up again. `waits`: whether
 * the caller would wait for the answer, rather than have it asked in advance. `o` may be NULL:
 * POD_AS_NAMED. Sampler thread. */
bool pod_owners_find(struct pod_owners *o, const struct pod_id *pod, struct mono now, bool waits,
	struct buf *words, enum pod_class *ret);

/* Ends the thread within a second. pod_owners_find may still be called, and asks nobody any more.
 * NULL does nothing. */
void pod_owners_stop(struct pod_owners *o);
void pod_owners_free(struct pod_owners *o);

#endif
