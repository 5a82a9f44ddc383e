/* What this build is; the values come from CMake. */
#ifndef EXPORTER_VERSION_H
#define EXPORTER_VERSION_H

#include "collectors/base/buf.h"

struct version {
	const char *version, *revision, *branch, *compiler, *os, *arch;
};

extern const struct version version;

/* As Prometheus programs print it: "NAME, version V (branch: B, revision: R)" and details. */
void version_text(struct buf *out);

#endif
