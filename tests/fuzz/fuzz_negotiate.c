/* Any bytes as Accept and Accept-Encoding. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *header = xmalloc(size + 1);

	if (size)
		memcpy(header, data, size);
	header[size] = '\0';
	struct negotiated n = negotiate(header);

	/* Whatever they are, none of the client's bytes get into our header. */
	assert(n.format < EXPOSITION_FORMATS);
	assert(strlen(n.content_type) < sizeof n.content_type - 1);
	assert(strcspn(n.content_type, "\r\n") == strlen(n.content_type));
	negotiate_gzip(header);
	return 0;
}
