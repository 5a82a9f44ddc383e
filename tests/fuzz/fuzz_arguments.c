/* The input is a request target, which is read as the server reads it. The table has every kind of
 * parameter. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"
#include "exporter/api/route.h"
#include "exporter/api/request_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *colour(size_t i)
{
	static const char *const names[] = {"red", "green", NULL};

	return names[i];
}

static const struct parameter parameters[] = {
	{.name = "job_name",
		.kind = PARAMETER_TEXT,
		.required = true,
		.least = 1,
		.most = 199,
		.help = "h"},
	{.name = "runs",
		.kind = PARAMETER_COUNT,
		.fallback = "5",
		.least = 1,
		.most = 1000,
		.help = "h"},
	{.name = "share", .kind = PARAMETER_NUMBER, .least = 0, .most = 1, .help = "h"},
	{.name = "colour",
		.kind = PARAMETER_CHOICE,
		.fallback = "red",
		.choice = colour,
		.help = "h"},
	{.name = "all", .kind = PARAMETER_FLAG, .help = "h"},
	{.name = "vendor",
		.kind = PARAMETER_TEXT,
		.repeats = true,
		.least = 1,
		.most = 64,
		.help = "h"},
	{0},
};

static void check_values(const struct arguments *a)
{
	const char *job_name = argument_text(a, "job_name"), *const * vendors;
	double share = argument_number(a, "share");
	size_t n = argument_texts(a, "vendor", &vendors), runs = argument_count(a, "runs");

	assert(job_name && *job_name && strlen(job_name) <= 199 &&
		utf8_valid(job_name, strlen(job_name)));
	assert(runs >= 1 && runs <= 1000);
	assert(!(share < 0) && !(share > 1));
	assert(n <= PARAMETER_VALUES_MAX);
	for (size_t i = 0; i < n; i++)
		assert(*vendors[i] && utf8_valid(vendors[i], strlen(vendors[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *raw = xmalloc(size + 1);
	struct arguments a;
	struct request_target t;
	struct err e = {0};
	char *name, *value;

	if (size)
		memcpy(raw, data, size);
	raw[size] = '\0';
	int code = request_target_split(raw, &t, &e);

	arguments_begin(&a, parameters);
	while (code == 0 && (code = request_target_next(&t, &name, &value, &e)) > 0)
		code = arguments_add(&a, name, value, &e);
	if (code == 0)
		code = arguments_finish(&a, &e);
	if (code == 0)
		check_values(&a);
	else
		assert(e.text[0]);
	return 0;
}
