/* collectors/gpu/drm_fdinfo.c: the text that drivers write, and malformed text. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/gpu/drm_fdinfo.h"
#include "tests/support/fdinfo_samples.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)

static struct drm_fdinfo parsed(const char *text)
{
	struct drm_fdinfo f;

	assert_true(drm_fdinfo_parse(SCAN(text, strlen(text)), &f));
	return f;
}

static void amdgpu_is_understood(void **state)
{
	char text[1024];

	snprintf(text, sizeof text, FDINFO_AMDGPU, 42ULL, 1024ULL, 7ULL, 9ULL);
	struct drm_fdinfo f = parsed(text);

	assert_string_equal(f.driver, "amdgpu");
	assert_string_equal(f.pci, "0000:03:00.0");
	assert_true(f.has_client_id);
	assert_int_equal(f.client_id, 42);
	assert_true(f.vram_known);
	assert_int_equal(f.vram_bytes, MIB);
	assert_int_equal(f.n_engines, 3);
	assert_string_equal(f.engine[1].name, "compute");
	assert_int_equal(f.engine[1].busy_ns, 9);
	assert_int_equal(f.engine[1].capacity, 1);
}

static void memory_is_the_resident_part_on_the_gpu(void **state)
{
	static const struct {
		const char *text;
		bool known;
		uint64_t bytes;
	} cases[] = {
		{FDINFO_AMDGPU_REGIONS, true, 256 * MIB},
		{FDINFO_INTEGRATED, true, 0},
		{"drm-driver:\tx\ndrm-total-vram0:\t3 MiB\ndrm-resident-vram1:\t5\n", true,
			3 * MIB + 5},
		{"drm-driver:\tx\ndrm-resident-vram:\t5\ndrm-total-vram:\t9\n", true, 5},
		{"drm-driver:\tx\ndrm-engine-gfx:\t5 ns\n", false, 0},
		{"drm-driver:\tx\ndrm-resident-vram:\t18446744073709551615 KiB\n", false, 0},
		{"drm-driver:\tx\ndrm-resident-vram0:\t18446744073709551615\ndrm-resident-vram1:"
		 "\t1\n",
			false, 0},
		{"drm-driver:\tx\ndrm-resident-:\t5\n", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct drm_fdinfo f = parsed(cases[i].text);

		assert_int_equal(f.vram_known, cases[i].known);
		if (cases[i].known)
			assert_int_equal(f.vram_bytes, cases[i].bytes);
	}
}

static void i915_capacity_is_of_its_engine(void **state)
{
	char text[1024];

	snprintf(text, sizeof text, FDINFO_I915, 7ULL, 500ULL, 400ULL, 11ULL, 22ULL);
	struct drm_fdinfo f = parsed(text);

	assert_int_equal(f.n_engines, 4);
	assert_string_equal(f.engine[2].name, "video");
	assert_int_equal(f.engine[2].busy_ns, 22);
	assert_int_equal(f.engine[2].capacity, 2);
	assert_string_equal(f.engine[3].name, "video-enhance");
	assert_int_equal(f.engine[3].capacity, 1);
	assert_int_equal(f.vram_bytes, 400 * MIB);
}

static void xe_cycles_are_no_memory(void **state)
{
	char text[1024];

	snprintf(text, sizeof text, FDINFO_XE, 7ULL, 2048ULL, 1024ULL, 1ULL, 100ULL, 2ULL, 100ULL);
	struct drm_fdinfo f = parsed(text);

	assert_int_equal(f.vram_bytes, MIB);
	assert_int_equal(f.n_engines, 2);
	assert_string_equal(f.engine[1].name, "ccs");
	assert_true(f.engine[1].has_cycles);
	assert_false(f.engine[1].has_ns);
	assert_int_equal(f.engine[1].cycles, 2);
	assert_int_equal(f.engine[1].total_cycles, 100);
	assert_int_equal(f.engine[1].capacity, 4);
}

static void utilization_is_of_the_busiest_engine(void **state)
{
	static const struct {
		const char *before, *now;
		double seconds, utilization; /* NaN = unknown */
	} cases[] = {
		{"drm-engine-a:\t0 ns\ndrm-engine-b:\t0 ns\n",
			"drm-engine-a:\t250000000 ns\ndrm-engine-b:\t500000000 ns\n", 1, 0.5},
		{"drm-engine-a:\t0 ns\n", "drm-engine-a:\t500000000 ns\n", 2, 0.25},
		{"drm-engine-a:\t0 ns\ndrm-engine-capacity-a:\t2\n",
			"drm-engine-a:\t1000000000 ns\ndrm-engine-capacity-a:\t2\n", 1, 0.5},
		{"drm-engine-a:\t0 ns\ndrm-engine-capacity-a:\t0\n",
			"drm-engine-a:\t500000000 ns\ndrm-engine-capacity-a:\t0\n", 1, 0.5},
		{"drm-engine-a:\t0 ns\n", "drm-engine-a:\t5000000000 ns\n", 1,
			1}, /* 5 s of engine time in 1 s */
		{"drm-engine-a:\t900 ns\n", "drm-engine-a:\t100 ns\n", 1, 0}, /* the counter fell */
		{"drm-engine-a:\t900 ns\n", "drm-engine-b:\t100 ns\n", 1, NAN},
		{"drm-engine-a:\t0 ns\n", "drm-engine-a:\t500 ns\n", 0, NAN},
		{"drm-driver:\tx\n", "drm-driver:\tx\n", 1, NAN},
		{"drm-cycles-a:\t0\ndrm-total-cycles-a:\t1000\n",
			"drm-cycles-a:\t30\ndrm-total-cycles-a:\t1100\n", 1, 0.3},
		{"drm-cycles-a:\t0\ndrm-total-cycles-a:\t1000\n",
			"drm-cycles-a:\t30\ndrm-total-cycles-a:\t1000\n", 1, NAN},
		{"drm-cycles-a:\t0\ndrm-total-cycles-a:\t0\ndrm-engine-capacity-a:\t4\n",
			"drm-cycles-a:\t200\ndrm-total-cycles-a:\t100\ndrm-engine-capacity-a:\t4\n",
			1, 0.5},
		/* A driver (panfrost) may report cycles but no total cycles. Such cycles depend on
		 * the clock frequency, so the engine's time is used. */
		{"drm-engine-a:\t0 ns\ndrm-cycles-a:\t0\n",
			"drm-engine-a:\t100000000 ns\ndrm-cycles-a:\t99999\n", 1, 0.1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct drm_fdinfo before = parsed(cases[i].before), now = parsed(cases[i].now);
		double u = drm_fdinfo_utilization(&before, &now, cases[i].seconds);

		if (isnan(cases[i].utilization) ? !isnan(u) :
						  !(fabs(u - cases[i].utilization) < 1e-9))
			fail_msg("case %zu: %g, not %g", i, u, cases[i].utilization);
	}
}

