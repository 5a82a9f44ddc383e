#include "recommender/catalogue/billing.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"

#define HOUR  3600.0
#define MONTH (730 * HOUR) /* a twelfth of a year */

/* Known billing rules of vendors. The first row that fits a server is its rule. */
static const struct billing_row {
	const char *vendor_id;
	double vcpus;  /* least number of vCPUs of the servers of this row */
	bool with_gpu; /* the row is only for servers with a GPU */
	bool by_size;  /* the minimum of this vendor depends on the size of the server */
	struct billing rule;
} rows[] = {
	{"alicloud", 4, false, true, {1, 120, true, NAN}},
	{"alicloud", 2, false, true, {1, 300, true, NAN}},
	{"alicloud", 0, false, true, {1, 600, true, NAN}},
	{"aws", 0, false, false, {1, 60, false, NAN}},
	{"azure", 0, false, false, {1, 300, false, NAN}},
	{"gcp", 0, false, false, {1, 60, false, NAN}},
	{"hcloud", 0, false, false, {HOUR, HOUR, false, 624}},
	{"ovh", 0, false, false, {HOUR, HOUR, false, NAN}},
	{"upcloud", 0, false, false, {HOUR, HOUR, false, NAN}},
	{"vultr", 0, true, false, {HOUR, HOUR, false, 730}},
	{"vultr", 0, false, false, {HOUR, HOUR, false, 672}},
};

/* Returns the row of a server; NULL = the vendor is not in the list. Only Alibaba's rows depend on
 * the size. If the size is unknown, returns the row of the smallest size, which has the longest
 * minimum. */
static const struct billing_row *row_of(const struct vendor *v, const struct server *s)
{
	for (const struct billing_row *r = rows; r < rows + ARRAY_LEN(rows); r++)
		if (strcmp(r->vendor_id, v->vendor_id) == 0 &&
			(r->vcpus <= 0 || s->vcpus >= r->vcpus) &&
			(!r->with_gpu || s->gpu_count > 0))
			return r;
	return NULL;
}

struct billing billing_of(const struct vendor *v, const struct server *s)
{
	const struct billing_row *r = row_of(v, s);
	struct billing b = r ? r->rule : (struct billing){NAN, NAN, false, NAN};

	if (!isnan(v->billing_increment_seconds))
		b.increment = v->billing_increment_seconds;
	if (!isnan(v->minimum_billing_seconds) && !(r && r->by_size))
		b.minimum = v->minimum_billing_seconds;
	return b;
}

/* Returns the billed seconds of a run if `minimum` applies to its last clock hour, such as 14:00 to
 * 15:00 (per_clock_hour). The result is the mean over all minutes at which the run can start.
 *
 * A run within one clock hour is billed at least the minimum. A run across a full hour has a last
 * part in its last clock hour. This part is at most an hour, and at most the length of the run. All
 * lengths of this part are assumed to be equally likely. */
static double with_clock_hours(double minimum, double seconds)
{
	double part = fmin(seconds, minimum);

	return fmax(seconds, minimum) + part * part / (2 * HOUR);
}

/* Applies the monthly limit to a run. Assumes that the run starts at the beginning of a month. */
static double within_months(double month, double seconds)
{
	double months = floor(seconds / MONTH);

	return months * month * HOUR + fmin(seconds - months * MONTH, month * HOUR);
}

double billing_seconds(const struct billing *b, double seconds)
{
	if (b->increment > 0)
		seconds = ceil(seconds / b->increment) * b->increment;
	if (b->per_clock_hour && b->minimum > 0 && !isnan(seconds))
		seconds = with_clock_hours(b->minimum, seconds);
	else if (seconds < b->minimum)
		seconds = b->minimum;
	return b->month > 0 && !isnan(seconds) ? within_months(b->month, seconds) : seconds;
}
