/* Targets that sell only certain sizes: the size for a request is valid, large enough, and the
 * smallest. The test has its own copy of the vendors' rules, written from other pages of their
 * documentation than the tables in recommender/advice. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <string.h>

#include "recommender/advice/advice.h"
#include "recommender/advice/sizes.h"

/* Returns true if Fargate has this size. Source: ResourceRequirement in the AWS Batch API
 * Reference, which lists the CPUs that go with an amount of memory. */
static bool fargate_valid(uint64_t millicores, uint64_t mib)
{
	uint64_t gib = mib / 1024;

	if (mib == 512)
		return millicores == 250;
	if (!gib || mib % 1024)
		return false;
	switch (millicores) {
	case 250:
		return gib == 1 || gib == 2;
	case 500:
		return gib <= 4;
	case 1000:
		return gib >= 2 && gib <= 8;
	case 2000:
		return gib >= 4 && gib <= 16;
	case 4000:
		return gib >= 8 && gib <= 30;
	case 8000:
		return gib >= 16 && gib <= 60 && gib % 4 == 0;
	case 16000:
		return gib >= 32 && gib <= 120 && gib % 8 == 0;
	case 32000:
		return gib == 60 || gib == 120 || gib == 244;
	default:
		return false;
	}
}

/* Returns true if Google Compute Engine has this custom size. Sources: CustomMachineType in its
 * samples, and the 128 GB of E2 in its list of machine series. */
static bool gcp_valid(const char *series, uint64_t millicores, uint64_t mib)
{
	uint64_t cpus = millicores / 1000;
	bool e2 = strcmp(series, "e2-custom") == 0;

	if (millicores % 1000 || cpus < 2 || mib % 256 || mib < 512 * cpus || mib > 8192 * cpus)
		return false;
	if (e2)
		return cpus % 2 == 0 && cpus <= 32 && mib <= 131072;
	return strcmp(series, "n2-custom") == 0 && cpus <= 128 && cpus % (cpus > 32 ? 4 : 2) == 0 &&
	       mib <= 638976;
}

static bool valid(const struct advice_sizes *s, uint64_t millicores, uint64_t mib)
{
	if (s == &advice_sizes_fargate)
		return fargate_valid(millicores, mib);
	return gcp_valid("e2-custom", millicores, mib) || gcp_valid("n2-custom", millicores, mib);
}

static const uint64_t cpu_steps[] = {250, 500, 1000, 2000, 4000, 6000, 8000, 16000, 18000, 20000,
	30000, 32000, 36000, 64000, 124000, 128000};

/* Returns true if a valid size holds the request with fewer CPUs, or with as many and less memory. */
static bool smaller_exists(const struct advice_sizes *s, uint64_t cpu, uint64_t mib,
	uint64_t got_cpu, uint64_t got_mib)
{
	for (size_t i = 0; i < ARRAY_LEN(cpu_steps); i++)
		for (uint64_t m = 256; m <= 638976; m += 256)
			if (cpu_steps[i] >= cpu && m >= mib && valid(s, cpu_steps[i], m) &&
				(cpu_steps[i] < got_cpu ||
					(cpu_steps[i] == got_cpu && m < got_mib)))
				return true;
	return false;
}

static void assert_smallest(const struct advice_sizes *s, uint64_t cpu, uint64_t mib)
{
	uint64_t got = 0;
	const struct advice_size *size = advice_size_for(s, cpu, mib, &got);

	if (!size) {
		if (smaller_exists(s, cpu, mib, UINT64_MAX, UINT64_MAX))
			fail_msg("%s has a size for %u m, %u MiB", s->of, (unsigned)cpu,
				(unsigned)mib);
		return;
	}
	if (size->millicores < cpu || got < mib || !valid(s, size->millicores, got) ||
		smaller_exists(s, cpu, mib, size->millicores, got))
		fail_msg("%s: %u m, %u MiB for %u m, %u MiB", s->of, (unsigned)size->millicores,
			(unsigned)got, (unsigned)cpu, (unsigned)mib);
}

static void the_size_is_the_smallest_valid_one(void **state)
{
	static const uint64_t cpu[] = {0, 1, 250, 251, 500, 501, 1000, 1001, 2000, 2001, 4000, 4001,
		8000, 8001, 16000, 16001, 17000, 32000, 32001, 33000, 128000, 128001};
	static const uint64_t mib[] = {0, 1, 512, 513, 1024, 1025, 2048, 2049, 4096, 4097, 8192,
		8193, 16384, 16385, 30720, 30721, 32768, 61440, 61441, 100000, 122880, 122881,
		131072, 131073, 249856, 249857, 638976, 638977};

	for (size_t i = 0; i < ARRAY_LEN(cpu); i++)
		for (size_t k = 0; k < ARRAY_LEN(mib); k++) {
			assert_smallest(&advice_sizes_fargate, cpu[i], mib[k]);
			assert_smallest(&advice_sizes_gcp, cpu[i], mib[k]);
		}
}

