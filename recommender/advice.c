/* The answer in the syntax and units of the systems that people paste it into: one table row each.
 */
#include "recommender/recommend.h"

#include <string.h>

/* Decimal megabytes, rounded up: what Metaflow's Kubernetes backend asks for, and never too little
 * as MiB. */
static uint64_t megabytes(uint64_t mib)
{
	return (mib * 1048576 + 999999) / 1000000;
}

/* An unknown number is left out, so that the target's own default holds. */
static void write_metaflow(struct buf *out, const struct sizing *s)
{
	buf_adds(out, "@resources(");
	if (s->resources.cpu)
		buf_addf(out, "cpu=%llu, ", (unsigned long long)s->resources.cpu);
	if (s->resources.memory)
		buf_addf(out, "memory=%llu, ", (unsigned long long)megabytes(s->resources.memory));
	buf_addf(out, "gpu=%llu)\n", (unsigned long long)s->resources.gpu);
}

const struct advice_format advice_formats[] = {
	{
		.name = "json",
		.content_type = "application/json",
		.help = "Everything that is known, with the reasons",
	},
	{
		.name = "metaflow",
		.content_type = "text/plain; charset=utf-8",
		.help = "The line @resources(cpu=, memory=, gpu=) to put above a step; memory in "
			"decimal megabytes, "
			"rounded up, which suffices on Kubernetes (10^6 bytes) and on AWS Batch "
			"(MiB)",
		.write = write_metaflow,
	},
	{0},
};

const struct advice_format *advice_format_find(const char *name)
{
	for (const struct advice_format *f = advice_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}
