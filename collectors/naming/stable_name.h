/* Finds the part of a name that stays the same from run to run. Pure functions. */
#ifndef COLLECTORS_NAMING_STABLE_NAME_H
#define COLLECTORS_NAMING_STABLE_NAME_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/* Removes dates and times (2026-11-21, 20261121T084512, Unix seconds), UUIDs, and the separators
 * before them, such as - or _, from the end of a name. A name that consists only of these parts
 * stays unchanged. */
struct slice stable_name(struct slice name);

/* Returns true if the name has only dates, times and UUIDs. */
bool stable_name_only_dates(struct slice name);

/* Like stable_name. Also removes "-" and the 5 letters that Kubernetes adds to a prefix
 * (generateName). */
struct slice stable_name_without_generated(struct slice name);

/* Like stable_name_without_generated. First removes "-" and the decimal hash that Argo adds to the
 * nodes of a workflow. */
struct slice stable_name_without_node(struct slice name);

/* Like stable_name_without_generated, for the name of a Job. First removes the minutes since 1970
 * that a CronJob added. */
struct slice stable_name_without_schedule(struct slice name);

/* Returns the part of a SageMaker training job's name that a person chose. Removes the parts that
 * pipelines, tuning jobs and the SDK add. */
struct slice stable_name_without_training(struct slice name);

/* Removes dates, times and UUIDs that are separate words before the end, as in
 * "2026-11-21-load-eu". Changes `name` in place. */
void stable_name_drop_dates(char *name);

/* Labels of a pod that show which part of its name the owner added. data NULL = no such label. */
struct pod_owner {
	struct slice template_hash, index; /* hash of its ReplicaSet; index in its Job */
	bool stateful_set;
	bool labels_known; /* all labels were read: a missing label means no such owner */
};

/* Removes from the name of a pod the part that its ReplicaSet, Job, CronJob, StatefulSet or indexed
 * Job added. A number at the end stays, except for pods of a StatefulSet. If the labels are
 * unknown, a number at the end is removed, because only a StatefulSet is known to make such
 * names. */
struct slice stable_name_without_replica(struct slice name, const struct pod_owner *owner);

#endif
