/*
 * The pod that we are a sidecar of: what the downward API says of it, as the table of systems reads it.
 *
 * From the folder of --jobs.pod-info: the files labels and annotations (lines key="value", as a downwardAPI volume has
 * them). From our own environment: POD_NAME, POD_NAMESPACE, POD_UID, RIGHTSIZE_JOB_NAME, and JOB_COMPLETION_INDEX, which
 * Kubernetes gives to each container of an indexed Job. Whatever is not there is not used.
 */
#ifndef EXPORTER_DISCOVERY_POD_H
#define EXPORTER_DISCOVERY_POD_H

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/naming/recognise.h"

#define POD_INFO_MAX ((size_t)256 * 1024)

/* Adds the strings KEY=VALUE, each ended by NUL, of one such file. Lines that make no sense are left out. */
void pod_info_parse(struct slice text, struct buf *out);

/* Is there anything to be read in that folder? The reason when there is not. */
int pod_info_check(const char *folder, struct err *e);

/*
 * The run that this pod is, and what says so: strings as struct process_text has them. -ENOENT: nothing names it; the
 * sentence says what would.
 */
int pod_recognise(const char *folder, struct buf *text, struct recognised *ret, struct err *e);

#endif
