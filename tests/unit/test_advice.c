/* recommender/advice/: the exact syntax and units of each format. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "collectors/base/scan.h"
#include "recommender/sizing/strategy.h"
#include "recommender/advice/advice.h"

#define GIB (1024 * MIB)

static struct sizing nothing_known(void)
{
	return (struct sizing){
		.demand = {NAN, NAN, NAN, NAN, NAN, NAN},
		.cpu_cores_limit = NAN,
		.memory_bytes_limit = NAN,
		.gpu_usage = NAN,
		.duration_bound = NAN,
		.memory_at_risk = {NAN, NAN, NAN},
		.memory_attempts = {NAN, NAN, NAN, NAN},
	};
}

/* The values that the documentation of sizing fields uses as an example: 2.25 cores, 3584 MiB, a
 * GPU, 20 GiB of disk. */
static struct sizing plain(void)
{
	struct sizing s = nothing_known();

	s.demand = (struct demand){2.25, 3500 * MIB, 1, 14 * GIB, 20 * GIB, 1200};
	s.resources = (struct resources){3, 3584, 1, 14336};
	s.duration_bound = 2700;
	return s;
}

/* Makes a sizing with limits above the requests, and without GPU, disk and duration. */
static struct sizing with_limits(void)
{
	struct sizing s = nothing_known();

	s.demand.cpu_cores = 0.5;
	s.demand.memory_bytes = 500 * MIB;
	s.resources = (struct resources){1, 512, 0, 0};
	s.cpu_cores_limit = 4;
	s.memory_bytes_limit = 703.2 * MIB;
	s.memory_at_risk[RISK_ECONOMY] = 455.5 * MIB;
	return s;
}

#define PATCH(before, resources)                                                                   \
	before "{\"containers\":[{\"name\":\"main\",\"resources\":" resources "}]}"
#define PLAIN_PATCH                                                                                \
	"{\"requests\":{\"cpu\":\"2250m\",\"memory\":\"3584Mi\",\"ephemeral-storage\":"            \
	"\"20480Mi\",\"nvidia.com/gpu\":\"1\"},\"limits\":{\"memory\":\"3584Mi\","                 \
	"\"nvidia.com/gpu\":\"1\",\"cpu\":null,\"ephemeral-storage\":null}}"
#define LIMITS_PATCH                                                                               \
	"{\"requests\":{\"cpu\":\"500m\",\"memory\":\"512Mi\"},\"limits\":{\"memory\":\"704Mi\","  \
	"\"cpu\":null}}"
#define BATCH(resources)                                                                           \
	"{\"type\":\"container\",\"containerProperties\":{\"resourceRequirements\":[" resources    \
	"]}}\n"
#define RETRY                                                                                      \
	"        errorStrategy = { task.exitStatus in ((130..145) + [104, 175, "                   \
	"Integer.MAX_VALUE]) ? 'retry' : 'finish' }\n"                                             \
	"        maxRetries = 3\n"
#define NO_GPU "the job needs 1 GPU, and the sizes of "

