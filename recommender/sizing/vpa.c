/* The target of the Kubernetes vertical pod autoscaler (VPA): a percentile of a histogram with
 * fading weights, plus a margin. Age is counted in runs, not days. The VPA's minimum of 250 MB per
 * pod is omitted. */
#include "recommender/sizing/rule.h"

#include <math.h>

#include "recommender/sizing/strategy.h"

#define BUCKETS      1024
#define FIRST_BUCKET 1e7 /* width of the first bucket of the histogram, bytes */
#define GROWTH       0.05
#define HALF_LIFE    24.0 /* half-life of a weight, in runs; in the VPA it is 24 hours */

struct vpa {
	struct rule_options options;
	double runs; /* number of runs since the last scaling of the weights */
	double weight[BUCKETS];
};

static void vpa_start(void *state, const struct rule_options *o)
{
	struct vpa *v = state;

	v->options = *o;
}

static size_t bucket_of(double bytes)
{
	if (bytes < FIRST_BUCKET)
		return 0;

	double bucket = log(bytes * GROWTH / FIRST_BUCKET + 1) / log(1 + GROWTH);

	return bucket < BUCKETS - 2 ? (size_t)bucket : BUCKETS - 2;
}

static double bucket_start(size_t bucket)
{
	return FIRST_BUCKET * (pow(1 + GROWTH, (double)bucket) - 1) / GROWTH;
}

static double vpa_allocate(void *state, double input)
{
	struct vpa *v = state;
	double total = 0, sum = 0;

	(void)input;
	for (size_t i = 0; i < BUCKETS; i++)
		total += v->weight[i];
	if (!(total > 0))
		return NAN;
	for (size_t i = 0; i < BUCKETS; i++) {
		sum += v->weight[i];
		if (v->weight[i] > 0 && sum >= v->options.percentile * total)
			return bucket_start(i + 1) * (1 + v->options.margin);
	}
	return NAN;
}

/* Adds the newest sample. Each new sample weighs a little more than the one before it: twice as
 * much after HALF_LIFE runs. This is faster than reducing the weights of all old samples. After 256
 * half-lives, all weights are scaled down, so that they stay finite. */
static void add_sample(struct vpa *v, double bytes)
{
	if (v->runs >= 256 * HALF_LIFE) {
		for (size_t i = 0; i < BUCKETS; i++)
			v->weight[i] *= exp2(-v->runs / HALF_LIFE);
		v->runs = 0;
	}
	v->weight[bucket_of(bytes)] += exp2(v->runs / HALF_LIFE);
}

static double vpa_retry(void *state, double allocation, unsigned failures)
{
	double next = fmax(allocation * 1.2, allocation + 100 * MIB);

	(void)failures;
	add_sample(state, next);
	return next;
}

static void vpa_learn(void *state, const struct observation *o)
{
	struct vpa *v = state;

	add_sample(v, o->peak);
	v->runs++;
}

const struct sizing_rule rule_vpa = {
	.state_size = sizeof(struct vpa),
	.defaults = {.percentile = 0.9, .margin = 0.15},
	.start = vpa_start,
	.allocate = vpa_allocate,
	.retry = vpa_retry,
	.learn = vpa_learn,
};
