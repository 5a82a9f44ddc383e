/* The input is read as a catalogue in CSV. */
#include <stdint.h>

#include "tests/fuzz/fuzz_catalogue.h"

static int from_csv(struct catalogue **ret, const char *text, size_t len, struct err *e)
{
	return catalogue_from_csv(ret, text, len, "fuzz", e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_catalogue(data, size, from_csv);
}