/* The expected texts. A text that does not end in a newline is the start of an error. */
static const struct {
	const char *format, *plain, *with_limits, *unknown;
} table[] = {
	{"metaflow",
		"# @resources(memory=3759) has no effect below 4096 MB. On AWS Batch, use @batch(cpu=3, memory=3584, gpu=1).\n"
		"@kubernetes(cpu=2.25, memory=3759, disk=21475, gpu=1)\n",
		"# @resources(memory=537) has no effect below 4096 MB. On AWS Batch, use @batch(cpu=1, memory=512).\n"
		"@kubernetes(cpu=0.5, memory=537)\n",
		"@resources()\n"},
	{"metaflow-kubernetes", "@kubernetes(cpu=2.25, memory=3759, disk=21475, gpu=1)\n",
		"@kubernetes(cpu=0.5, memory=537)\n", "@kubernetes()\n"},
	{"metaflow-batch", "@batch(cpu=3, memory=3584, gpu=1)\n", "@batch(cpu=1, memory=512)\n",
		"@batch()\n"},
	{"kubernetes",
		"resources:\n"
		"  requests:\n"
		"    cpu: \"2250m\"\n"
		"    memory: \"3584Mi\"\n"
		"    ephemeral-storage: \"20480Mi\"\n"
		"    nvidia.com/gpu: \"1\"\n"
		"  limits:\n"
		"    memory: \"3584Mi\"\n"
		"    nvidia.com/gpu: \"1\"\n",
		"resources:\n"
		"  requests:\n"
		"    cpu: \"500m\"\n"
		"    memory: \"512Mi\"\n"
		"  limits:\n"
		"    memory: \"704Mi\"\n",
		"resources: {}\n"},
	{"kubernetes-patch", PATCH("{\"spec\":{\"template\":{\"spec\":", PLAIN_PATCH) "}}}\n",
		PATCH("{\"spec\":{\"template\":{\"spec\":", LIMITS_PATCH) "}}}\n", "{}\n"},
	{"vpa",
		"status:\n"
		"  recommendation:\n"
		"    containerRecommendations:\n"
		"      - containerName: \"main\"\n"
		"        lowerBound:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        target:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        uncappedTarget:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        upperBound:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n",
		"status:\n"
		"  recommendation:\n"
		"    containerRecommendations:\n"
		"      - containerName: \"main\"\n"
		"        lowerBound:\n          cpu: \"500m\"\n          memory: \"456Mi\"\n"
		"        target:\n          cpu: \"500m\"\n          memory: \"512Mi\"\n"
		"        uncappedTarget:\n          cpu: \"500m\"\n          memory: \"512Mi\"\n"
		"        upperBound:\n          cpu: \"4000m\"\n          memory: \"704Mi\"\n",
		"status: {}\n"},
	{"argo",
		"container:\n"
		"  resources:\n"
		"    requests:\n"
		"      cpu: \"2250m\"\n"
		"      memory: \"3584Mi\"\n"
		"      ephemeral-storage: \"20480Mi\"\n"
		"      nvidia.com/gpu: \"1\"\n"
		"    limits:\n"
		"      memory: \"3584Mi\"\n"
		"      nvidia.com/gpu: \"1\"\n",
		"container:\n"
		"  resources:\n"
		"    requests:\n"
		"      cpu: \"500m\"\n"
		"      memory: \"512Mi\"\n"
		"    limits:\n"
		"      memory: \"704Mi\"\n",
		"container:\n  resources: {}\n"},
	{"argo-patch", PATCH("podSpecPatch: '", PLAIN_PATCH) "'\n",
		PATCH("podSpecPatch: '", LIMITS_PATCH) "'\n",
		PATCH("podSpecPatch: '", "{\"requests\":{},\"limits\":{}}") "'\n"},
	{"airflow",
		"executor_config={\"pod_override\": "
		"k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name=\"base\", "
		"resources=k8s.V1ResourceRequirements(requests={\"cpu\": \"2250m\", \"memory\": "
		"\"3584Mi\", \"ephemeral-storage\": \"20480Mi\", \"nvidia.com/gpu\": \"1\"}, "
		"limits={\"memory\": \"3584Mi\", \"nvidia.com/gpu\": \"1\"}))]))}\n",
		"executor_config={\"pod_override\": "
		"k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name=\"base\", "
		"resources=k8s.V1ResourceRequirements(requests={\"cpu\": \"500m\", \"memory\": "
		"\"512Mi\"}, limits={\"memory\": \"704Mi\"}))]))}\n",
		"executor_config={\"pod_override\": k8s.V1Pod(spec=k8s.V1PodSpec(containers=["
		"k8s.V1Container(name=\"base\", resources=k8s.V1ResourceRequirements(requests={}, "
		"limits={}))]))}\n"},
	{"flyte",
		"@task(requests=Resources(cpu=\"2250m\", mem=\"3584Mi\", gpu=\"1\", "
		"ephemeral_storage=\"20480Mi\"), limits=Resources(mem=\"3584Mi\", gpu=\"1\"))\n",
		"@task(requests=Resources(cpu=\"500m\", mem=\"512Mi\"), "
		"limits=Resources(cpu=\"4000m\", mem=\"704Mi\"))\n",
		"@task(requests=Resources(), limits=Resources())\n"},
	{"nextflow",
		"process {\n"
		"    withName: 'load' {\n"
		"        cpus = 3\n"
		"        memory = { [3584.MB, 7168.MB, 14336.MB][task.attempt - 1] ?: 28672.MB }\n"
		"        time = { 90.m * task.attempt }\n"
		"        disk = 20480.MB\n"
		"        accelerator = 1\n" RETRY "    }\n"
		"}\n",
		"process {\n"
		"    withName: 'load' {\n"
		"        cpus = 1\n"
		"        memory = { [512.MB, 1024.MB, 2048.MB][task.attempt - 1] ?: 4096.MB }\n" RETRY
		"    }\n"
		"}\n",
		"process {\n}\n"},
	{"snakemake",
		"threads: 3\n"
		"retries: 3\n"
		"resources:\n"
		"    mem_mb=lambda wildcards, attempt: [3759, 7517, 15033, 30065][min(attempt, 4) - "
		"1],\n"
		"    disk_mb=21475,\n"
		"    gpu=1,\n",
		"threads: 1\n"
		"retries: 3\n"
		"resources:\n"
		"    mem_mb=lambda wildcards, attempt: [537, 1074, 2148, 4295][min(attempt, 4) - "
		"1],\n",
		""},
	{"slurm",
		"#SBATCH --cpus-per-task=3\n#SBATCH --mem=3584M\n#SBATCH --gres=gpu:1\n#SBATCH "
		"--time=01:30:00\n",
		"#SBATCH --cpus-per-task=1\n#SBATCH --mem=512M\n", ""},
	{"ray", "@ray.remote(num_cpus=2.25, memory=3758096384, num_gpus=1)\n",
		"@ray.remote(num_cpus=0.5, memory=536870912)\n", "@ray.remote\n"},
	{"spark",
		"spark.executor.cores 3\n"
		"spark.kubernetes.executor.request.cores 2250m\n"
		"spark.executor.memory 3200m\n"
		"spark.executor.memoryOverhead 384m\n"
		"spark.executor.resource.gpu.amount 1\n",
		"spark.executor.cores 1\n"
		"spark.kubernetes.executor.request.cores 500m\n"
		"spark.executor.memory 512m\n"
		"spark.executor.memoryOverhead 384m\n",
		""},
	{"spark-driver",
		"spark.driver.cores 3\n"
		"spark.kubernetes.driver.request.cores 2250m\n"
		"spark.driver.memory 3200m\n"
		"spark.driver.memoryOverhead 384m\n"
		"spark.driver.resource.gpu.amount 1\n",
		"spark.driver.cores 1\n"
		"spark.kubernetes.driver.request.cores 500m\n"
		"spark.driver.memory 512m\n"
		"spark.driver.memoryOverhead 384m\n",
		""},
	{"fargate", NO_GPU,
		"{\"requiresCompatibilities\":[\"FARGATE\"],\"cpu\":\"512\",\"memory\":\"1024\"}\n",
		"{}\n"},
	{"aws-batch",
		BATCH("{\"type\":\"VCPU\",\"value\":\"3\"},{\"type\":\"MEMORY\",\"value\":\"3584\"},"
		      "{\"type\":\"GPU\",\"value\":\"1\"}"),
		BATCH("{\"type\":\"VCPU\",\"value\":\"1\"},{\"type\":\"MEMORY\",\"value\":\"512\"}"),
		"{}\n"},
	{"aws-batch-fargate", NO_GPU,
		"{\"type\":\"container\",\"platformCapabilities\":[\"FARGATE\"],"
		"\"containerProperties\":{\"resourceRequirements\":[{\"type\":\"VCPU\","
		"\"value\":\"0.5\"},{\"type\":\"MEMORY\",\"value\":\"1024\"}]}}\n",
		"{}\n"},
	{"gcp-batch", NO_GPU,
		"{\"taskGroups\":[{\"taskSpec\":{\"computeResource\":{\"cpuMilli\":500,"
		"\"memoryMib\":512}}}],\"allocationPolicy\":{\"instances\":[{\"policy\":{"
		"\"machineType\":\"e2-custom-2-1024\"}}]}}\n",
		"{}\n"},
	{"kubeflow",
		"task.set_cpu_request('2250m').set_memory_request('3584Mi').set_memory_limit('"
		"3584Mi').set_accelerator_type('nvidia.com/gpu').set_accelerator_limit(1)\n",
		"task.set_cpu_request('500m').set_memory_request('512Mi').set_memory_limit('704Mi"
		"')\n",
		"task\n"},
	{"dask", "LocalCluster(n_workers=1, threads_per_worker=3, memory_limit=\"3773MiB\")\n",
		"LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=\"539MiB\")\n",
		"LocalCluster(n_workers=1)\n"},
	{"docker", "--memory=3584m --memory-swap=3584m --gpus 1\n",
		"--cpus=4 --memory=704m --memory-swap=704m\n", "\n"},
	{"systemd", "[Service]\nMemoryMax=3584M\n", "[Service]\nCPUQuota=400%\nMemoryMax=704M\n",
		"[Service]\n"},
};

