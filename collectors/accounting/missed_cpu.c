#include "collectors/accounting/missed_cpu.h"

#include <math.h>

void missed_cpu_begin(struct missed_cpu *m, double group_seconds)
{
	*m = (struct missed_cpu){.group_before = group_seconds};
}

void missed_cpu_group(struct missed_cpu *m, double group_seconds)
{
	m->group_before = group_seconds - m->possible_seconds;
}

void missed_cpu_found(struct missed_cpu *m, double seconds)
{
	m->seconds = fmax(m->seconds - seconds, 0);
}

/* Returns the most CPU time that the run may have used since it began: the usage of the machine or
 * that of the group, whichever is smaller. The two are not read at the same instant, so their sums
 * over the whole run are compared. If the smaller usage of each short interval were added up, the
 * sum would be too small. */
static double possible_seconds(const struct missed_cpu *m, double spent, double group_seconds)
{
	double group = group_seconds - m->group_before;
	double possible =
		isnan(group) ? m->possible_seconds + spent : fmin(m->spent_seconds, group);

	return fmax(possible, m->possible_seconds);
}

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look)
{
	double spent = fmax(look->spent_seconds, 0); /* NaN becomes 0 */

	m->any_changes = m->any_changes || look->changes;
	m->spent_seconds += spent;

	double possible = possible_seconds(m, spent, look->group_seconds);
	double missed = possible - m->possible_seconds - look->known_seconds;

	m->possible_seconds = possible;
	if (missed <= 0 || (look->orphans_hidden ? m->any_changes : look->changes))
		missed_cpu_found(m, -missed);
}
