/* How vendors bill the time of a Linux server that is rented on demand or spot. Pure functions.
 *
 * A spot server is billed by the same rule as a server on demand. Interruptions add to the time
 * (forecast_with_rework), and the sum is rounded once. Some vendors do not bill a spot server that
 * they take back soon after its start. The rules here always bill it.
 *
 * The rules and their sources, with dates. "Hours begun" means that a part of an hour is billed as a
 * whole hour.
 * 	aws       seconds, at least 60. aws.amazon.com/about-aws/whats-new/2017/10/
 * 	          announcing-amazon-ec2-per-second-billing (2017-10-02)
 * 	gcp       seconds, at least 60, as Spare Cores lists it (2026-08)
 * 	azure     seconds, at least 300 since 2025-06-01. learn.microsoft.com/en-us/answers/questions/
 * 	          2259765 (2025-04-21)
 * 	alicloud  seconds, settled per hour of the clock. The hour in which the server is released counts
 * 	          at least 600 s with 1 vCPU, 300 s with 2 and 120 s from 4 on.
 * 	          help.aliyun.com/zh/ecs/pay-as-you-go-1 (2026)
 * 	hcloud    hours begun, at most the monthly price. docs.hetzner.com/cloud/billing/faq (2023-08-03).
 * 	          The monthly price equals 624 hours: 6.49 / 0.0104 EUR for CX33, API /v1/pricing
 * 	          of 2026-05-27
 * 	ovh       hours begun, and no limit: a monthly price is another contract.
 * 	          support.us.ovhcloud.com/hc/en-us/articles/22179651508115
 * 	vultr     hours begun, at most 672 a month, with GPUs 730. docs.vultr.com/support/platform/
 * 	          billing/how-am-i-billed-for-my-servers (2025-09-15)
 * 	upcloud   hours begun, as Spare Cores lists it (2026-08), and developers.upcloud.com/1.3/4-pricing.
 * 	          No monthly limit is known */
#ifndef RECOMMENDER_CATALOGUE_BILLING_H
#define RECOMMENDER_CATALOGUE_BILLING_H

#include <stdbool.h>

#include "recommender/catalogue/catalogue.h"

/* How the time of a server is billed. `increment` and `minimum` are seconds; NaN = unknown. */
struct billing {
	double increment, minimum;
	/* true: `minimum` applies to the last clock hour of a run, such as 14:00 to 15:00. false:
	 * it applies to the whole run. */
	bool per_clock_hour;
	double month; /* most billed hours of a month; NaN = no limit is known */
};

/* Returns the rule for server `s` of vendor `v`. Its numbers come from the catalogue. A number that
 * the catalogue lacks comes from the list above. A minimum that depends on the size of the server
 * always comes from the list, because a catalogue has only one minimum for each vendor. */
struct billing billing_of(const struct vendor *v, const struct server *s);

/* Returns the seconds that are billed for a run of `seconds`. If the bill depends on the minute of
 * the hour in which the run starts, returns the mean over all minutes. NaN = `seconds` is NaN. */
double billing_seconds(const struct billing *b, double seconds);

#endif
