/* Finds the job name of the pod in which the exporter is a sidecar. The name comes from these
 * sources of the Kubernetes downward API, which are all optional:
 *
 * - The files `labels` and `annotations` in the directory of --jobs.pod-info. Their lines are
 *   key="value", as in a downwardAPI volume.
 * - The variables POD_NAME, POD_NAMESPACE, POD_UID, RIGHTSIZE_JOB_NAME and
 *   JOB_COMPLETION_INDEX in the exporter's environment. Kubernetes itself sets
 *   JOB_COMPLETION_INDEX in each container of an indexed Job. */
#ifndef EXPORTER_DISCOVERY_POD_H
#define EXPORTER_DISCOVERY_POD_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"
#include "exporter/options/options.h"

#define POD_INFO_MAX ((size_t)256 * 1024)

/* Appends the lines of a labels or annotations file as KEY=VALUE, each ended by NUL. Skips
 * malformed lines. */
void pod_info_parse(struct slice text, struct buf *out);

/* Returns 0 when `folder` has labels or annotations that can be read. Otherwise returns a negative
 * errno and fills `e`. */
int pod_info_check(const char *folder, struct err *e);

/* Writes the namespace of a job that this program itself begins: --jobs.namespace, or else, with
 * --jobs.pod-namespace, that of the pod in which this program runs (POD_NAMESPACE); "" = none. No other
 * thread may change the environment during the call. */
void pod_job_space(const struct options *o, char ret[static JOB_SPACE_MAX]);

/* Finds the job of the pod, without its namespace. Fills `text` with the KEY=VALUE strings (struct
 * process_text); the caller calls buf_done for it. -ENOENT: the pod has no name, and `e` lists
 * the ways to name it. */
int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e);

#endif
