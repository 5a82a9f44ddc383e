/* Reads members of a JSON answer. A member may be missing. */
#ifndef EXPORTER_TERMINAL_MEMBERS_H
#define EXPORTER_TERMINAL_MEMBERS_H

#include <math.h>

#include <jansson.h>

#include "collectors/base/job_key.h"

/* Returns a member of an object, as a number or as a text. NaN or "" = the member is absent, null
 * or of another type. */
static inline double member_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static inline const char *member_as_text(const json_t *v)
{
	return json_is_string(v) ? json_string_value(v) : "";
}

static inline const char *member_text(const json_t *o, const char *key)
{
	return member_as_text(json_object_get(o, key));
}

/* Writes the job key (collectors/base/job_key.h) to `ret` and returns it. The key consists of the
 * object's job_name, namespace and cluster. */
static inline const char *member_job(const json_t *o, char ret[static JOB_KEY_MAX])
{
	job_key_write(member_text(o, "job_name"), member_text(o, "namespace"),
		member_text(o, "cluster"), ret);
	return ret;
}

#endif
