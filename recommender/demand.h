/* Expected needs of a job's next run. Computed by sizing (sizing.h), used to choose servers
 * (pick.h). */
#ifndef RECOMMENDER_DEMAND_H
#define RECOMMENDER_DEMAND_H

/* Not rounded; NaN = unknown, 0 = none. */
struct demand {
	double cpu_cores, memory_bytes, gpus, vram_bytes, disk_bytes, duration_seconds;
};

#endif
