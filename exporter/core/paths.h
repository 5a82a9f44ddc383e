/* Finds the default paths of the history and the cache, and creates their folders. */
#ifndef EXPORTER_CORE_PATHS_H
#define EXPORTER_CORE_PATHS_H

#include <stdbool.h>

#include "collectors/base/err.h"

/* Finds the path of the history: `given` if it is not NULL. Otherwise history.db in the first of
 * these folders that is known: $STATE_DIRECTORY (set by systemd); /var/lib/rightsize-exporter, for
 * root only; $XDG_STATE_HOME/rightsize-exporter; ~/.local/state/rightsize-exporter. The caller
 * frees `*ret`. Returns -ENOENT when no folder is known. */
int path_default_history(char **ret, const char *given, struct err *e);

/* Finds the path of the cache: `given` if it is not NULL. Otherwise catalogue.db in the first of
 * these folders that is known: $CACHE_DIRECTORY (set by systemd); /var/cache/rightsize-exporter,
 * for root only; $XDG_CACHE_HOME/rightsize-exporter; ~/.cache/rightsize-exporter. The caller frees
 * `*ret`. Returns -ENOENT when no folder is known. */
int path_default_cache(char **ret, const char *given, struct err *e);

/* Creates the folder of the file at `path` and its missing parents, with mode 0700. A folder that
 * root creates gets the owner of its parent. ":memory:" needs no folder. */
int path_make_folder(const char *path, struct err *e);

/* Returns true when another machine or another program serves the file system of the file at
 * `path`, as NFS and FUSE do, or when this is unknown: calls on such a file system may never
 * return. Asks the mount table and not the file system, so this call returns at once. Does not
 * follow symbolic links. Returns false if `path` is not absolute. */
bool path_is_remote(const char *path);

/* Creates a missing file for the owner of its folder. Otherwise a command that root runs could
 * create a history that a service of another user cannot open. Does nothing if the file exists, if
 * this process does not run as root, or if root owns the folder. */
void path_give_to_owner(const char *path);

#endif
