#include "exporter/core/json_key.h"

#include <math.h>

static void add_range(const struct json_key *k, struct buf *out)
{
	if (isinf(k->most))
		buf_addf(out, " from %.15g on", k->least);
	else
		buf_addf(out, " from %.15g to %.15g", k->least, k->most);
}

static void add_unit(const struct json_key *k, struct buf *out)
{
	if (k->unit)
		buf_addf(out, " of %s", k->unit);
}

static void add_choice(const struct json_key *k, struct buf *out)
{
	const char *word;

	for (size_t i = 0; (word = k->choice(i)); i++)
		buf_addf(out, "%s%s", i == 0 ? "" : k->choice(i + 1) ? ", " : " or ", word);
}

void json_key_accepts(const struct json_key *k, struct buf *out)
{
	switch (k->kind) {
	case KEY_TEXT:
		buf_addf(out, "a text of %.0f to %.0f bytes without control characters", k->least,
			k->most);
		break;
	case KEY_WHOLE:
	case KEY_COUNT:
		buf_adds(out, "a whole number");
		add_unit(k, out);
		add_range(k, out);
		break;
	case KEY_NUMBER:
		buf_adds(out, "a number");
		add_unit(k, out);
		add_range(k, out);
		break;
	case KEY_CORES:
		buf_adds(out, "a number of cores, or a text such as \"500m\",");
		add_range(k, out);
		break;
	case KEY_BYTES:
		buf_adds(out, "a whole number of bytes, or a text such as \"512M\", \"4Gi\" or "
			      "\"8GB\",");
		add_range(k, out);
		break;
	case KEY_FLAG:
		buf_adds(out, "true or false");
		break;
	case KEY_CHOICE:
		add_choice(k, out);
		break;
	case KEY_OBJECT:
		buf_adds(out, "an object");
		break;
	case KEY_LIST:
		buf_adds(out, "an array");
		break;
	case KEY_TIME:
		buf_adds(out, "a number of seconds since 1970 UTC");
		add_range(k, out);
		buf_adds(out, ", or a time such as \"2026-11-21T08:45:12.123Z\"");
		break;
	case KEY_UNREAD:
		buf_adds(out, "any value");
		break;
	}
}
