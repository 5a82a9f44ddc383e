/*
 * Names the job of the pod in which the exporter is a sidecar, by the Kubernetes downward API.
 *
 * Reads the files labels and annotations in the folder of --jobs.pod-info (lines key="value", as a
 * downwardAPI volume has them). Reads POD_NAME, POD_NAMESPACE, POD_UID, RIGHTSIZE_JOB_NAME and
 * JOB_COMPLETION_INDEX from the exporter's environment. Kubernetes sets the last one in each
 * container of an indexed Job. All of them are optional.
 */
#ifndef EXPORTER_DISCOVERY_POD_H
#define EXPORTER_DISCOVERY_POD_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"

#define POD_INFO_MAX ((size_t)256 * 1024)

/* Appends the lines of one such file as KEY=VALUE, each ended by NUL. Skips malformed lines. */
void pod_info_parse(struct slice text, struct buf *out);

/* 0 when labels or annotations can be read in the folder; else a negative errno with e. */
int pod_info_check(const char *folder, struct err *e);

/*
 * Names the run of the pod. text receives the KEY=VALUE strings that were read (struct
 * process_text); call buf_done. -ENOENT: the pod has no name, and e lists ways to give it one.
 */
int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e);

#endif
