/* Version and build of this program. CMake generates the source file. */
#ifndef EXPORTER_CORE_VERSION_H
#define EXPORTER_CORE_VERSION_H

struct version {
	const char *version;
	const char *revision, *branch; /* "unknown" outside a git checkout */
	const char *compiler, *os, *arch;
};

extern const struct version version;

#endif
