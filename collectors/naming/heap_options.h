/* Finds the command-line option that decides how much memory a program takes. Only the option's
 * name is kept, because its value, like any argument, may be secret. */
#ifndef COLLECTORS_NAMING_HEAP_OPTIONS_H
#define COLLECTORS_NAMING_HEAP_OPTIONS_H

#include <stddef.h>

#include "collectors/base/scan.h"

/* A run whose command has such an option gets a label (struct recognised) with one of these names.
 * The value of the label is the name of the option. */
#define HEAP_SHARE_LABEL "heap_share_option" /* a share of the memory that the program gets */
#define HEAP_SIZE_LABEL  "heap_size_option"  /* a fixed size of the program's memory */

/* Returns the name of the first such option among argument[1] to argument[n - 1], and sets
 * *ret_label to the name of its label. Returns NULL if there is no such option. */
const char *heap_option_find(const struct slice *argument, size_t n, const char **ret_label);

#endif
