/* Prices of reserved resources, in CPU cores. 1 GiB of memory costs about an eighth of a core in
 * clouds that sell memory separately. A GPU costs dozens of cores. Private to recommender/. */
#ifndef RECOMMENDER_RESOURCE_PRICES_H
#define RECOMMENDER_RESOURCE_PRICES_H

#define GIB_IN_CORES 0.125
#define GPU_IN_CORES 25.0

#endif
