/* Finds the default paths of the history and the cache, and creates their folders. */
#ifndef EXPORTER_CORE_PATHS_H
#define EXPORTER_CORE_PATHS_H

#include <stdbool.h>

#include "collectors/base/err.h"

/* Finds the path of the history. If `given` is not NULL, it is the path. Otherwise the path is
 * history.db in the first of these folders that applies:
 * 1. $STATE_DIRECTORY, if systemd has set it
 * 2. /var/lib/rightsize-exporter, if root runs the program
 * 3. $XDG_STATE_HOME/rightsize-exporter
 * 4. ~/.local/state/rightsize-exporter
 *
 * The caller frees `*ret`. Returns -ENOENT when none applies. */
int path_default_history(char **ret, const char *given, struct err *e);

/* Finds the path of the cache. If `given` is not NULL, it is the path. Otherwise the path is
 * catalogue.db in the first of these folders that applies:
 * 1. $CACHE_DIRECTORY, if systemd has set it
 * 2. /var/cache/rightsize-exporter, if root runs the program
 * 3. $XDG_CACHE_HOME/rightsize-exporter
 * 4. ~/.cache/rightsize-exporter
 *
 * The caller frees `*ret`. Returns -ENOENT when none applies. */
int path_default_cache(char **ret, const char *given, struct err *e);

/* Creates the folder of the file at `path` and its missing parents, with mode 0700. A folder that
 * root creates gets the owner of its parent. ":memory:" needs no folder. */
int path_make_folder(const char *path, struct err *e);

/* Returns true when a read or write of the file at `path` may wait forever: another machine or
 * another program serves its file system (NFS, FUSE), or the kind of file system is unknown.
 * Returns at once, because it reads only the mount table. Does not follow symbolic links. Returns
 * false if `path` is not absolute. */
bool path_is_remote(const char *path);

/* If the file at `path` is missing and root runs this program, creates the file and gives it to the
 * owner of its folder. A service that runs as this owner can then open a history that root created.
 * Does nothing if root owns the folder. */
void path_give_to_owner(const char *path);

#endif
