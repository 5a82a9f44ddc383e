/*
 * What the next run of a job will need: the bridge between sizing (sizing.h) and servers (pick.h).
 */
#ifndef RECOMMENDER_DEMAND_H
#define RECOMMENDER_DEMAND_H

/* Exact; NaN = unknown, 0 = none. */
struct demand {
	double cpu_cores, memory_bytes, gpus, vram_bytes, disk_bytes, duration_seconds;
};

#endif
