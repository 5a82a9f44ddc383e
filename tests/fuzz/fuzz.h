/* The entry point of a fuzz target. libFuzzer calls it, or replay_main.c when there is no
 * libFuzzer. The input may be any bytes. A crash or abort() is a failure. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
