/* Expected needs of a job's next run. Sizing computes them (sizing.h), and the choice of servers
 * uses them (pick.h). */
#ifndef RECOMMENDER_DEMAND_H
#define RECOMMENDER_DEMAND_H

/* The numbers are not rounded yet. NaN = the need is unknown, 0 = the run needs none. */
struct demand {
	double cpu_cores, memory_bytes, gpus, vram_bytes, disk_bytes, duration_seconds;
};

#endif
