/* recommender/advice/: the exact syntax and units of each format. */
#include "tests/unit/test_main.h"

#include <math.h>
#include <string.h>

#include "recommender/sizing/strategy.h"
#include "recommender/advice/advice.h"

#define GIB (1024 * MIB)

static struct sizing nothing_known(void)
{
	return (struct sizing){
		.demand = {NAN, NAN, NAN, NAN, NAN, NAN},
		.cpu_cores_limit = NAN,
		.memory_bytes_limit = NAN,
		.duration_high = NAN,
		.memory_at_risk = {NAN, NAN, NAN},
	};
}

/* The values that the documentation of sizing fields uses as an example: 2.25 cores, 3584 MiB, a
 * GPU, 20 GiB of disk. */
static struct sizing plain(void)
{
	struct sizing s = nothing_known();

	s.demand = (struct demand){2.25, 3500 * MIB, 1, 14 * GIB, 20 * GIB, 1200};
	s.resources = (struct resources){3, 3584, 1, 14336};
	s.duration_high = 2700;
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
	s.memory_bytes_limit = 700 * MIB;
	s.memory_at_risk[RISK_ECONOMY] = 450 * MIB;
	return s;
}

static const struct {
	const char *format, *plain, *with_limits, *unknown;
} table[] = {
	{"metaflow", "@resources(cpu=3, memory=3759, gpu=1)\n",
		"@resources(cpu=1, memory=537, gpu=0)\n", "@resources(gpu=0)\n"},
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
		"    cpu: \"4000m\"\n"
		"    memory: \"704Mi\"\n",
		"resources: {}\n"},
	{"kubernetes-patch",
		"{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"2250m\",\"memory\":\"3584Mi\",\"ephemeral-storage\":\"20480Mi\",\"nvidia.com/gpu\":\"1\"},\"limits\":{\"memory\":\"3584Mi\",\"nvidia.com/gpu\":\"1\",\"cpu\":null,\"ephemeral-storage\":null}}}]}}}}\n",
		"{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"512Mi\"},\"limits\":{\"cpu\":\"4000m\",\"memory\":\"704Mi\"}}}]}}}}\n",
		"{}\n"},
	{"vpa",
		"status:\n"
		"  recommendation:\n"
		"    containerRecommendations:\n"
		"      - containerName: main\n"
		"        lowerBound:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        target:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        uncappedTarget:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n"
		"        upperBound:\n          cpu: \"2250m\"\n          memory: \"3584Mi\"\n",
		"status:\n"
		"  recommendation:\n"
		"    containerRecommendations:\n"
		"      - containerName: main\n"
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
		"      cpu: \"4000m\"\n"
		"      memory: \"704Mi\"\n",
		"container:\n  resources: {}\n"},
	{"argo-patch",
		"podSpecPatch: "
		"'{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"2250m\",\"memory\":\"3584Mi\",\"ephemeral-storage\":\"20480Mi\",\"nvidia.com/gpu\":\"1\"},\"limits\":{\"memory\":\"3584Mi\",\"nvidia.com/gpu\":\"1\",\"cpu\":null,\"ephemeral-storage\":null}}}]}'\n",
		"podSpecPatch: "
		"'{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"512Mi\"},\"limits\":{\"cpu\":\"4000m\",\"memory\":\"704Mi\"}}}]}'\n",
		"podSpecPatch: "
		"'{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{},\"limits\":{}}}]}'\n"},
	{"airflow",
		"executor_config={\"pod_override\": "
		"k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name=\"base\", "
		"resources=k8s.V1ResourceRequirements(requests={\"cpu\": \"2250m\", \"memory\": "
		"\"3584Mi\", \"ephemeral-storage\": \"20480Mi\", \"nvidia.com/gpu\": \"1\"}, "
		"limits={\"memory\": \"3584Mi\", \"nvidia.com/gpu\": \"1\"}))]))}\n",
		"executor_config={\"pod_override\": "
		"k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name=\"base\", "
		"resources=k8s.V1ResourceRequirements(requests={\"cpu\": \"500m\", \"memory\": "
		"\"512Mi\"}, limits={\"cpu\": \"4000m\", \"memory\": \"704Mi\"}))]))}\n",
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
		"    cpus = 3\n"
		"    memory = { 3584.MB * task.attempt }\n"
		"    errorStrategy = { task.exitStatus in 137..140 ? 'retry' : 'finish' }\n"
		"    maxRetries = 2\n"
		"    disk = 20480.MB\n"
		"    accelerator = 1\n"
		"}\n",
		"process {\n"
		"    cpus = 1\n"
		"    memory = { 512.MB * task.attempt }\n"
		"    errorStrategy = { task.exitStatus in 137..140 ? 'retry' : 'finish' }\n"
		"    maxRetries = 2\n"
		"}\n",
		"process {\n}\n"},
	{"snakemake", "threads: 3\nresources:\n    mem_mb=3759,\n    disk_mb=21475,\n    gpu=1\n",
		"threads: 1\nresources:\n    mem_mb=537\n", ""},
	{"slurm",
		"#SBATCH --cpus-per-task=3\n#SBATCH --mem=3584M\n#SBATCH --gres=gpu:1\n#SBATCH "
		"--time=01:30:00\n"
		"#SBATCH --tmp=20480M\n",
		"#SBATCH --cpus-per-task=1\n#SBATCH --mem=512M\n", ""},
	{"ray", "@ray.remote(num_cpus=2.25, memory=3758096384, num_gpus=1)\n",
		"@ray.remote(num_cpus=0.5, memory=536870912)\n", "@ray.remote\n"},
	{"kubeflow",
		"task.set_cpu_request('2250m').set_memory_request('3584Mi').set_memory_limit('"
		"3584Mi').set_accelerator_type('nvidia.com/gpu').set_accelerator_limit(1)\n",
		"task.set_cpu_request('500m').set_cpu_limit('4000m').set_memory_request('512Mi')"
		".set_memory_limit('704Mi')\n",
		"task\n"},
	{"dask", "LocalCluster(n_workers=1, threads_per_worker=3, memory_limit=\"3773MiB\")\n",
		"LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=\"539MiB\")\n",
		"LocalCluster(n_workers=1)\n"},
	{"docker", "--memory=3584m --memory-swap=3584m --gpus 1\n",
		"--cpus=4 --memory=704m --memory-swap=704m\n", "\n"},
	{"systemd", "[Service]\nMemoryMax=3584M\n", "[Service]\nCPUQuota=400%\nMemoryMax=704M\n",
		"[Service]\n"},
};

