/* A desk for each kind. */
#include "exporter/http/http_desks.h"

#include <errno.h>
#include <math.h>

#include "collectors/base/clock.h"
#include "exporter/core/memory_budget.h"

/* Of each kind: at the same time. */
#define ANSWERS_MAX 64u

int http_desks_open(struct http_desks *d, struct err *e)
{
	/* Of those that whoever asked has not read yet. One more may be made. */
	const size_t bytes_max[SITE_WAYS] = {
		[SITE_LATER] = allowance()->of_history,
		[SITE_OF_SAMPLES] = allowance()->of_samples,
	};
	int code = 0;

	for (size_t i = 0; i < SITE_WAYS && code == 0; i++)
		if (bytes_max[i])
			code = desk_open(&d->at[i], ANSWERS_MAX, bytes_max[i], e);
	return code;
}

int http_desks_stop(struct http_desks *d, double seconds)
{
	struct mono begin = now_read().mono;

	for (size_t i = 0; i < SITE_WAYS; i++) {
		double left = seconds - mono_seconds_between(begin, now_read().mono);

		if (d->at[i] && desk_stop(d->at[i], fmax(left, 0)))
			return -ETIMEDOUT;
	}
	return 0;
}

void http_desks_free(struct http_desks *d)
{
	for (size_t i = 0; i < SITE_WAYS; i++)
		desk_free(d->at[i]);
}
