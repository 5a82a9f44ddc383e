#include "recommender/sizing/neighbour_run.h"

#include <math.h>

#include "recommender/sizing/strategy.h"

bool neighbour_run_of(const struct run *r, struct neighbour_run *ret)
{
	bool killed = r->outcome == OUTCOME_OOM_KILLED;
	double peak = killed ? run_needs_killed_at(r) : run_needs_memory(r);

	if (r->not_measured || isnan(peak) || !(killed || r->outcome == OUTCOME_SUCCEEDED))
		return false;
	struct observation o = rule_observation(peak, r->input_bytes, run_duration(r));

	*ret = (struct neighbour_run){o.peak, o.input, o.duration, killed};
	return true;
}
