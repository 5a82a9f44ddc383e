/*
 * Prices of reserved resources in CPU cores: where clouds sell memory separately, 1 GiB costs about
 * an eighth of a core, and a GPU dozens of cores. Private to recommender/.
 */
#ifndef RECOMMENDER_RESOURCE_PRICES_H
#define RECOMMENDER_RESOURCE_PRICES_H

#define GIB_IN_CORES 0.125
#define GPU_IN_CORES 25.0

#endif
