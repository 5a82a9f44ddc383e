/* The input is the answer of a metadata service, for each vendor's readers. It is read as a whole,
 * and then as if its last bytes arrived one by one. An accepted value must be fit to be shown,
 * stored and used as a label. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "exporter/this_server/vendors.h"
#include "exporter/client/link_local_http.h"
#include "tests/fuzz/fuzz.h"

static void check_word(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	if (len == size)
		abort();
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			abort();
}

static void ask_all(const char *body, size_t len)
{
	for (size_t i = 0; i < vendor_count; i++)
		for (size_t k = 0; k < CLOUD_QUESTIONS_MAX; k++) {
			struct machine m = {0};

			if (!vendor_table[i].question[k].path)
				break;
			vendor_table[i].question[k].take(body, len, &m);
			check_word(m.instance_type, sizeof m.instance_type);
			check_word(m.region, sizeof m.region);
			check_word(m.zone, sizeof m.zone);
		}
}

/* Uses the first five lines as the texts that DMI has about the machine. */
static void tell(const char *body, size_t len)
{
	struct scan s = SCAN(body, len), line;
	struct dmi d = {0};
	char *const texts[] = {
		d.sys_vendor, d.product_name, d.bios_vendor, d.bios_version, d.chassis_asset_tag};
	struct machine m = {0};

	for (size_t i = 0; i < 5 && scan_line(&s, &line); i++)
		slice_copy((struct slice){line.at, (size_t)(line.end - line.at)}, texts[i],
			sizeof d.sys_vendor);
	for (size_t i = 0; i < vendor_count; i++)
		vendor_judge_dmi(&d, &vendor_table[i]);
	vendor_by_dmi(&d, &m);
	check_word(m.vendor_id, sizeof m.vendor_id);
	check_word(m.instance_type, sizeof m.instance_type);
	check_word(m.region, sizeof m.region);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *copy = xmalloc(size + 1);
	struct link_local_answer a;
	int code = 0;

	ask_all((const char *)data, size);
	tell((const char *)data, size);
	/* Bytes arrive from a socket in parts. The result for the first bytes must stay the same
	 * with more bytes. */
	for (size_t n = size > 64 ? size - 64 : 0; n <= size && code == 0; n++) {
		memcpy(copy, data, n);
		code = link_local_http_read(copy, n, n == size, &a);
	}
	if (code == 0)
		abort();
	if (code > 0 && (a.body < copy || a.len > size || a.body + a.len > copy + size))
		abort();
	if (code > 0)
		ask_all(a.body, a.len);
	return 0;
}