static const struct advice_target no_target = {.job_name = "etl/load"};

static void assert_written_for(const char *format, const struct advice_target *t,
	const struct sizing *s, const char *expected)
{
	AUTO(buf_done) struct buf out = BUF_MAX(4096);
	struct err e = {0};

	assert_int_equal(advice_write(&out, advice_format_find(format), t, s, &e), 0);
	assert_string_equal(buf_text(&out), expected);
}

static void assert_written(const char *format, const struct sizing *s, const char *expected)
{
	assert_written_for(format, &no_target, s, expected);
}

static void assert_too_large(const char *format, const struct sizing *s, const char *why)
{
	AUTO(buf_done) struct buf out = BUF_MAX(4096);
	struct err e = {0};

	assert_int_equal(advice_write(&out, advice_format_find(format), &no_target, s, &e),
		-ERANGE);
	assert_string_equal(buf_text(&out), "");
	if (strncmp(e.text, why, strlen(why)) != 0)
		fail_msg("%s: \"%s\" does not start with \"%s\"", format, e.text, why);
}

static void assert_row(const char *format, const struct sizing *s, const char *expected)
{
	size_t len = strlen(expected);

	if (len && expected[len - 1] != '\n')
		assert_too_large(format, s, expected);
	else
		assert_written(format, s, expected);
}