/* A counter may fall and rise again. Only what exceeds its largest value counts as use. */
static void a_counter_that_fell_is_not_counted_twice(void **state)
{
	struct drm_fdinfo a = parsed("drm-engine-a:\t1000000000 ns\n");
	struct drm_fdinfo b = parsed("drm-engine-a:\t400000000 ns\n");
	struct drm_fdinfo c = parsed("drm-engine-a:\t1100000000 ns\n");

	assert_double_equal(drm_fdinfo_utilization(&a, &b, 1), 0, 0);
	assert_double_equal(drm_fdinfo_utilization(&b, &c, 1), 0.1, 1e-9);
}

static void other_descriptors_are_no_clients(void **state)
{
	static const char *const texts[] = {
		"",
		"pos:\t0\nflags:\t0100002\nmnt_id:\t15\nino:\t9\n",
		"eventfd-count:                0\n",
		"drm-driver\n",
	};
	struct drm_fdinfo f = {.client_id = 77};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		assert_false(drm_fdinfo_parse(SCAN(texts[i], strlen(texts[i])), &f));
		assert_int_equal(f.client_id, 77);
	}
}

static void hostile_text_stays_within_bounds(void **state)
{
	char text[8192] =
		"drm-driver:\txxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\ndrm-client-"
		"id:\t-1\n";

	for (int i = 0; i < 100; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof text - len,
			"drm-engine-e%d:\t%d ns\ndrm-resident-vram%d:\t1\n", i, i, i);
	}
	strncat(text, "drm-engine-a-name-that-is-too-long-for-an-engine:\t5 ns\n",
		sizeof text - strlen(text) - 1);
	struct drm_fdinfo f = parsed(text);

	assert_int_equal(f.n_engines, DRM_ENGINES_MAX);
	assert_int_equal(strlen(f.driver), sizeof f.driver - 1);
	assert_false(f.has_client_id);
	assert_true(drm_fdinfo_has_worked(&f));
	assert_false(drm_fdinfo_has_worked(&(struct drm_fdinfo){0}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes some bytes of samples, and runs the fuzz target on them. The changes are the same each
 * time. */
static void changed_bytes_do_no_harm(void **state)
{
	static const char *const samples[] = {
		FDINFO_AMDGPU, FDINFO_AMDGPU_REGIONS, FDINFO_I915, FDINFO_XE, FDINFO_INTEGRATED};
	uint64_t random = 88172645463325252ULL;
	uint8_t text[2048];

	for (int round = 0; round < 5000; round++) {
		const char *sample = samples[round % 5];
		size_t n = strlen(sample), size = 2 * n + 1;

		memcpy(text, sample, n + 1);
		memcpy(text + n + 1, sample, n);
		for (int k = 0; k < round % 7; k++) {
			random ^= random << 13; /* xorshift64 */
			random ^= random >> 7;
			random ^= random << 17;
			text[random % size] = (uint8_t)(random >> 32);
		}
		assert_int_equal(LLVMFuzzerTestOneInput(text, size), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdgpu_is_understood),
		cmocka_unit_test(memory_is_the_resident_part_on_the_gpu),
		cmocka_unit_test(i915_capacity_is_of_its_engine),
		cmocka_unit_test(xe_cycles_are_no_memory),
		cmocka_unit_test(utilization_is_of_the_busiest_engine),
		cmocka_unit_test(a_counter_that_fell_is_not_counted_twice),
		cmocka_unit_test(other_descriptors_are_no_clients),
		cmocka_unit_test(hostile_text_stays_within_bounds),
		cmocka_unit_test(changed_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
