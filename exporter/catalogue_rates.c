/* Texts to rates. */
#include "exporter/catalogue_rates.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/scan.h"

#define CURRENCY_CODE_LEN 3

static int set_rate(struct catalogue *c, const char *text, struct err *e)
{
	size_t len = strcspn(text, "=");
	struct scan s = SCAN(text + len, strlen(text + len));
	char code[CURRENCY_CODE_LEN + 1] = "";
	double usd;

	if (len != CURRENCY_CODE_LEN || !scan_char(&s, '=') || !scan_double(&s, &usd) ||
		!scan_end(&s) || !(usd > 0 && usd < 1e9))
		return err_set(e, -EINVAL,
			"--catalogue.rate=%.40s: accepted is a currency and the US dollars for one "
			"unit of it, such as EUR=1.16",
			text);
	memcpy(code, text, len);
	return catalogue_set_usd(c, code, usd, e);
}

int catalogue_set_rates(struct catalogue *c, const struct words *texts, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < texts->n && code == 0; i++)
		code = set_rate(c, texts->text[i], e);
	return code;
}