static void assert_written_after(const char *start, const char *format, const struct sizing *s,
	const char *expected)
{
	AUTO(buf_done) struct buf whole = BUF_MAX(4096);

	buf_addf(&whole, "%s%s", start, expected);
	assert_written(format, s, buf_text(&whole));
}

static void each_format_is_written_to_the_letter(void **state)
{
	struct sizing a = plain(), b = with_limits(), c = nothing_known();

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_row(table[i].format, &a, table[i].plain);
		assert_row(table[i].format, &b, table[i].with_limits);
		assert_row(table[i].format, &c, table[i].unknown);
	}
}

/* Formats that name GPUs by their manufacturer. The other formats do not depend on it. */
static void gpus_are_named_by_their_manufacturer(void **state)
{
	static const struct {
		const char *format, *unknown, *nvidia, *amd, *intel;
	} rows[] = {
		{"kubernetes", "nvidia.com/gpu: \"1\"", "nvidia.com/gpu: \"1\"",
			"amd.com/gpu: \"1\"", "gpu.intel.com/i915: \"1\""},
		{"kubernetes-patch", "\"nvidia.com/gpu\":\"1\"", "\"nvidia.com/gpu\":\"1\"",
			"\"amd.com/gpu\":\"1\"", "\"gpu.intel.com/i915\":\"1\""},
		{"argo", "nvidia.com/gpu: \"1\"", "nvidia.com/gpu: \"1\"", "amd.com/gpu: \"1\"",
			"gpu.intel.com/i915: \"1\""},
		{"argo-patch", "nvidia.com/gpu", "nvidia.com/gpu", "amd.com/gpu",
			"gpu.intel.com/i915"},
		{"airflow", "\"nvidia.com/gpu\": \"1\"", "\"nvidia.com/gpu\": \"1\"",
			"\"amd.com/gpu\": \"1\"", "\"gpu.intel.com/i915\": \"1\""},
		{"nextflow", "accelerator = 1\n", "accelerator = 1\n",
			"accelerator = [limit: 1, type: 'amd.com/gpu']\n",
			"accelerator = [limit: 1, type: 'gpu.intel.com/i915']\n"},
		{"kubeflow", "_type('nvidia.com/gpu').set_accelerator_limit(1)",
			"_type('nvidia.com/gpu').set_accelerator_limit(1)",
			"_type('amd.com/gpu').set_accelerator_limit(1)",
			"_type('gpu.intel.com/i915').set_accelerator_limit(1)"},
		{"docker", " --gpus 1\n", " --gpus 1\n", " --device /dev/kfd --device /dev/dri\n",
			"m --device /dev/dri\n"},
		{"metaflow-kubernetes", "gpu=1)", "gpu=1)", "gpu=1, gpu_vendor=\"amd\")", "gpu=1)"},
		{"metaflow", "gpu=1)", "gpu=1)", "gpu_vendor=\"amd\"", "gpu=1)"},
		{"snakemake", "gpu=1,\n", "gpu=1,\n    gpu_manufacturer=\"nvidia\",\n",
			"gpu=1,\n    gpu_manufacturer=\"amd\",\n", "gpu=1,\n"},
		{"spark", "gpu.amount 1\n",
			"gpu.amount 1\nspark.executor.resource.gpu.vendor nvidia.com\n",
			"gpu.amount 1\nspark.executor.resource.gpu.vendor amd.com\n",
			"gpu.amount 1\n"},
		{"slurm", "--gres=gpu:1\n", "--gres=gpu:1\n", "--gres=gpu:1\n", "--gres=gpu:1\n"},
	};
	static const char *const manufacturers[] = {NULL, "nvidia", "AMD", "Intel"};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(manufacturers); k++) {
			const char *const expected[] = {
				rows[i].unknown, rows[i].nvidia, rows[i].amd, rows[i].intel};
			const struct advice_target t = {
				.job_name = "etl/load", .gpu_manufacturer = manufacturers[k]};
			AUTO(buf_done) struct buf out = BUF_MAX(4096);
			struct sizing s = plain();

			assert_int_equal(advice_write(&out, advice_format_find(rows[i].format), &t,
						 &s, NULL),
				0);
			if (!strstr(buf_text(&out), expected[k]) ||
				(k > 1 && strstr(buf_text(&out), "nvidia")))
				fail_msg("%s: %s lacks %s", rows[i].format, buf_text(&out),
					expected[k]);
			s = nothing_known();
			buf_reset(&out);
			assert_int_equal(advice_write(&out, advice_format_find(rows[i].format), &t,
						 &s, NULL),
				0);
			if (strstr(buf_text(&out), "gpu") || strstr(buf_text(&out), "/dev/"))
				fail_msg("%s: %s", rows[i].format, buf_text(&out));
		}
}

