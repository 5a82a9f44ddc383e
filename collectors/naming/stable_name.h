/*
 * The part of a name that stays the same from run to run. Pure.
 */
#ifndef COLLECTORS_NAMING_STABLE_NAME_H
#define COLLECTORS_NAMING_STABLE_NAME_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/*
 * Without what changes at the end of a name: dates and times (2026-11-21, 20261121T084512, Unix seconds), UUIDs,
 * and the - or _ before them. A name that is nothing else stays as it is.
 */
struct slice stable_name(struct slice name);

/* Is it nothing but dates, times and UUIDs? */
bool stable_name_only_dates(struct slice name);

/* As Kubernetes makes names out of a prefix (generateName): also without "-" and 5 of its letters. */
struct slice stable_name_without_generated(struct slice name);

/* As Argo numbers the nodes of a workflow: without "-" and a hash in decimal, then as generated. */
struct slice stable_name_without_node(struct slice name);

/* Of a Job: without the minutes since 1970 that its CronJob added, else as generated. */
struct slice stable_name_without_schedule(struct slice name);

/* As SageMaker names the training jobs of its pipelines, of tuning jobs and of its SDK: the part that was chosen. */
struct slice stable_name_without_training(struct slice name);

/* Without dates, times and UUIDs that stand by themselves before the end: "2026-11-21-load-eu". In place. */
void stable_name_drop_dates(char *name);

/* What the labels of a pod tell of the part of its name that its owner added; data NULL = they do not. */
struct pod_owner {
	struct slice template_hash, index; /* of its ReplicaSet; of an indexed Job */
	bool stateful_set;
	bool labels_known; /* and what they do not tell is not so */
};

/*
 * Of a pod: without what its ReplicaSet, Job, CronJob, StatefulSet or indexed Job added. A number at the end is of the
 * name, unless it is known to be an index, or nothing but a StatefulSet is known to make such names.
 */
struct slice stable_name_without_replica(struct slice name, const struct pod_owner *owner);

#endif
