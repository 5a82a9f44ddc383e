#include "collectors/naming/heap_options.h"

#include <string.h>

#include "collectors/base/mem.h"

/* `start`: the beginning of the argument. */
static const struct {
	const char *start, *name, *label;
} options[] = {
	/* Java: shares of the container's memory, and sizes */
	{"-XX:MaxRAMPercentage=", "MaxRAMPercentage", HEAP_SHARE_LABEL},
	{"-XX:InitialRAMPercentage=", "InitialRAMPercentage", HEAP_SHARE_LABEL},
	{"-XX:MaxRAMFraction=", "MaxRAMFraction", HEAP_SHARE_LABEL},
	{"-Xmx", "Xmx", HEAP_SIZE_LABEL},
	{"-XX:MaxHeapSize=", "MaxHeapSize", HEAP_SIZE_LABEL},
	/* Spark, Node.js, Redis, memcached */
	{"spark.executor.memory=", "spark.executor.memory", HEAP_SIZE_LABEL},
	{"spark.driver.memory=", "spark.driver.memory", HEAP_SIZE_LABEL},
	{"--executor-memory", "executor-memory", HEAP_SIZE_LABEL},
	{"--driver-memory", "driver-memory", HEAP_SIZE_LABEL},
	{"--max-old-space-size", "max-old-space-size", HEAP_SIZE_LABEL},
	{"--maxmemory", "maxmemory", HEAP_SIZE_LABEL},
};

static const char *option_of(struct slice argument, const char **ret_label)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		size_t len = strlen(options[i].start);

		if (argument.len >= len && memcmp(argument.data, options[i].start, len) == 0) {
			*ret_label = options[i].label;
			return options[i].name;
		}
	}
	return NULL;
}

const char *heap_option_find(const struct slice *argument, size_t n, const char **ret_label)
{
	const char *found = NULL;

	for (size_t i = 1; i < n && !found; i++)
		found = option_of(argument[i], ret_label);
	return found;
}
