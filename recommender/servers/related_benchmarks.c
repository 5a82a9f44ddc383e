#include "recommender/servers/related_benchmarks.h"

#define BUSY                 0.5 /* a job is busy from this share of its time on */
#define GIB                  1073741824.0
#define MUCH_MEMORY_PER_CORE (4 * GIB)
#define MUCH_NETWORK         (20e6) /* bytes per second; above it, the network matters */

static bool is_gpu_job(const struct job_habits *h)
{
	return h->gpu_share > 0.05;
}

static bool is_busy(const struct job_habits *h)
{
	return h->cpu_share > BUSY;
}

static bool wants_bandwidth(const struct job_habits *h)
{
	double cores = h->cores > 1 ? h->cores : 1;

	return is_busy(h) && h->memory_bytes / cores > MUCH_MEMORY_PER_CORE;
}

static bool uses_one_cpu(const struct job_habits *h)
{
	return is_busy(h) && h->cores < 1.5;
}

static bool uses_many_cpus(const struct job_habits *h)
{
	return is_busy(h) && h->cores >= 1.5;
}

static bool moves_data(const struct job_habits *h)
{
	return h->network_bytes_per_second > MUCH_NETWORK;
}

/* Rules, best match first. If several rules propose a benchmark, it gets the reason of the first
 * one. */
static const struct benchmark_rule {
	bool (*applies)(const struct job_habits *h); /* NULL = true for all jobs */
	const char *why;
	const char *benchmark[4]; /* ends with NULL */
	const char *program
		/* The job must run one of these programs; ends with NULL. Empty = the rule is for
		 * all jobs. */
		[16];
} rules[] = {
	{is_gpu_job, "its GPUs are busy",
		{"workload_profile:llm", "llm_speed:prompt_processing",
			"llm_speed:text_generation"}},
	{NULL, "by its name or programs it compresses",
		{"compression_text:compress", "compression_text:decompress"},
		{"gzip", "pigz", "bzip2", "pbzip2", "xz", "zstd", "lz4", "brotli", "7z", "compress",
			"compression", "archive"}},
	{NULL, "by its name or programs it serves the web",
		{"workload_profile:web", "static_web:rps-extrapolated"},
		{"nginx", "httpd", "apache2", "caddy", "haproxy", "envoy", "web", "http"}},
	{NULL, "by its name or programs it is a cache in memory",
		{"workload_profile:cache", "redis:rps-extrapolated"},
		{"redis-server", "valkey-server", "memcached", "keydb-server"}},
	{NULL, "by its name or programs it encrypts", {"openssl", "passmark:cpu_encryption_test"},
		{"openssl", "ssh", "sshd", "scp", "gpg", "restic", "age"}},
	{NULL, "by its name or programs it builds software", {"workload_profile:cicd"},
		{"make", "ninja", "cc1", "cc1plus", "gcc", "clang", "ld", "rustc", "cargo", "go",
			"javac", "tsc", "mvn", "gradle"}},
	{is_busy, "by its name or programs it analyses data, and it keeps the CPU busy",
		{"workload_profile:data_analysis"},
		{"python", "python3", "R", "Rscript", "julia", "duckdb", "spark-submit"}},
	{wants_bandwidth,
		"it keeps the CPU busy over more than 4 GiB of memory per core, so that memory "
		"bandwidth counts",
		{"membench:bandwidth_read", "bw_mem", "passmark:memory_mark"}},
	{uses_many_cpus, "it keeps several CPUs busy",
		{"workload_profile:compute", "stress_ng:bestn", "passmark:cpu_mark"}},
	{uses_one_cpu, "it keeps one CPU busy",
		{"stress_ng:best1", "passmark:cpu_single_threaded_test"}},
	{moves_data, "it moves more than 20 MB a second over the network",
		{"static_web:throughput-extrapolated"}},
};

static bool rule_applies(const struct benchmark_rule *r, const struct job_habits *h)
{
	bool runs_one = !r->program[0];

	for (size_t i = 0; i < ARRAY_LEN(r->program) && r->program[i]; i++)
		runs_one = runs_one || text_list_has(&h->programs, r->program[i]);
	return runs_one && (!r->applies || r->applies(h));
}

static bool is_there(const struct related_benchmark *all, size_t n, const struct benchmark *b)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].benchmark == b)
			return true;
	return false;
}

size_t related_benchmarks_find(const struct catalogue *c, const struct job_habits *h,
	struct related_benchmark ret[RELATED_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (!rule_applies(&rules[i], h))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(rules[i].benchmark) && rules[i].benchmark[k];
			k++) {
			const struct benchmark *b = catalogue_benchmark(c, rules[i].benchmark[k]);

			if (b && n < RELATED_MAX && !is_there(ret, n, b))
				ret[n++] = (struct related_benchmark){b, rules[i].why};
		}
	}
	return n;
}