static void every_format_has_a_row_here(void **state)
{
	for (const struct advice_format *f = advice_formats + 1; f->name; f++) {
		size_t i = 0;

		while (i < ARRAY_LEN(table) && strcmp(table[i].format, f->name) != 0)
			i++;
		if (i == ARRAY_LEN(table))
			fail_msg("table[] of this file has no row for format %s", f->name);
	}
}

static void limits_are_never_below_requests(void **state)
{
	struct advice_target t = {.job_name = "etl/load", .cpu_limit = true};
	struct sizing s = with_limits();

	s.cpu_cores_limit = 0.1;
	s.memory_bytes_limit = 100 * MIB;
	assert_written_for("kubernetes", &t, &s,
		"resources:\n  requests:\n    cpu: \"500m\"\n    memory: \"512Mi\"\n"
		"  limits:\n    cpu: \"500m\"\n    memory: \"512Mi\"\n");
}

/* A CPU limit slows a container down, so it is written only if the caller asks for it. */
static void a_cpu_limit_is_written_if_asked_for(void **state)
{
	static const struct {
		const char *format, *text;
	} rows[] = {
		{"kubernetes", "  limits:\n    cpu: \"4000m\"\n"},
		{"kubernetes-patch", "\"limits\":{\"cpu\":\"4000m\","},
		{"argo", "    limits:\n      cpu: \"4000m\"\n"},
		{"argo-patch", "\"limits\":{\"cpu\":\"4000m\","},
		{"airflow", "limits={\"cpu\": \"4000m\", "},
		{"kubeflow", ".set_cpu_limit('4000m')"},
	};
	struct advice_target t = {.job_name = "etl/load", .cpu_limit = true};
	struct sizing s = with_limits();
	size_t readers = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(buf_done) struct buf out = BUF_MAX(4096);

		advice_write(&out, advice_format_find(rows[i].format), &t, &s, NULL);
		assert_non_null(strstr(buf_text(&out), rows[i].text));
		assert_null(strstr(buf_text(&out), "null"));
	}
	for (const struct advice_format *f = advice_formats; f->name; f++)
		readers += (f->reads & READS_CPU_LIMIT) != 0;
	assert_int_equal(readers, ARRAY_LEN(rows));
}

