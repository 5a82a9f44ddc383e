/* Golden files: the output of a test is compared with tests/golden/NAME. With UPDATE_GOLDEN=1 in
 * the environment the output is written to that file instead. A reviewer then sees what changed. */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stddef.h>

/* Fails the running cmocka test and prints the first line that differs. */
void golden_check(const char *name, const char *text, size_t len);

#endif
