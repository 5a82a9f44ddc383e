/* Targets that sell only certain sizes. */
#include "recommender/advice/sizes.h"

#include "collectors/base/mem.h"

/* Source: "Fargate task sizes" in the Amazon ECS Developer Guide, and ResourceRequirement in the
 * AWS Batch API Reference (November 2026). 32 CPUs are sold with three amounts of memory only. */
static const struct advice_size fargate[] = {
	{NULL, 250, 512, 1024, 512},
	{NULL, 250, 2048, 2048, 1024},
	{NULL, 500, 1024, 4096, 1024},
	{NULL, 1000, 2048, 8192, 1024},
	{NULL, 2000, 4096, 16384, 1024},
	{NULL, 4000, 8192, 30720, 1024},
	{NULL, 8000, 16384, 61440, 4096},
	{NULL, 16000, 32768, 122880, 8192},
	{NULL, 32000, 61440, 61440, 1024},
	{NULL, 32000, 122880, 122880, 1024},
	{NULL, 32000, 249856, 249856, 1024},
};

/* Source of the 200 GiB: EphemeralStorage in the Amazon ECS API Reference. */
const struct advice_sizes advice_sizes_fargate = {
	.of = "AWS Fargate",
	.disk_gib_most = 200,
	.n = ARRAY_LEN(fargate),
	.size = fargate,
};

/* Source: "General-purpose machine family" in the documentation of Compute Engine, and its sample
 * "Create VMs with custom machine types". A CPU has 512 to 8,192 MiB, in steps of 256. E2 is sold
 * with an even number of CPUs from 2 to 32, and at most 128 GiB. N2 is sold with an even number of
 * CPUs from 2 to 32, or a multiple of 4 from 36 to 128, and at most 624 GiB. */
/* clang-format off */
#define CUSTOM(series, cpus, most) \
	{series, (cpus)*1000, (cpus)*512, (cpus)*8192 < (most) ? (cpus)*8192 : (most), 256}
#define E2(cpus)       CUSTOM("e2-custom", cpus, 128 * 1024)
#define N2(cpus)       CUSTOM("n2-custom", cpus, 624 * 1024)
#define E2_AND_N2(cpus) E2(cpus), N2(cpus)

static const struct advice_size gcp[] = {
	E2(2), E2(4), E2(6), E2(8), E2(10), E2(12), E2(14), E2(16),
	E2_AND_N2(18), E2_AND_N2(20), E2_AND_N2(22), E2_AND_N2(24),
	E2_AND_N2(26), E2_AND_N2(28), E2_AND_N2(30), E2_AND_N2(32),
	N2(36), N2(40), N2(44), N2(48), N2(52), N2(56), N2(60), N2(64),
	N2(68), N2(72), N2(76), N2(80), N2(84), N2(88), N2(92), N2(96),
	N2(100), N2(104), N2(108), N2(112), N2(116), N2(120), N2(124), N2(128),
};
/* clang-format on */

/* Source of the defaults: ComputeResource in the reference of the Batch API. */
const struct advice_sizes advice_sizes_gcp = {
	.of = "Google Compute Engine",
	.millicores_default = 2000,
	.mib_default = 2000,
	.n = ARRAY_LEN(gcp),
	.size = gcp,
};

const struct advice_size *advice_size_for(const struct advice_sizes *s, uint64_t millicores,
	uint64_t mib, uint64_t *ret_mib)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct advice_size *size = &s->size[i];
		uint64_t above = mib > size->mib_least ? mib - size->mib_least : 0;
		uint64_t steps = (above + size->mib_step - 1) / size->mib_step;
		uint64_t memory = size->mib_least + steps * size->mib_step;

		if (size->millicores < millicores || memory > size->mib_most)
			continue;
		*ret_mib = memory;
		return size;
	}
	return NULL;
}
