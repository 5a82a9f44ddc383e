/* Finds the pod of a process on a Kubernetes node, for an exporter that sees the processes of all
 * pods. It needs no rights in the Kubernetes API or the container runtime, because it reads only
 * two things on the node. (The owner of a pod comes from the API:
 * exporter/kubernetes/pod_owners.h.)
 *
 * - The path of the process's control group contains the UID of its pod: "/pod" UID with the cgroup
 *   driver cgroupfs; "-pod" UID ".slice" with the driver systemd, where "_" stands for each "-" of
 *   the UID.
 * - The folder of the pod's logs, in var/log/pods below --path.rootfs, has the name
 *   NAMESPACE_NAME_UID. The kubelet creates this folder before it starts the first container
 *   (kubernetes 1.36: BuildPodLogsDirectory in pkg/kubelet/kuberuntime/helpers.go).
 *
 * Sampler thread only. */
#ifndef EXPORTER_DISCOVERY_NODE_PODS_H
#define EXPORTER_DISCOVERY_NODE_PODS_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/host.h"
#include "exporter/kubernetes/object_meta.h"

/* Maximum number of pods that are remembered, including pods that have ended. By default, the
 * kubelet runs at most 110 pods at a time. When the table is full, pods without a folder of logs
 * are removed. If there are more folders than this, some pods are not found. */
#define NODE_PODS_MAX 2000

struct node_pod {
	char space[POD_SPACE_MAX], name[POD_NAME_MAX], uid[POD_UID_MAX];
	/* true = the name of the pod has the form of a Job's pods. A DaemonSet uses the same form.
	 * In a namespace of Kubernetes itself, such as kube-system, only the form of a CronJob's
	 * pods counts. */
	bool of_job;
	/* true = the name of the pod has the form of a CronJob's pods, which no pod of a DaemonSet
	 * has */
	bool of_cron_job;
	/* true = an exporter in the pod records the pod's run. node_pods.c neither sets nor reads
	 * this member; its callers do. */
	bool recorded;
};

struct node_pods;

struct node_pods *node_pods_new(void);
void node_pods_free(struct node_pods *p); /* NULL does nothing */

/* Returns true if this machine is a Kubernetes node: it has the folder of the pods' logs. On any
 * other machine, the control groups of processes need not be read. Checks the folder at most once a
 * minute. */
bool node_pods_here(struct node_pods *p, const struct host *h);

/* Finds the pod to which a control group belongs. Returns NULL if it belongs to no pod, or if the
 * pod has no folder of logs. If the pod's UID is not known yet, lists the folders of logs, but at
 * most once per tick. The result is valid until the next call. */
struct node_pod *node_pods_find(struct node_pods *p, const struct host *h, struct slice cgroup);

/* Writes the facts about the pod as KEY=VALUE strings, each ended by NUL (struct process_text).
 * `index` is the pod's index in an indexed Job; index.data NULL = it has none. */
void node_pods_text(const struct node_pod *pod, struct slice index, struct buf *out);

/* Finds the UID of a pod in the path of a control group. Writes the UID with "-", even if the path
 * has "_" instead. If the path names several pods, because the node itself is a container, the
 * innermost pod is used. Returns false if the path names no pod. Static pods are not found, because
 * they have a hash instead of a UID. This does no harm, because no Job makes static pods. */
bool node_pods_uid(struct slice cgroup, char ret[POD_UID_MAX]);

#endif