static void the_container_is_the_one_that_is_named(void **state)
{
	struct advice_target t = {.job_name = "etl/load", .container = "my-app"};
	struct sizing s = with_limits();
	size_t readers = 0;

	for (const struct advice_format *f = advice_formats; f->name; f++) {
		AUTO(buf_done) struct buf out = BUF_MAX(4096);

		if (!(f->reads & READS_CONTAINER))
			continue;
		readers++;
		advice_write(&out, f, &t, &s, NULL);
		assert_non_null(strstr(buf_text(&out), "\"my-app\""));
		assert_null(strstr(buf_text(&out), "main"));
		assert_null(strstr(buf_text(&out), "base"));
	}
	assert_int_equal(readers, 4);
}

static void names_of_containers_are_labels_of_dns(void **state)
{
	static const char *const valid[] = {"a", "0", "main", "my-app-2", "a--b",
		"a23456789012345678901234567890123456789012345678901234567890123"};
	static const char *const wrong[] = {"", "-", "a-", "-a", "My", "a_b", "a.b", "a b", "a\"b",
		"\xc3\xa4", "a234567890123456789012345678901234567890123456789012345678901234"};

	for (size_t i = 0; i < ARRAY_LEN(valid); i++)
		assert_true(advice_container_valid(valid[i]));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(advice_container_valid(wrong[i]));
}

static void names_of_processes_are_identifiers(void **state)
{
	static const char *const valid[] = {"a", "_", "STAR_ALIGN", "RNA:STAR_ALIGN2", "A:b:_c1"};
	static const char *const wrong[] = {"", ":", "1a", "A:", ":A", "A::B", "A:1", "a-b", "a'b",
		"a.*", "a|b", "!a", "a b", "a$b", "\xc3\xa4"};

	for (size_t i = 0; i < ARRAY_LEN(valid); i++)
		assert_true(advice_process_valid(valid[i]));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(advice_process_valid(wrong[i]));
}

static void a_process_is_named_like_the_job(void **state)
{
	static const struct {
		const char *job_name, *process, *expected;
	} rows[] = {
		{"NFCORE_RNASEQ:RNASEQ:STAR_ALIGN", NULL, "NFCORE_RNASEQ:RNASEQ:STAR_ALIGN"},
		{"rnaseq/STAR_ALIGN", NULL, "STAR_ALIGN"},
		{"a/b/c", NULL, "c"},
		{"a/", NULL, "a_"},
		{"2026-11-22", NULL, "_026_11_22"},
		{":a::2b:", NULL, "_a:_2b_"},
		{"it's ${x} \\ \"q\" \xc3\xa4", NULL, "it_s___x_____q____"},
		{"etl/load", "RNA:ALIGN", "RNA:ALIGN"},
	};
	struct sizing s = nothing_known();

	s.resources.cpu = 2;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct advice_target t = {.job_name = rows[i].job_name, .process = rows[i].process};
		AUTO(buf_done) struct buf out = BUF_MAX(256);

		assert_true(advice_process_valid(rows[i].expected));
		buf_addf(&out, "process {\n    withName: '%s' {\n        cpus = 2\n    }\n}\n",
			rows[i].expected);
		assert_written_for("nextflow", &t, &s, buf_text(&out));
	}
}

/* The default of @kubernetes and @batch is 4096 MB, and the larger value wins. */
static void a_line_for_metaflow_takes_effect(void **state)
{
	struct sizing s = nothing_known();

	s.demand.cpu_cores = 2;
	s.resources.cpu = 2;
	s.resources.memory = 3905; /* 4,094,689,280 bytes */
	assert_written("metaflow", &s,
		"# @resources(memory=4095) has no effect below 4096 MB. On AWS Batch, use @batch(cpu=2, memory=3905).\n"
		"@kubernetes(cpu=2, memory=4095)\n");
	s.resources.memory = 3906; /* 4,095,737,856 bytes */
	assert_written("metaflow", &s, "@resources(cpu=2, memory=4096)\n");
	s.resources = (struct resources){1, 15625, 2, 0};
	s.demand.disk_bytes = 20480 * MIB;
	assert_written("metaflow", &s,
		"@resources(cpu=1, memory=16384, disk=21475, gpu=2)\n"); /* exactly 16384 MB */
}

