/* Finds the pod of a process on a Kubernetes node, for an exporter that sees the processes of all
 * pods. Asks neither the Kubernetes API nor the container runtime, so it needs no rights there
 * (exporter/kubernetes/pod_owners.h asks the API who owns the pod). Two facts of the node are
 * enough:
 *
 * - The path of a process's control group has the UID of its pod: "/pod" UID with the driver
 *   cgroupfs, "-pod" UID ".slice" with "_" for "-" with the driver systemd.
 * - The kubelet names the folder of a pod's logs NAMESPACE_NAME_UID, in var/log/pods below
 *   --path.rootfs. It creates the folder before it starts the first container (kubernetes 1.36:
 *   BuildPodLogsDirectory in pkg/kubelet/kuberuntime/helpers.go).
 *
 * Sampler thread only. */
#ifndef EXPORTER_DISCOVERY_NODE_PODS_H
#define EXPORTER_DISCOVERY_NODE_PODS_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/host.h"
#include "exporter/kubernetes/object_meta.h"

/* Maximum number of pods that are known at a time, including pods that have ended. By default, the
 * kubelet runs at most 110 pods at a time. When the table is full, the pods whose folders are gone
 * are forgotten. If there are more folders than this, some pods are not found. */
#define NODE_PODS_MAX 2000

struct node_pod {
	char space[POD_SPACE_MAX], name[POD_NAME_MAX], uid[POD_UID_MAX];
	/* True if a Job made the pod, by the form of the pod's name. The pod of a DaemonSet has the
	 * same form of name as the pod of a plain Job. Therefore a pod in a namespace of Kubernetes
	 * itself, such as kube-system, counts only if its name is that of a CronJob's pod. */
	bool of_job;
	/* True if the pod's name shows that a CronJob made it. A pod of a DaemonSet cannot have
	 * such a name. */
	bool of_cron_job;
	/* an exporter in the pod records the pod's run; only the caller of node_pods_find uses this
	 * member */
	bool recorded;
};

struct node_pods;

struct node_pods *node_pods_new(void);
void node_pods_free(struct node_pods *p); /* NULL does nothing */

/* Returns true if this machine is a Kubernetes node, so that it is worth reading control groups.
 * Checks the folder of logs at most once a minute. */
bool node_pods_here(struct node_pods *p, const struct host *h);

/* Finds the pod of a control group. Returns NULL if the group does not belong to a pod, or if the
 * pod has no folder of logs. Lists the folders at most once per tick, and only for an unknown UID.
 * The pod is valid until the next call. */
struct node_pod *node_pods_find(struct node_pods *p, const struct host *h, struct slice cgroup);

/* Writes the pod as KEY=VALUE strings, each ended by NUL (struct process_text). `index` is the
 * pod's index in an indexed Job; data NULL = none. */
void node_pods_text(const struct node_pod *pod, struct slice index, struct buf *out);

/* Finds the UID of a pod in the path of a control group, with "-" also for the driver systemd. The
 * innermost pod wins, as on a node that is itself a container. Returns false if there is none. A
 * static pod has a hash instead of a UID: it is not found, because no Job makes it. */
bool node_pods_uid(struct slice cgroup, char ret[POD_UID_MAX]);

#endif
