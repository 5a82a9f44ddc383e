/* Expected needs of a job's next run. Sizing computes them (sizing.h), and the choice of servers
 * uses them (pick.h). */
#ifndef RECOMMENDER_DEMAND_H
#define RECOMMENDER_DEMAND_H

/* Numbers that are not rounded yet. NaN = unknown, 0 = none. */
struct demand {
	double cpu_cores, memory_bytes, gpus, vram_bytes, disk_bytes, duration_seconds;
};

#endif
