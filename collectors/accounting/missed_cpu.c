/* The bound of what may have been missed. */
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

static void add_missed(struct missed_cpu *m, double missed)
{
	m->seconds += missed;
	if (!(m->seconds > 0))
		m->seconds = 0;
}

/*
 * No more than the machine spent, nor than the group. Both from the beginning on: they are not read at the same
 * instant, so that of two short intervals the lesser would be too little.
 */
static double possible_seconds(const struct missed_cpu *m, double spent, double group_seconds)
{
	double group = group_seconds - m->group_before;
	double possible =
		isnan(group) ? m->possible_seconds + spent : fmin(m->spent_seconds, group);

	return fmax(possible, m->possible_seconds);
}

void missed_cpu_add(struct missed_cpu *m, const struct missed_cpu_look *look)
{
	double spent = fmax(look->spent_seconds, 0); /* NaN is 0 */

	m->any_changes = m->any_changes || look->changes;
	m->spent_seconds += spent;

	double possible = possible_seconds(m, spent, look->group_seconds);
	double missed = possible - m->possible_seconds - look->known_seconds;

	m->possible_seconds = possible;
	if (missed <= 0 || (look->orphans_hidden ? m->any_changes : look->changes))
		add_missed(m, missed);
}

void missed_cpu_found(struct missed_cpu *m, double seconds)
{
	add_missed(m, -seconds);
}
