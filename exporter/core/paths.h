/* Default paths of the history and the cache, and the creation of their folders. */
#ifndef EXPORTER_CORE_PATHS_H
#define EXPORTER_CORE_PATHS_H

#include "collectors/base/err.h"

/* Finds the path of the history: `given` when it is not NULL, else history.db in the first of
 * these: $STATE_DIRECTORY (systemd); for root /var/lib/rightsize-exporter;
 * $XDG_STATE_HOME/rightsize-exporter; ~/.local/state/rightsize-exporter. The caller frees `*ret`.
 * Returns -ENOENT when none of these variables is set. */
int path_default_history(char **ret, const char *given, struct err *e);

/* Finds the path of the cache: `given` when it is not NULL, else catalogue.db in the first of
 * these: $CACHE_DIRECTORY (systemd); for root /var/cache/rightsize-exporter;
 * $XDG_CACHE_HOME/rightsize-exporter; ~/.cache/rightsize-exporter. The result is as in
 * path_default_history. */
int path_default_cache(char **ret, const char *given, struct err *e);

/* Creates the folder of the file at `path` and its missing parents, with mode 0700. A folder that
 * root creates gets the owner of its parent. ":memory:" needs no folder. */
int path_make_folder(const char *path, struct err *e);

/* Does nothing unless root runs this process. Creates the file if it is missing, and gives it the
 * owner of its folder. Without this, a command of root could create a history that a service of
 * another user cannot open. */
void path_give_to_owner(const char *path);

#endif
