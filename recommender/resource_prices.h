/*
 * What is reserved while a run takes its time, in cores: where clouds sell memory by itself, a GiB costs about an
 * eighth of a core, and a GPU as much as dozens of them. Private to recommender/.
 */
#ifndef RECOMMENDER_RESOURCE_PRICES_H
#define RECOMMENDER_RESOURCE_PRICES_H

#define GIB_IN_CORES 0.125
#define GPU_IN_CORES 25.0

#endif
