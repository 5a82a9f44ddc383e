#include "recommender/catalogue/benchmark_config.h"

#include <strings.h>

#include <jansson.h>

static bool is_one(const json_t *cores)
{
	const char *text = json_string_value(cores);

	if (text)
		return strcasecmp(text, "single") == 0 ||
		       strcasecmp(text, "Single-Core Performance") == 0;
	double n = json_number_value(cores);

	return n > 0 && n <= 1;
}

enum benchmark_cores benchmark_config_cores(const char *json, size_t len)
{
	json_t *config = json_loadb(json, len, 0, NULL);
	enum benchmark_cores ret = CORES_OTHER;

	if (is_one(json_object_get(config, "cores")))
		ret = json_object_size(config) == 1 ? CORES_ONE_NO_MORE : CORES_ONE;
	json_decref(config);
	return ret;
}
