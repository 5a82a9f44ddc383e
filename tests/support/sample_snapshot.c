#include "tests/support/sample_snapshot.h"

#include <math.h>

#include "collectors/base/mem.h"

/* clang-format off */
#define CATS_METRICS(X) \
X(CATS, .name = "rightsize_cats", .help = "Cats seen, with \\ and \" in the help", .labels = {"colour", "place"}) \
X(CAT_FOOD, .name = "rightsize_cat_food_bytes", .unit = "bytes", .type = METRIC_COUNTER, .help = "Food eaten") \
X(CAT_SLEEP, .name = "rightsize_cat_sleep_seconds", .unit = "seconds", .type = METRIC_COUNTER, .help = "Time slept", \
  .labels = {"place"}) \
X(CAT_DREAMS, .name = "rightsize_cat_dreams", .help = "Never seen")
#define DOGS_METRICS(X) \
X(DOG, .name = "rightsize_dog", .type = METRIC_INFO, .help = "The dog", .labels = {"name", "breed"}) \
X(DOG_WEIGHT, .name = "rightsize_dog_weight_ratio", .unit = "ratio", .help = "Weight, of what it should be")
/* clang-format on */

enum { CATS_METRICS(METRIC_ID) };
static const struct metric cats_metrics[] = {CATS_METRICS(METRIC_ROW)};
enum { DOGS_METRICS(METRIC_ID) };
static const struct metric dogs_metrics[] = {DOGS_METRICS(METRIC_ROW)};

static const struct collector cats = {
	.name = "cats", .metrics = cats_metrics, .n_metrics = ARRAY_LEN(cats_metrics)};
static const struct collector dogs = {
	.name = "dogs", .metrics = dogs_metrics, .n_metrics = ARRAY_LEN(dogs_metrics)};
static const struct collector birds = {
	.name = "birds", .metrics = dogs_metrics, .n_metrics = ARRAY_LEN(dogs_metrics)};
static const struct collector fish = {
	.name = "fish", .metrics = dogs_metrics, .n_metrics = ARRAY_LEN(dogs_metrics)};

static const struct collector *const collectors[] = {&cats, &dogs, &birds, &fish, NULL};

struct snapshot_pool *sample_pool(void)
{
	return snapshot_pool_new(collectors);
}

struct snapshot *sample_snapshot(struct snapshot_pool *p)
{
	struct snapshot *s = snapshot_take(p);
	struct block *b = s->blocks;

	s->at = now_read();
	POINT(&b[0], CATS, 3, "black", "sofa");
	POINT(&b[0], CATS, 0.1, "white \"snow\"", "C:\\new\nline");
	POINT(&b[0], CATS, -1, "caf\xc3", "# EOF");
	POINT(&b[0], CATS, INFINITY, "", "} 1");
	POINT(&b[0], CATS, NAN, "unknown", "nowhere");
	POINT(&b[0], CAT_FOOD, 9007199254740993.0);
	POINT(&b[0], CAT_SLEEP, 1234.25, "sofa");
	POINT(&b[0], CAT_SLEEP, 1e300, "bed");
	POINT(&b[1], DOG, 1, "Zo\xc3\xab", "pug");
	POINT(&b[1], DOG_WEIGHT, 1.0 / 3);
	b[0].success = b[1].success = true;
	b[0].duration_seconds = 0.000125;
	b[1].duration_seconds = 0.25;
	b[2].duration_seconds = 2;
	b[3].absent = true;
	return s;
}
