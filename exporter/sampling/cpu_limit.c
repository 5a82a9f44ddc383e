/* Making a limit of CPU time last. */
#include "exporter/sampling/cpu_limit.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

double cpu_limit_seconds(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_CPU, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? (double)l.rlim_cur :
									       (double)INFINITY;
}

double cpu_limit_used(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double cpu_limit_stretch(double limit, double used, double look)
{
	double most = limit * CPU_LIMIT_SHARE;

	if (isinf(limit))
		return 1;
	/* The first look takes longest, so that another like it may take from the rest, too. */
	if (used >= most || used + look >= (most + limit) / 2)
		return INFINITY;
	/* Of the second half, what is left: with its square the times between looks grow as the square of time does. */
	double left = fmin((most - used) / (most / 2), 1);

	return fmin(1 / (left * left), CPU_LIMIT_STRETCH_MAX);
}
