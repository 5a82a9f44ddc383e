#include "tests/support/sample_runs.h"

#include <math.h>

#include "collectors/base/mem.h"

#define MIB 1048576.0

/* Sorted by column, as run.h requires. */
static struct column_stats full[] = {
	{"cpu_cores", {10, 1.5, 0.5, 2, 1.4, 1.9, 2, 15}},
	{"cpu_seconds", {10, 1.5, 0.5, 2, 1.4, 1.9, 2, 15.25}},
	{"cpu_system_seconds", {10, 0.1, 0, 0.2, 0.1, 0.2, 0.2, 1}},
	{"cpu_user_seconds", {10, 1.4, 0.5, 1.8, 1.3, 1.7, 1.8, 14.25}},
	{"disk_read_bytes", {10, 4096, 0, 40960, 0, 40960, 40960, 40960}},
	{"disk_read_bytes_per_second", {10, 4096, 0, 40960, 0, 40960, 40960, 40960}},
	{"memory_bytes",
		{10, 100 * MIB, 10 * MIB, 150 * MIB, 110 * MIB, 140 * MIB, 150 * MIB, 1000 * MIB}},
	{"memory_peak_bytes",
		{10, 150 * MIB, 20 * MIB, 160 * MIB, 150 * MIB, 160 * MIB, 160 * MIB, 1500 * MIB}},
	{"processes", {10, 2.5, 1, 4, 2, 4, 4, 25}},
	{"system_disk_space_used_bytes", {10, 2e9, 1e9, 2.5e9, 2e9, 2.5e9, 2.5e9, 2e10}},
	{"system_network_received_bytes", {10, 100, 0, 500, 50, 400, 500, 1000}},
};
static struct column_stats partial[] = {
	{"cpu_cores", {4, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 2}},
	{"cpu_seconds", {4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 2}},
	{"memory_bytes",
		{4, 50 * MIB, 50 * MIB, 50 * MIB, 50 * MIB, 50 * MIB, 50 * MIB, 200 * MIB}},
	{"memory_peak_bytes",
		{4, 60 * MIB, 60 * MIB, 60 * MIB, 60 * MIB, 60 * MIB, 60 * MIB, 240 * MIB}},
};

#define UNKNOWN_FACTS                                                                              \
	.address_limit_bytes = NAN, .address_peak_bytes = NAN, .cpu_foreign_seconds = NAN,         \
	.machine_cpus = NAN, .machine_memory_bytes = NAN, .requested_cpu_cores = NAN,              \
	.requested_memory_bytes = NAN, .memory_limit_bytes = NAN, .input_bytes = NAN,              \
	.attempt = NAN, .cpu_missed_seconds = NAN

static struct run runs[] = {
	{"0000000000004", "etl/load", 1795250900, NAN, 3.5, OUTCOME_RUNNING, NAN, NAN, "node-1",
		NULL, NULL, 3, 1, UNKNOWN_FACTS, 4, partial},
	{"0000000000003", "etl/load", 1795250800.25, 1795250801, 0.75, OUTCOME_FAILED, 3, NAN,
		"node-1", "rusage", "proc", 2, 1, UNKNOWN_FACTS, 0, NULL},
	{"0000000000002", "etl/load", 1795250700, 1795250710.5, 10.5, OUTCOME_SUCCEEDED, 0, NAN,
		"node-1", "rusage", "proc", 10, 1, .address_limit_bytes = NAN,
		.address_peak_bytes = NAN, .cpu_foreign_seconds = 0, .machine_cpus = 2,
		.machine_memory_bytes = 8192 * MIB, .requested_cpu_cores = 2,
		.requested_memory_bytes = 512 * MIB, .memory_limit_bytes = NAN, .input_bytes = 1e6,
		.attempt = NAN, .cpu_missed_seconds = 0.125, ARRAY_LEN(full), full, "own",
		ARCHITECTURE_X86_64, "aws", "m7i.large", "us-east-1", "us-east-1b", "spot"},
	{"0000000000001", "etl/load", 1795250600.125, 1795250604.125, 4, OUTCOME_SUCCEEDED, 0, NAN,
		NULL, "proc", NULL, 4, 1, UNKNOWN_FACTS, ARRAY_LEN(partial), partial},
};

struct runs sample_runs(void)
{
	return (struct runs){ARRAY_LEN(runs), runs};
}
