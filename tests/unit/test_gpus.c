/* Tests the names of GPUs: who makes a model, which names are of one model, and the GPUs of a job. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/catalogue/gpus.h"
#include "recommender/run.h"

static void the_model_or_the_name_says_who_makes_a_gpu(void **state)
{
	static const struct {
		const char *vendor_id, *name, *model, *manufacturer;
	} cases[] = {
		{"aws", "g4ad.xlarge", "V520", "AMD"},
		{"aws", "g4dn.xlarge", "T4", "NVIDIA"},
		{"aws", "g5g.xlarge", "T4G", "NVIDIA"},
		{"aws", "p3.2xlarge", "V100", "NVIDIA"},
		{"aws", "dl1.24xlarge", "HL-205", "Habana"},
		{"aws", "g7e.2xlarge", "RTX Pro 6000", "NVIDIA"},
		{"gcp", "a4x-maxgpu-4g-metal", "nvidia-gb300", "NVIDIA"},
		{"gcp", "ct5p-hightpu-4t", "ct5p", "Google"},
		{"vultr", "vbm", "MI300X", "AMD"},
		{"vultr", "vcg-a16", "A16", "NVIDIA"},
		{"alicloud", "ecs.ebmga8.48xlarge", "MI-308X", "AMD"},
		{"alicloud", "ecs.ga1.2xlarge", "S7150", "AMD"},
		{"alicloud", "ecs.ebmgp7i.48xlarge", "A910X", "Alibaba"},
		{"alicloud", "ecs.ebmgn7v.32xlarge", "A800", "NVIDIA"},
		{"alicloud", "ecs.gn8v-tdx.4xlarge", "GPU H", "NVIDIA"},
		{"alicloud", "ecs.sgn8ia-m2.xlarge", "vGPU8", "NVIDIA"},
		{"alicloud", "ecs.f1-c8f1.2xlarge", "INTEL ARRIA 10 GX 1150", "Altera"},
		{"alicloud", "ecs.ebmgi6s.24xlarge", "intel SG1", "Intel"},
		{"alicloud", "ecs.av8m.16xlarge", "VG1000", ""},
		{"azure", "Standard_NC6s_v3", "", "NVIDIA"},
		{"azure", "Standard_NV12s_v3", "", "NVIDIA"},
		{"azure", "Standard_NV8as_v4", "", "AMD"},
		{"azure", "Standard_NV8ads_V710_v5", "", "AMD"},
		{"azure", "Standard_NG8ads_V620_v1", "", "AMD"},
		{"azure", "Standard_ND96isr_MI300X_v5", "", "AMD"},
		{"azure", "Standard_ND96isr_H200_v5", "", "NVIDIA"},
		{"mine", "box", "Tesla V100-SXM2-16GB", "NVIDIA"},
		{"mine", "box", "AMD Instinct MI210", "AMD"},
		{"mine", "box", "Radeon PRO W7900", "AMD"},
		{"mine", "box", "", ""},
		{"mine", "Standard_NC6s_v3", "", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct server s = {.vendor_id = cases[i].vendor_id,
			.api_reference = cases[i].name,
			.gpu_model = cases[i].model};

		if (strcmp(gpus_manufacturer(&s), cases[i].manufacturer) != 0)
			fail_msg("%s %s is of \"%s\", not \"%s\"", cases[i].name, cases[i].model,
				gpus_manufacturer(&s), cases[i].manufacturer);
	}
}

/* A new model in the catalogue needs a row in the table, or it fits no job with known GPUs. */
static void the_built_in_catalogue_knows_who_makes_its_gpus(void **state)
{
	struct catalogue *c = NULL;
	size_t n = 0, unknown = 0;

	assert_int_equal(catalogue_built_in(&c, NULL), 0);
	for (size_t i = 0; i < c->n; i++) {
		n += c->server[i].gpu_count > 0;
		unknown += c->server[i].gpu_count > 0 && !*c->server[i].gpu_manufacturer;
		if (!(c->server[i].gpu_count > 0))
			assert_string_equal(c->server[i].gpu_manufacturer, "");
	}
	assert_in_range(n, 300, 1000);
	assert_in_range(unknown, 0, 1); /* ecs.av8m, for videos */
	catalogue_free(c);
}

static void names_of_one_model_are_recognised(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"NVIDIA H200", "H200", true},
		{"Tesla V100-SXM2-16GB", "V100", true},
		{"Tesla V100S-PCIE-32GB", "V100", false},
		{"NVIDIA A100-SXM4-80GB", "A100", true},
		{"NVIDIA A100-SXM4-80GB", "A10", false},
		{"NVIDIA A10G", "A10", false},
		{"NVIDIA L4", "L40S", false},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX Pro 6000", true},
		{"AMD Instinct MI300X", "MI300X", true},
		{"T4", "Nvidia Tesla T4", true},
		{"NVIDIA H200", "T4", false},
		{"NVIDIA H200", "", false},
		{"NVIDIA", "NVIDIA Corporation", true},
		{"AMD", "Advanced Micro Devices, Inc. [AMD/ATI]", true},
		{"AMD", "NVIDIA Corporation", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (gpus_same_name(cases[i].a, cases[i].b) != cases[i].same)
			fail_msg("%s, %s", cases[i].a, cases[i].b);
}

static void the_runs_of_a_job_name_its_gpus(void **state)
{
	static const struct {
		const char *manufacturers[3], *models[3];
		bool known;
		const char *manufacturer, *model;
	} cases[] = {
		{{NULL, NULL, NULL}, {NULL, NULL, NULL}, false, NULL, NULL},
		{{NULL, "NVIDIA", "nvidia"}, {NULL, "NVIDIA H200", "Tesla T4"}, true, "NVIDIA",
			"NVIDIA H200"},
		{{"AMD", "NVIDIA", "AMD"}, {NULL, NULL, "MI210"}, true, NULL, "MI210"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct run run[3] = {0};
		const struct runs runs = {3, run};
		const char *manufacturer = "left", *model;

		for (size_t k = 0; k < 3; k++) {
			run[k].gpu_manufacturer = cases[i].manufacturers[k];
			run[k].gpu_model = cases[i].models[k];
		}
		assert_int_equal(runs_gpu_manufacturer(&runs, &manufacturer), cases[i].known);
		model = runs_gpu_model(&runs);
		assert_int_equal(!manufacturer, !cases[i].manufacturer);
		assert_int_equal(!model, !cases[i].model);
		if (manufacturer)
			assert_string_equal(manufacturer, cases[i].manufacturer);
		if (model)
			assert_string_equal(model, cases[i].model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_model_or_the_name_says_who_makes_a_gpu),
		cmocka_unit_test(the_built_in_catalogue_knows_who_makes_its_gpus),
		cmocka_unit_test(names_of_one_model_are_recognised),
		cmocka_unit_test(the_runs_of_a_job_name_its_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
