/* Finds the part of a name that stays the same from run to run. Pure functions. */
#ifndef COLLECTORS_NAMING_STABLE_NAME_H
#define COLLECTORS_NAMING_STABLE_NAME_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/* Maximum length of a name before its generated suffix, with the "-": Kubernetes cuts a longer name
 * before it adds the suffix (k8s.io/apiserver, pkg/storage/names/generate.go). */
#define GENERATED_AFTER 58

/* Removes dates, times (2026-11-21, 20261121T084512, 21.11.2026, 2026-W47, Unix seconds) and UUIDs
 * from the end of a name. Also removes the separators before them ("-", "_" and others). A name that
 * consists only of these parts stays unchanged. */
struct slice stable_name(struct slice name);

/* Returns true if the name consists only of dates, times and UUIDs. */
bool stable_name_only_dates(struct slice name);

/* Does the same as stable_name, and also removes "-" and the 5 random characters that Kubernetes
 * adds to a generated name (generateName). */
struct slice stable_name_without_generated(struct slice name);

/* For a node of an Argo workflow: removes "-" and the decimal hash that Argo adds, and then the
 * same as stable_name_without_generated. */
struct slice stable_name_without_node(struct slice name);

/* For a Job: removes the minutes since 1970 that a CronJob adds, and then the same as
 * stable_name_without_generated. */
struct slice stable_name_without_schedule(struct slice name);

/* Returns the part of a SageMaker training job's name that a person chose. Removes the parts that
 * pipelines, tuning jobs and the SDK add. */
struct slice stable_name_without_training(struct slice name);

/* Removes dates, times and UUIDs that are separate words before the end, as in
 * "2026-11-21-load-eu". Changes `name` in place. */
void stable_name_drop_dates(char *name);

/* Shows how much of a name seems to change from run to run. */
enum name_shape {
	NAME_STEADY,
	NAME_NUMBERED, /* a number, such as that of a run, a shard or a version */
	NAME_DATED,    /* a date, a time, a UUID or a hash */
};

/* Writes the name with "*" in place of each part that may change from run to run. Such a part is a
 * whole word: "etl-2026-11-21-load" becomes "etl-*-load", "v2" stays. `ret` must have room for
 * strlen(name) + 1 bytes, because the result is never longer than the name. */
enum name_shape stable_name_shape(const char *name, char *ret);

/* Labels of a pod. They show which part of the pod's name was added by its owner, such as a Job.
 * `data` is NULL for a label that the pod does not have. */
struct pod_owner {
	/* Hash of the pod's ReplicaSet, and index of the pod in its Job. */
	struct slice template_hash, index;
	bool stateful_set;
	bool labels_known; /* all labels were read, so a label that is missing here is not set */
};

/* Removes the part of a pod's name that its owner added: a ReplicaSet, Job, CronJob, StatefulSet or
 * indexed Job. A number at the end is removed if the labels show that the pod belongs to a
 * StatefulSet. It is also removed if the labels are unknown, because no other kind of owner is
 * known to add a number. */
struct slice stable_name_without_replica(struct slice name, const struct pod_owner *owner);

/* The kind of owner that made a pod, by the form of the pod's name. */
enum pod_maker {
	POD_OF_OTHERS,   /* a ReplicaSet (web-6d5f7c8b9d-x7k2p), a StatefulSet (db-0), a person */
	POD_OF_JOB,      /* load-x7k2p: a Job or a DaemonSet, which name their pods alike */
	POD_OF_CRON_JOB, /* load-28868640-x7k2p: a Job that a CronJob made */
};

enum pod_maker stable_name_pod_maker(struct slice name);

#endif
