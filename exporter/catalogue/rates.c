/* Texts to rates. */
#include "exporter/catalogue/rates.h"

#include <errno.h>
#include <string.h>

#include "collectors/base/scan.h"

#define CURRENCY_CODE_LEN 3
#define LETTERS           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

struct rate {
	char currency[CURRENCY_CODE_LEN + 1];
	double usd;
};

static bool rate_parse(struct rate *ret, const char *text)
{
	size_t len = strcspn(text, "=");
	struct scan s = SCAN(text + len, strlen(text + len));

	*ret = (struct rate){0};
	if (len != CURRENCY_CODE_LEN || strspn(text, LETTERS) != len || !scan_char(&s, '=') ||
		!scan_double(&s, &ret->usd) || !scan_end(&s) || !(ret->usd > 0 && ret->usd < 1e9))
		return false;
	memcpy(ret->currency, text, len);
	return true;
}

bool rate_fits(const char *text)
{
	struct rate r;

	return rate_parse(&r, text);
}

static int set_rate(struct catalogue *c, const char *text, struct err *e)
{
	struct rate r;

	if (!rate_parse(&r, text))
		return err_set(e, -EINVAL, "--catalogue.rate=%.40s: accepted is " RATE_ACCEPTED,
			text);
	return catalogue_set_usd(c, r.currency, r.usd, e);
}

int catalogue_set_rates(struct catalogue *c, const struct words *texts, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < texts->n && code == 0; i++)
		code = set_rate(c, texts->text[i], e);
	return code;
}