static void attempts_get_what_the_strategy_advises(void **state)
{
	struct sizing s = nothing_known();

	s.resources.memory = 1000;
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++)
		s.memory_attempts[i] = (double)(1000 + 500 * i) * MIB;
	assert_written("snakemake", &s,
		"retries: 3\nresources:\n    mem_mb=lambda wildcards, attempt: [1049, 1573, 2098, "
		"2622][min(attempt, 4) - 1],\n");
	/* The request is for the third attempt. The strategy also knows the size of the fourth.
	 * Each attempt after the fourth gets twice as much as the one before. */
	s.resources.memory = 2000;
	assert_written("snakemake", &s,
		"retries: 3\nresources:\n    mem_mb=lambda wildcards, attempt: [2098, 2622, 5243, "
		"10486][min(attempt, 4) - 1],\n");
}

/* The job uses all its cores. With a third of them it takes three times as long, and the time limit
 * must allow that. */
static void a_time_limit_is_that_of_the_cores_asked_for(void **state)
{
	struct sizing s = nothing_known();

	s.duration_bound = 2700;
	s.cpu_slowdown = 3;
	assert_written("slurm", &s, "#SBATCH --time=04:30:00\n");
	s.duration_bound = 1;
	assert_written("slurm", &s, "#SBATCH --time=00:10:00\n");
}

static void disk_on_the_node_is_requested_if_asked_for(void **state)
{
	struct advice_target t = {.job_name = "etl/load", .tmp = true};
	struct sizing s = nothing_known();

	s.demand.disk_bytes = 1024 * MIB;
	assert_written("slurm", &s, "");
	assert_written_for("slurm", &t, &s, "#SBATCH --tmp=1024M\n");
	s.demand.disk_bytes = 1023 * MIB;
	assert_written_for("slurm", &t, &s, "");
}

/* Spark adds 10 % of the heap, at least 384 MiB, and refuses a heap below 450 MiB. */
static void heap_and_overhead_of_spark_are_the_memory_of_the_job(void **state)
{
	static const uint64_t mib[] = {16, 895, 896, 897, 4223, 4224, 4225, 100000, 1 << 27};

	for (size_t i = 0; i < ARRAY_LEN(mib); i++) {
		AUTO(buf_done) struct buf out = BUF_MAX(256);
		struct sizing s = nothing_known();
		uint64_t heap = 0, overhead = 0, factor;

		s.resources.memory = mib[i];
		advice_write(&out, advice_format_find("spark"), &no_target, &s, NULL);

		struct scan text = SCAN(out.data, out.len);

		assert_true(scan_literal(&text, "spark.executor.memory ") &&
			    scan_u64(&text, &heap) &&
			    scan_literal(&text, "m\nspark.executor.memoryOverhead ") &&
			    scan_u64(&text, &overhead));
		factor = heap / 10;
		assert_true(overhead >= (factor > 384 ? factor : 384));
		assert_true(overhead <= ((factor > 384 ? factor : 384) + 1));
		assert_true(heap >= 512);
		assert_int_equal(heap + overhead, mib[i] > 896 ? mib[i] : 896);
	}
}

static void a_job_that_does_not_fill_a_gpu_shares_it(void **state)
{
	/* Each row: mean use of the GPU; GPU memory of the job, and of the GPU (0 = unknown), in MiB;
	 * and the share of a GPU that is requested. */
	static const struct {
		double usage, vram_mib, gpu_memory_mib, share;
	} rows[] = {
		{0.3, 2048, 0, 0.3},            /* the job needs 2 of the assumed 16 GiB */
		{0.301, 2048, 0, 0.31},         /* the share is rounded up */
		{0.3, 8192, 0, 0.5},            /* 8 of 16 GiB is the larger share */
		{0.3, 8192, 81920, 0.3},        /* 8 of 80 GiB: the use is the larger share */
		{0.3, 8192, 8192, 1},           /* the job fills the memory of the GPU */
		{0.3, 20480, 0, 1},             /* the job needs more than the assumed 16 GiB */
		{0.3, 20480, 40960, 0.5},       /* the job needs 20 of 40 GiB */
		{0, 0, 0, 0.01},                /* the job held a GPU and never used it */
		{0.995, 0, 0, 1}, {1, 0, 0, 1}, /* the job keeps the GPU busy */
		{NAN, 2048, 0, 1},              /* the use is unknown */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sizing s = nothing_known();
		struct advice_target t = {
			.job_name = "etl/load", .gpu_memory_bytes = rows[i].gpu_memory_mib * MIB};
		AUTO(buf_done) struct buf out = BUF_MAX(256);

		s.gpu_usage = rows[i].usage;
		s.demand.vram_bytes = rows[i].vram_mib * MIB;
		s.resources.gpu = 1;
		s.resources.vram = (uint64_t)rows[i].vram_mib;
		if (rows[i].share < 1 && rows[i].vram_mib > 0)
			buf_addf(&out,
				"# Tasks on one GPU share its memory. This task holds up to %g "
				"MiB.\n",
				rows[i].vram_mib);
		buf_addf(&out, "@ray.remote(num_gpus=%g)\n", rows[i].share);
		assert_written_for("ray", &t, &s, buf_text(&out));
	}
}