static void a_machine_type_is_valid_in_its_series(void **state)
{
	for (size_t i = 0; i < advice_sizes_gcp.n; i++) {
		const struct advice_size *s = &advice_sizes_gcp.size[i];

		assert_true(gcp_valid(s->series, s->millicores, s->mib_least));
		assert_true(gcp_valid(s->series, s->millicores, s->mib_most));
		assert_false(gcp_valid(s->series, s->millicores, s->mib_most + s->mib_step));
	}
}

static void sizes_are_sorted(void **state)
{
	static const struct advice_sizes *const all[] = {&advice_sizes_fargate, &advice_sizes_gcp};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		for (size_t k = 1; k < all[i]->n; k++) {
			const struct advice_size *a = &all[i]->size[k - 1], *b = &all[i]->size[k];

			assert_true(a->millicores <= b->millicores);
			if (a->millicores == b->millicores)
				assert_true(a->mib_least <= b->mib_least);
		}
}

/* ---- texts ---- */

static struct sizing sized(double cores, uint64_t mib)
{
	struct sizing s = {
		.demand = {cores, (double)mib * 1048576, NAN, NAN, NAN, NAN},
		.resources.memory = mib,
		.cpu_cores_limit = NAN,
		.memory_bytes_limit = NAN,
		.gpu_usage = NAN,
		.duration_bound = NAN,
	};

	return s;
}

static void assert_text(const char *format, struct sizing s, const char *expected)
{
	static const struct advice_target target = {.job_name = "load"};
	AUTO(buf_done) struct buf out = BUF_MAX(1024);
	struct err e = {0};
	int r = advice_write(&out, advice_format_find(format), &target, &s, &e);

	assert_int_equal(r, expected[0] == '{' ? 0 : -ERANGE);
	assert_string_equal(r ? e.text : buf_text(&out), expected);
}

static void an_unknown_number_takes_the_smallest_size_of_the_other(void **state)
{
	assert_text("fargate", sized(NAN, 600),
		"{\"requiresCompatibilities\":[\"FARGATE\"],\"cpu\":\"256\",\"memory\":\"1024\"}\n");
	assert_text("fargate", sized(3, 0),
		"{\"requiresCompatibilities\":[\"FARGATE\"],\"cpu\":\"4096\",\"memory\":\"8192\"}\n");
	/* Without memoryMib, a task of Google Cloud Batch gets 2,000 MiB. */
	assert_text("gcp-batch", sized(1, 0),
		"{\"taskGroups\":[{\"taskSpec\":{\"computeResource\":{\"cpuMilli\":1000}}}],"
		"\"allocationPolicy\":{\"instances\":[{\"policy\":{\"machineType\":\"e2-custom-2-"
		"2048\"}}]}}\n");
}

static void disk_is_part_of_the_size(void **state)
{
	struct sizing s = sized(1, 2048);

	s.demand.disk_bytes = 20.0 * (1 << 30);
	assert_text("fargate", s,
		"{\"requiresCompatibilities\":[\"FARGATE\"],\"cpu\":\"1024\",\"memory\":\"2048\"}\n");
	s.demand.disk_bytes += 1;
	assert_text("fargate", s,
		"{\"requiresCompatibilities\":[\"FARGATE\"],\"cpu\":\"1024\",\"memory\":\"2048\","
		"\"ephemeralStorage\":{\"sizeInGiB\":21}}\n");
	assert_text("aws-batch-fargate", s,
		"{\"type\":\"container\",\"platformCapabilities\":[\"FARGATE\"],"
		"\"containerProperties\":{\"resourceRequirements\":[{\"type\":\"VCPU\",\"value\":"
		"\"1\"},{\"type\":\"MEMORY\",\"value\":\"2048\"}],\"ephemeralStorage\":{"
		"\"sizeInGiB\":21}}}\n");
	s.demand.disk_bytes = 200.0 * (1 << 30) + 1;
	assert_text("fargate", s,
		"the job needs 201 GiB of disk, and AWS Fargate has at most 200 GiB: choose a "
		"server (/servers)");
}

static void a_job_that_no_size_holds_is_told_the_largest(void **state)
{
	static const char expected[] = "the job needs 2.5 CPUs and 249857 MiB, and the largest "
				       "size of AWS Fargate has 32 CPUs and 249856 MiB: choose a "
				       "server (/servers)";

	assert_text("fargate", sized(2.5, 249857), expected);
	assert_text("aws-batch-fargate", sized(2.5, 249857), expected);
	assert_text("gcp-batch", sized(129, 512),
		"the job needs 129 CPUs and 512 MiB, and the largest size of Google Compute Engine "
		"has 128 CPUs and 638976 MiB: choose a server (/servers)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_size_is_the_smallest_valid_one),
		cmocka_unit_test(a_machine_type_is_valid_in_its_series),
		cmocka_unit_test(sizes_are_sorted),
		cmocka_unit_test(an_unknown_number_takes_the_smallest_size_of_the_other),
		cmocka_unit_test(disk_is_part_of_the_size),
		cmocka_unit_test(a_job_that_no_size_holds_is_told_the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
