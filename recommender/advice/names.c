/* Names of containers and Nextflow processes. */
#include "recommender/advice/formats.h"

#include <string.h>

#include "collectors/base/job_key.h"

#define LABEL_MAX 63

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Returns true for the characters of an identifier. */
static bool is_word(char c)
{
	return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

bool advice_container_valid(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!is_lower(name[i]) && !is_digit(name[i]) && name[i] != '-')
			return false;
	return len && len <= LABEL_MAX && name[0] != '-' && name[len - 1] != '-';
}

bool advice_process_valid(const char *name)
{
	bool first = true;

	for (; *name; name++) {
		if (first ? !is_word(*name) || is_digit(*name) : !is_word(*name) && *name != ':')
			return false;
		first = *name == ':';
	}
	return !first;
}

void advice_add_process(struct buf *out, const char *job_name)
{
	struct job_parts job = job_key_parts(job_name);
	const char *slash = strrchr(job.name, '/');

	bool first = true; /* true = an identifier begins here, so a digit is not allowed */

	for (const char *p = slash && slash[1] ? slash + 1 : job.name; *p; p++) {
		bool joins = *p == ':' && !first && p[1];

		buf_addc(out,
			(char)(joins || (is_word(*p) && !(first && is_digit(*p))) ? *p : '_'));
		first = joins;
	}
}