static void several_gpus_are_whole_and_unknown_gpu_memory_is_named(void **state)
{
	struct sizing s = nothing_known();

	s.gpu_usage = 0.8;
	s.resources.gpu = 2;
	assert_written("ray", &s, "@ray.remote(num_gpus=2)\n");
	s.resources.gpu = 1;
	assert_written("ray", &s,
		"# Tasks on one GPU share its memory. How much this task holds is unknown.\n"
		"@ray.remote(num_gpus=0.8)\n");
}

static void cores_are_rounded_up_to_thousandths(void **state)
{
	static const struct {
		double cores;
		const char *arguments;
	} rows[] = {{1, "(num_cpus=1)\n"}, {0.1 + 0.2, "(num_cpus=0.3)\n"},
		{1.0001, "(num_cpus=1.001)\n"}, {0.00001, "(num_cpus=0.001)\n"}, {0, "\n"},
		{-3, "\n"}, {INFINITY, "\n"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sizing s = nothing_known();

		s.demand.cpu_cores = rows[i].cores;
		assert_written_after("@ray.remote", "ray", &s, rows[i].arguments);
	}
}

/* The baseline strategy requests 0.3 cores, the mean use. It does not know how many cores avoid a
 * slowdown, so its request must not become a hard limit. */
static void a_request_is_no_hard_limit(void **state)
{
	struct sizing s = nothing_known();

	s.demand.cpu_cores = 0.3;
	s.resources.cpu = 1;
	assert_written("docker", &s, "\n");
	assert_written("systemd", &s, "[Service]\n");
	s.cpu_cores_limit = 4;
	assert_written("docker", &s, "--cpus=4\n");
	assert_written("systemd", &s, "[Service]\nCPUQuota=400%\n");
	/* docker run refuses more CPUs than the host has. */
	s.machine_cpus = 2;
	assert_written("docker", &s, "--cpus=2\n");
	assert_written("systemd", &s, "[Service]\nCPUQuota=400%\n");
	s.machine_cpus = 8;
	assert_written("docker", &s, "--cpus=4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_is_written_to_the_letter),
		cmocka_unit_test(gpus_are_named_by_their_manufacturer),
		cmocka_unit_test(every_format_has_a_row_here),
		cmocka_unit_test(limits_are_never_below_requests),
		cmocka_unit_test(a_cpu_limit_is_written_if_asked_for),
		cmocka_unit_test(the_container_is_the_one_that_is_named),
		cmocka_unit_test(names_of_containers_are_labels_of_dns),
		cmocka_unit_test(names_of_processes_are_identifiers),
		cmocka_unit_test(a_process_is_named_like_the_job),
		cmocka_unit_test(a_line_for_metaflow_takes_effect),
		cmocka_unit_test(attempts_get_what_the_strategy_advises),
		cmocka_unit_test(a_time_limit_is_that_of_the_cores_asked_for),
		cmocka_unit_test(disk_on_the_node_is_requested_if_asked_for),
		cmocka_unit_test(heap_and_overhead_of_spark_are_the_memory_of_the_job),
		cmocka_unit_test(a_job_that_does_not_fill_a_gpu_shares_it),
		cmocka_unit_test(several_gpus_are_whole_and_unknown_gpu_memory_is_named),
		cmocka_unit_test(cores_are_rounded_up_to_thousandths),
		cmocka_unit_test(a_request_is_no_hard_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
