/* The input is read as a catalogue in JSON, once strictly and once leniently. */
#include <stdint.h>

#include "collectors/base/mem.h"
#include "recommender/catalogue/build.h"
#include "tests/fuzz/fuzz_catalogue.h"

static int from_json(struct catalogue **ret, const char *text, size_t len, struct err *e)
{
	return catalogue_from_json(ret, text, len, "fuzz", e);
}

static int from_page(struct catalogue **ret, const char *text, size_t len, struct err *e)
{
	struct catalogue_builder *b = catalogue_builder_new();
	int code = 0;

	const struct json_reading hows[] = {{.kind = READ_COUNTRIES, .lenient = true},
		{.kind = READ_VENDORS, .lenient = true}, {.kind = READ_REGIONS, .lenient = true},
		{.lenient = true, .region_id = "here", .benchmark_id = "geekbench"}};

	for (size_t i = 0; i < ARRAY_LEN(hows); i++)
		code = catalogue_read_json(b, text, len, &hows[i], NULL, e);

	/* After an error, the catalogue still has the servers that were read before it. */
	catalogue_finish(b, "fuzz", ret);
	catalogue_builder_free(b);
	(void)code;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_catalogue(data, size, from_json);
	return fuzz_catalogue(data, size, from_page);
}
