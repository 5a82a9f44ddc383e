/* Files where a process may have put anything: tree_foreign of a directory of this machine. tree.c alone includes this. */
#ifndef COLLECTORS_BASE_TREE_FOREIGN_H
#define COLLECTORS_BASE_TREE_FOREIGN_H

#include "collectors/base/tree.h"

/* top: what f->folder is below. */
ssize_t foreign_head(int top, const struct foreign *f, char *buf, size_t size);

#endif