static void assert_written(const char *format, const struct sizing *s, const char *expected)
{
	AUTO(buf_done) struct buf out = BUF_MAX(4096);

	advice_write(&out, advice_format_find(format), s);
	assert_string_equal(buf_text(&out), expected);
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
		assert_written(table[i].format, &a, table[i].plain);
		assert_written(table[i].format, &b, table[i].with_limits);
		assert_written(table[i].format, &c, table[i].unknown);
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
	struct sizing s = with_limits();

	s.cpu_cores_limit = 0.1;
	s.memory_bytes_limit = 100 * MIB;
	assert_written("kubernetes", &s,
		"resources:\n  requests:\n    cpu: \"500m\"\n    memory: \"512Mi\"\n"
		"  limits:\n    cpu: \"500m\"\n    memory: \"512Mi\"\n");
}

/* The job uses all its cores. With a third of them it takes three times as long, and the time limit
 * must allow that. */
static void a_time_limit_is_that_of_the_cores_asked_for(void **state)
{
	struct sizing s = plain();

	s.cpu_slowdown = 3;
	assert_written("slurm", &s,
		"#SBATCH --cpus-per-task=3\n#SBATCH --mem=3584M\n#SBATCH --gres=gpu:1\n#SBATCH "
		"--time=04:30:00\n"
		"#SBATCH --tmp=20480M\n");
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_is_written_to_the_letter),
		cmocka_unit_test(every_format_has_a_row_here),
		cmocka_unit_test(limits_are_never_below_requests),
		cmocka_unit_test(a_time_limit_is_that_of_the_cores_asked_for),
		cmocka_unit_test(cores_are_rounded_up_to_thousandths),
		cmocka_unit_test(a_request_is_no_hard_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
