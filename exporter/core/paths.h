/* Default paths of the history and the cache, and the creation of their folders. */
#ifndef EXPORTER_CORE_PATHS_H
#define EXPORTER_CORE_PATHS_H

#include "collectors/base/err.h"

/*
 * The history's path: given when it is not NULL; else history.db in $STATE_DIRECTORY (systemd), in
 * /var/lib/rightsize-exporter for root, else in $XDG_STATE_HOME/rightsize-exporter or
 * ~/.local/state/rightsize-exporter. The caller frees *ret. -ENOENT: no such variable is set.
 */
int path_default_history(char **ret, const char *given, struct err *e);

/* Likewise catalogue.db: in $CACHE_DIRECTORY, /var/cache, $XDG_CACHE_HOME or ~/.cache. */
int path_default_cache(char **ret, const char *given, struct err *e);

/*
 * Creates the folder of a file and its missing parents, with mode 0700. A folder that root creates
 * gets the owner of its parent. ":memory:" needs no folder.
 */
int path_make_folder(const char *path, struct err *e);

/*
 * As root, creates a missing file for the owner of its folder. Otherwise a command run by root
 * would create a history that a service with its own user cannot open.
 */
void path_give_to_owner(const char *path);

#endif
