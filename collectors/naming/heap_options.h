/* Options of a command line that decide how much memory a program takes. Only the option's name is
 * kept, because its value, like all arguments, may be secret. */
#ifndef COLLECTORS_NAMING_HEAP_OPTIONS_H
#define COLLECTORS_NAMING_HEAP_OPTIONS_H

#include <stddef.h>

#include "collectors/base/scan.h"

/* Names of the labels of a run (struct recognised) that has such an option. */
#define HEAP_SHARE_LABEL "heap_share_option" /* a share of the memory that the program gets */
#define HEAP_SIZE_LABEL  "heap_size_option"  /* a fixed size of the program's memory */

/* Returns the name of the first such option after argument[0], and writes the name of its label to
 * *ret_label. Returns NULL when there is none. */
const char *heap_option_find(const struct slice *argument, size_t n, const char **ret_label);

#endif
