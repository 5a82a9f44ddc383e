/* Percent-encoding (%XX) is decoded strictly: an invalid one is an error. */
#include "exporter/api/request_target.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/utf8.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes `s` in place. If `plus` is true, "+" becomes a space, as in a query from an HTML form. */
static int decode(char *s, bool plus, const char *subject, struct err *e)
{
	char *out = s;

	for (const char *in = s; *in; in++) {
		if (*in == '+' && plus) {
			*out++ = ' ';
			continue;
		}
		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);

		if (low < 0)
			return err_set(e, -EINVAL,
				"%.60s: a %% must be followed by two hexadecimal digits (%%25 for "
				"itself)",
				subject);
		if (high == 0 && low == 0)
			return err_set(e, -EINVAL, "%.60s: %%00 is not accepted", subject);
		*out++ = (char)(high * 16 + low);
		in += 2;
	}
	*out = '\0';
	if (!utf8_valid(s, (size_t)(out - s)))
		return err_set(e, -EINVAL, "%.60s is not valid UTF-8", subject);
	return 0;
}

/* Removes "http://host" from the start of a target. A client that uses a proxy sends such targets,
 * and every server must accept them (RFC 9112, 3.2.2). */
static char *without_authority(char *raw)
{
	if (strncasecmp(raw, "http://", 7) != 0)
		return raw;
	return raw + 7 + strcspn(raw + 7, "/?");
}

int request_target_split(char *raw, struct request_target *ret, struct err *e)
{
	char *path = without_authority(raw), *query = strchr(path, '?');

	if (query)
		*query++ = '\0';
	int code = decode(path, false, "the path", e);

	if (code)
		return code;
	*ret = (struct request_target){path, query ? query : path + strlen(path)};
	return 0;
}

int request_target_next(struct request_target *t, char **name, char **value, struct err *e)
{
	while (*t->query == '&')
		t->query++;
	if (*t->query == '\0')
		return 0;
	char *pair = t->query, *end = pair + strcspn(pair, "&");

	t->query = *end ? end + 1 : end;
	*end = '\0';
	char *equals = strchr(pair, '=');

	*name = pair;
	*value = equals ? equals + 1 : end;
	if (equals)
		*equals = '\0';
	int code = decode(*name, true, "a parameter's name", e);

	if (code == 0)
		code = decode(*value, true, *name, e);
	return code ? code : 1;
}
