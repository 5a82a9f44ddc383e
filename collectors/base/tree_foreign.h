/* Implements tree_foreign for a directory of this machine. Only tree.c includes this header. */
#ifndef COLLECTORS_BASE_TREE_FOREIGN_H
#define COLLECTORS_BASE_TREE_FOREIGN_H

#include "collectors/base/tree.h"

/* Does what tree_foreign does (tree.h). `top` is a descriptor of the directory that contains
 * f->folder. */
ssize_t foreign_head(int top, const struct foreign *f, char *buf, size_t size);

#endif
