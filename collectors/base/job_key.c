#include "collectors/base/job_key.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t length_of_part(const char *at)
{
	return strcspn(at, (const char[]){JOB_KEY_SEPARATOR, '\0'});
}

/* Copies the text up to the next separator, and returns the text after that separator. */
static const char *take_part(const char *at, char *ret, size_t size)
{
	size_t len = length_of_part(at);

	snprintf(ret, size, "%.*s", (int)len, at);
	return at + len + (at[len] != '\0');
}

struct job_parts job_key_parts(const char *key)
{
	struct job_parts ret = {0};

	key = take_part(key, ret.name, sizeof ret.name);
	key = take_part(key, ret.space, sizeof ret.space);
	take_part(key, ret.cluster, sizeof ret.cluster);
	return ret;
}

void job_key_write(const char *name, const char *space, const char *cluster,
	char ret[static JOB_KEY_MAX])
{
	space = space ? space : "";
	cluster = cluster ? cluster : "";
	int len = snprintf(ret, JOB_NAME_MAX, "%s", name);

	len = len < JOB_NAME_MAX ? len : JOB_NAME_MAX - 1;
	if (*space || *cluster)
		len += snprintf(ret + len, JOB_SPACE_MAX + 1, "%c%.*s", JOB_KEY_SEPARATOR,
			JOB_SPACE_MAX - 1, space);
	if (*cluster)
		snprintf(ret + len, JOB_SPACE_MAX + 1, "%c%.*s", JOB_KEY_SEPARATOR,
			JOB_SPACE_MAX - 1, cluster);
}

const char *job_key_place(const char *key)
{
	return key + length_of_part(key);
}

const char *job_key_text(const char *key, char ret[static JOB_TEXT_MAX])
{
	struct job_parts p = job_key_parts(key);
	bool space = p.space[0], cluster = p.cluster[0];

	snprintf(ret, JOB_TEXT_MAX, "%s%s%s%s%s%s%s%s", p.name, space || cluster ? " (" : "",
		space ? "namespace " : "", p.space, space && cluster ? ", " : "",
		cluster ? "cluster " : "", p.cluster, space || cluster ? ")" : "");
	return ret;
}
