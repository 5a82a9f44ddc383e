#include "exporter/catalogue/rates.h"

#include <errno.h>

#include "exporter/options/shapes.h"

static int set_rate(struct catalogue *c, const char *text, struct err *e)
{
	struct catalogue_currency_rate r;

	if (!currency_rate_parse(&r, text))
		return err_set(e, -EINVAL, "--catalogue.rate=%.40s: accepted is %s", text,
			shape_rate.accepted);
	return catalogue_set_usd(c, r.currency, r.usd, "--catalogue.rate", e);
}

int catalogue_set_rates(struct catalogue *c, const struct text_list *texts, struct err *e)
{
	int code = 0;

	for (size_t i = 0; i < texts->n && code == 0; i++)
		code = set_rate(c, texts->text[i], e);
	return code;
}
