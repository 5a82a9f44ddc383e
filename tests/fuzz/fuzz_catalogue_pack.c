/* Any bytes as a packed catalogue: compressed if they begin like zlib data, otherwise already
 * decompressed. */
#include <stdint.h>

#include "recommender/catalogue/unpack.h"
#include "tests/fuzz/fuzz_catalogue.h"

static int from_pack(struct catalogue **ret, const char *text, size_t len, struct err *e)
{
	return len && text[0] == 'x' ?
		       catalogue_from_pack(ret, (const unsigned char *)text, len, "fuzz", e) :
		       catalogue_from_unpacked(ret, text, len, "fuzz", e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_catalogue(data, size, from_pack);
}
