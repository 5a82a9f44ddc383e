/* Space of a file system below a directory that is open. */
#ifndef BASE_SPACE_H
#define BASE_SPACE_H

#include "collectors/base/tree.h"

/* As tree_space. Any thread. */
int space_at(int top, const char *path, struct tree_space *ret);

#endif
