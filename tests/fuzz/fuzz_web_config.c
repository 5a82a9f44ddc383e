/* The input is read as a --web.config.file. */
#include <assert.h>
#include <stdint.h>

#include "exporter/http/web_config.h"
#include "exporter/http/web_tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out AUTO(buf_done) = BUF_MAX(4096);
	struct web_config *c = NULL;
	struct err e = {0};
	int code = web_config_parse(&c, "web.yml", (const char *)data, size, &e);

	assert((code == 0) == (c != NULL));
	assert((code == 0) == (e.text[0] == '\0'));
	if (c) {
		web_config_priorities(c, "ECDHE-RSA", &out);
		assert(!out.full);
	}
	web_config_free(c);
	return 0;
}
