/*
 * The entry of libFuzzer, or of replay_main.c in its place. Input is any bytes; a fault is a crash or
 * abort().
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
