/* The entry point that libFuzzer, or replay_main.c in its place, calls. The input is any bytes. A
 * fault is a crash or abort(). */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
