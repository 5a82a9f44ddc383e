/* The input is read as a catalogue file: CSV, JSON, a database or its dump, compressed or not. */
#include "exporter/catalogue/file.h"
#include "tests/fuzz/fuzz_catalogue.h"
#include "tests/fuzz/fuzz_file.h"

static int from_file(struct catalogue **ret, const char *text, size_t len, struct err *e)
{
	fuzz_file_write(text, len);
	return catalogue_from_file(ret, fuzz_path,
		&(struct catalogue_file_options){.scratch = fuzz_path}, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_catalogue(data, size, from_file);
}
