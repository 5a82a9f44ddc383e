/* Change points of a series with one or more channels: the points where the level shifts lastingly.
 * Pure functions.
 *
 * The method is optimal partitioning (Jackson et al. 2005). It gives the same result as PELT
 * (Killick et al. 2012). The cuts minimise the squared distance of every point to the mean of its
 * segment, plus a penalty of 3 ln n for each cut, where n is the number of points. Channels are
 * standardised, and constant channels are ignored. An unknown value (NaN) is replaced by the last
 * known value before it. At the start of the series, it is replaced by the first known value. */
#ifndef RECOMMENDER_BEHAVIOUR_SEGMENTS_H
#define RECOMMENDER_BEHAVIOUR_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

#define SEGMENTS_POINTS_MAX   2048
#define SEGMENTS_CHANNELS_MAX 16

/* channel[c][i] is point i of channel c. There are `n` points, and `least` is the smallest number
 * of points in a segment. Writes the index of the first point of each segment after the first to
 * `ret` (room for n). Returns the number of indexes. 0 = the level does not shift, or there are too
 * many points or channels. */
size_t segments_cut(const double *const channel[], size_t channels, size_t n, size_t least,
	size_t *ret);

#endif
