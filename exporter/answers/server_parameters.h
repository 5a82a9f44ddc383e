/* The parameters about servers that /recommend and /servers share. If /servers of the Spare Cores
 * Keeper has the same parameter, its name and unit are the same here. */
#ifndef EXPORTER_ANSWERS_SERVER_PARAMETERS_H
#define EXPORTER_ANSWERS_SERVER_PARAMETERS_H

#include <stdbool.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/api/route.h"
#include "recommender/run.h"
#include "recommender/servers/pick.h"

const char *server_parameter_objective(size_t i);
const char *server_parameter_architecture(size_t i);
const char *server_parameter_cpu_allocation(size_t i);
const char *server_parameter_allocation(size_t i);
const char *server_parameter_reserve(size_t i);
const char *server_parameter_benchmark_config(size_t i);

#define GB_IN_MIB 1024.0 /* the Spare Cores Keeper counts memory in GB of 1,024 MiB */

/* clang-format off */
/* Number of listed servers; `usual`: the default, as a text. */
#define SERVER_LIMIT_PARAMETER(usual) \
	{.name = "limit", .kind = PARAMETER_COUNT, .fallback = usual, .least = 1, .most = 1000, \
		.help = "Most servers to give, best first"}
#define SERVER_PARAMETERS \
	{.name = "page", .kind = PARAMETER_COUNT, .fallback = "1", .least = 1, .most = 1000000, \
		.help = "Which page of so many servers"}, \
	{.name = "objective", .kind = PARAMETER_CHOICE, .choice = server_parameter_objective, \
		.help = "Goal that decides which server is best. The default is deadline or benchmark if that is given, else cost. " \
			"price replaces cost while the duration of a run is unknown. cheapest is the same as price"}, \
	{.name = "deadline", .kind = PARAMETER_NUMBER, .least = 0.001, .most = 1e9, .unit = "seconds", \
		.help = "Seconds in which even a long run must end"}, \
	{.name = "max_cost", .kind = PARAMETER_NUMBER, .least = 1e-9, .most = 1e9, \
		.help = "Most that a run may cost, in currency"}, \
	{.name = "benchmark", .also = {"benchmark_id"}, .kind = PARAMETER_TEXT, .least = 1, .most = 128, \
		.help = "Ranks by a benchmark or workload profile; /benchmarks lists them, and says " \
			"which are like a job"}, \
	{.name = "benchmark_config", .kind = PARAMETER_CHOICE, .fallback = "auto", \
		.choice = server_parameter_benchmark_config, \
		.help = "Which score of the benchmark counts: single is that of one core, multi that of " \
			"all, auto fits the cores that the job keeps busy"}, \
	{.name = "vendor", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only servers of this vendor, for example aws"}, \
	{.name = "regions", .also = {"region", "vendor_regions"}, .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 128, \
		.help = "Only prices in this region: its id, its name at the vendor or another one that " \
			"it goes by, or vendor~region"}, \
	{.name = "countries", .also = {"country"}, .kind = PARAMETER_TEXT, .repeats = true, .least = 2, .most = 2, \
		.unit = "two letters of ISO 3166, such as DE", .help = "Only prices in this country, for example DE"}, \
	{.name = "continents", .also = {"continent"}, .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only prices on this continent, for example Europe"}, \
	{.name = "compliance_framework", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only vendors that comply with it, for example hipaa or soc2t2; with each of " \
			"several"}, \
	{.name = "architecture", .kind = PARAMETER_CHOICE, .repeats = true, .choice = server_parameter_architecture, \
		.help = "CPU architecture; by default that of the job's programs or an unknown one, and any without a job; native is " \
			"what this program was built for"}, \
	{.name = "cpu_allocation", .kind = PARAMETER_CHOICE, .repeats = true, .choice = server_parameter_cpu_allocation, \
		.help = "How CPUs are sold; by default any for a job that keeps them busy for less than " \
			"a tenth of its time, else all but Shared and Burstable"}, \
	{.name = "vcpus_min", .kind = PARAMETER_CORES, .least = 0, .most = 1e6, .unit = "vCPUs", \
		.help = "Least vCPUs of the server, whatever the job needs"}, \
	{.name = "vcpus_max", .kind = PARAMETER_CORES, .least = 0.001, .most = 1e6, .unit = "vCPUs", \
		.help = "Most vCPUs of the server"}, \
	{.name = "memory_min", .kind = PARAMETER_SIZE, .least = 0, .most = 1e6, .unit = "GB", .unit_bytes = GB_IN_MIB * MIB, \
		.help = "Least memory of the server as sold in GB of 1,024 MiB, as Keeper counts, " \
			"whatever the job needs"}, \
	{.name = "memory_max", .kind = PARAMETER_SIZE, .least = 0.001, .most = 1e6, .unit = "GB", .unit_bytes = GB_IN_MIB * MIB, \
		.help = "Most memory of the server as sold in GB of 1,024 MiB"}, \
	{.name = "gpu_min", .kind = PARAMETER_NUMBER, .least = 0, .most = 1e4, .unit = "GPUs", \
		.help = "Least GPUs of the server; fractions are sold, too"}, \
	{.name = "gpu_memory_min", .kind = PARAMETER_SIZE, .least = 0, .most = 1e6, .unit = "GB", .unit_bytes = GB_IN_MIB * MIB, \
		.help = "Least memory of each GPU in GB of 1,024 MiB"}, \
	{.name = "gpu_memory_total", .kind = PARAMETER_SIZE, .least = 0, .most = 1e6, .unit = "GB", .unit_bytes = GB_IN_MIB * MIB, \
		.help = "Least memory of all GPUs together in GB of 1,024 MiB"}, \
	{.name = "gpu_manufacturer", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only GPUs of this manufacturer; by default that of the GPUs that the job used"}, \
	{.name = "gpu_family", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only GPUs of this family, for example Ampere"}, \
	{.name = "gpu_model", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only this GPU, for example A10G"}, \
	{.name = "storage_size", .kind = PARAMETER_SIZE, .least = 0, .most = 1e7, .unit = "GB", .unit_bytes = GB, \
		.help = "Least local storage of the server in GB"}, \
	{.name = "storage_type", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 64, \
		.help = "Only this kind of local storage, for example ssd"}, \
	{.name = "allocation", .kind = PARAMETER_CHOICE, .fallback = "ondemand", .choice = server_parameter_allocation, \
		.help = "Which prices count"}, \
	{.name = "spot_interruptions", .kind = PARAMETER_NUMBER, .fallback = SPOT_INTERRUPTIONS_TEXT, .least = 0, .most = 60, \
		.help = "How often an hour of a spot server is assumed to end a run, which then starts " \
			"again; part of the cost"}, \
	{.name = "currency", .kind = PARAMETER_TEXT, .least = 3, .most = 3, \
		.unit = "three letters of ISO 4217, such as EUR", .help = "Currency of prices and costs; by default USD, or the only one that the servers " \
			"have"}, \
	{.name = "ipv4", .kind = PARAMETER_FLAG, .fallback = "false", \
		.help = "A public IPv4 address is part of the cost"}, \
	{.name = "reserve", .kind = PARAMETER_CHOICE, .fallback = "system", .choice = server_parameter_reserve, \
		.help = "Part of a server that is not left for the job"}, \
	{.name = "include", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 128, \
		.help = "Only this server or family: its id, its name, or vendor~name"}, \
	{.name = "exclude", .kind = PARAMETER_TEXT, .repeats = true, .least = 1, .most = 128, \
		.help = "Not this server or family"}, \
	{.name = "only_active", .kind = PARAMETER_FLAG, .fallback = "true", \
		.help = "Only servers that can be had now"}
/* clang-format on */

/* Properties of a job. They decide the defaults of some parameters. */
struct server_job {
	const struct job_profile *profile;
	/* The job's runs, newest first: the architecture of its programs, and the manufacturer of
	 * its GPUs. If the architecture is unknown, that of this exporter is used instead. */
	const struct runs *runs;
};

/* Returns the options for a job when no parameter is given. */
struct pick_options server_parameters_usual(const struct server_job *job);

/* Converts arguments to options. `job` NULL = the request is not about a job. `ret` points into
 * `a`, `c` and `arena`, which must outlive it. Returns false with an error in `r` when a value is
 * unknown (the error lists the known values), or when parameters contradict each other. */
bool server_parameters_read(const struct arguments *a, const struct catalogue *c,
	const struct server_job *job, struct arena *arena, struct pick_options *ret,
	struct reply *r);

#endif
