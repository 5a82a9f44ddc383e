/*
 * The part of a name that stays the same from run to run. Pure.
 */
#ifndef COLLECTORS_STEADY_NAME_H
#define COLLECTORS_STEADY_NAME_H

#include "collectors/base/scan.h"

/*
 * Without what changes at the end of a name: dates and times (2026-11-21, 20261121T084512, Unix seconds), UUIDs,
 * and the - or _ before them. A name that is nothing else stays as it is.
 */
struct slice steady_name(struct slice name);

/* As Kubernetes makes names out of a prefix (generateName): also without "-" and 5 of its letters, or a number. */
struct slice without_generated(struct slice name);

/* As SageMaker names the training jobs of its pipelines, of tuning jobs and of its SDK: the part that was chosen. */
struct slice without_training(struct slice name);

/* Without dates, times and UUIDs that stand by themselves before the end: "2026-11-21-load-eu". In place. */
void drop_dates_inside(char *name);

/* Of a pod: without what its ReplicaSet, Job, CronJob, StatefulSet or indexed Job added. */
struct slice without_replica(struct slice name);

#endif
