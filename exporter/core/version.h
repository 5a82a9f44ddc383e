/*
 * What this program is and how it was built. Made by CMake.
 */
#ifndef EXPORTER_CORE_VERSION_H
#define EXPORTER_CORE_VERSION_H

struct version {
	const char *version, *revision,
		*branch; /* revision and branch "unknown" outside a git checkout */
	const char *compiler, *os, *arch;
};

extern const struct version version;

#endif
