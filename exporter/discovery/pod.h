/* Names the job of the pod in which the exporter is a sidecar, by the Kubernetes downward API.
 *
 * Reads the files `labels` and `annotations` in the directory of --jobs.pod-info, with lines
 * key="value" as in a downwardAPI volume. Reads POD_NAME, POD_NAMESPACE, POD_UID,
 * RIGHTSIZE_JOB_NAME and JOB_COMPLETION_INDEX from the exporter's environment. Kubernetes sets
 * JOB_COMPLETION_INDEX in each container of an indexed Job. All sources are optional. */
#ifndef EXPORTER_DISCOVERY_POD_H
#define EXPORTER_DISCOVERY_POD_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"

#define POD_INFO_MAX ((size_t)256 * 1024)

/* Appends the lines of a labels or annotations file as KEY=VALUE, each ended by NUL. Skips
 * malformed lines. */
void pod_info_parse(struct slice text, struct buf *out);

/* Returns 0 when labels or annotations can be read in `folder`, else a negative errno with `e`. */
int pod_info_check(const char *folder, struct err *e);

/* Names the run of the pod. `text` receives the KEY=VALUE strings (struct process_text); the caller
 * calls buf_done. -ENOENT: the pod has no name, and `e` lists ways to name it. */
int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e);

#endif
