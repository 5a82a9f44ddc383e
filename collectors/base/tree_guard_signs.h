/*
 * What those files of a process that wait for nothing say of whether others would be waited for: texts of proc(5), any bytes.
 */
#ifndef BASE_TREE_GUARD_SIGNS_H
#define BASE_TREE_GUARD_SIGNS_H

#include <stdbool.h>

#include "collectors/base/scan.h"

/* Between the old program and the new one it has memory, but no code: the fourth number of statm, mm->end_code. */
bool statm_in_exec(struct scan statm);

/*
 * Who maps a file that does not come waits for it like for a disk, and so tells its state when it has one thread. waits: it
 * does; of several threads any may. What is not told stays as if it did not wait and had several.
 */
bool status_may_map(struct scan status, bool *waits);

#endif
