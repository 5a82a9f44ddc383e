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

/* Converts the lines of a file `labels` or `annotations` to KEY=VALUE strings, each ended by NUL,
 * and appends them to `out`. Skips malformed lines. */
void pod_info_parse(struct slice text, struct buf *out);

/* Returns 0 when `folder` has labels or annotations that can be read. Otherwise returns a negative
 * errno and fills `e`. */
int pod_info_check(const char *folder, struct err *e);

/* Finds the namespace that this program gives to its jobs: the value of --jobs.namespace, or with
 * --jobs.pod-namespace the namespace of this program's pod (POD_NAMESPACE), or "". No other thread
 * may change the environment during the call. */
void pod_job_space(const struct options *o, char ret[static JOB_SPACE_MAX]);

/* Finds the job of the pod, but not its namespace. `folder` is --jobs.pod-info; NULL = not given.
 * Fills `text` with the KEY=VALUE strings of all sources (struct process_text); the caller calls
 * buf_done for it. -ENOENT: no source names a job, and `e` lists the ways to name it. */
int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e);

#endif
