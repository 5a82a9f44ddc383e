#include "collectors/base/job_key.h"

#include <stdio.h>
#include <string.h>

/* Takes the text up to the next separator. */
static struct slice next_part(const char **at)
{
	struct slice ret = {*at, strcspn(*at, (char[]){JOB_KEY_SEPARATOR, '\0'})};

	*at += ret.len + ((*at)[ret.len] != '\0');
	return ret;
}

struct job_parts job_key_parts(const char *key)
{
	struct job_parts ret;

	ret.name = next_part(&key);
	ret.space = next_part(&key);
	ret.cluster = next_part(&key);
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
	return key + job_key_parts(key).name.len;
}

const char *job_key_text(const char *key, char ret[static JOB_TEXT_MAX])
{
	struct job_parts p = job_key_parts(key);
	bool both = p.space.len && p.cluster.len;

	snprintf(ret, JOB_TEXT_MAX, "%.*s%s%s%.*s%s%s%.*s%s", (int)p.name.len, p.name.data,
		p.space.len || p.cluster.len ? " (" : "", p.space.len ? "namespace " : "",
		(int)p.space.len, p.space.data, both ? ", " : "", p.cluster.len ? "cluster " : "",
		(int)p.cluster.len, p.cluster.data, p.space.len || p.cluster.len ? ")" : "");
	return ret;
}
