/* Where files of ours are when no option says so. */
#ifndef EXPORTER_CORE_PATHS_H
#define EXPORTER_CORE_PATHS_H

#include "collectors/base/err.h"

/*
 * The history's path: given when it is not NULL; else history.db in $STATE_DIRECTORY (systemd), in
 * /var/lib/rightsize-exporter for root, or in $XDG_STATE_HOME/rightsize-exporter or
 * ~/.local/state/rightsize-exporter. The caller frees it.
 */
int path_default_history(char **ret, const char *given, struct err *e);

/* The cache of the catalogue, likewise: catalogue.db in $CACHE_DIRECTORY, /var/cache, $XDG_CACHE_HOME or ~/.cache. */
int path_default_cache(char **ret, const char *given, struct err *e);

/*
 * Makes the folder of a file with mode 0700, and those above it; what root makes belongs to whom the folder above it
 * does. ":memory:" needs none.
 */
int path_make_folder(const char *path, struct err *e);

/*
 * For root: a file that is not there yet is made, empty, for the owner of its folder. Else a command of root's would
 * take the history of a service from it that runs as a user of its own.
 */
void path_give_to_owner(const char *path);

#endif
