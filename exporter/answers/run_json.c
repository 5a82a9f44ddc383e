#include "exporter/answers/run_json.h"
#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "recommender/catalogue/architecture.h"
#include "recommender/plausible.h"

#include <math.h>
#include <string.h>

const struct headline run_json_headlines[] = {
	{"cpu_seconds", "cpu_seconds", HEADLINE_TOTAL},
	{"cpu_user_seconds", "cpu_user_seconds", HEADLINE_TOTAL},
	{"cpu_system_seconds", "cpu_system_seconds", HEADLINE_TOTAL},
	{"cpu_cores_mean", "cpu_cores", HEADLINE_MEAN},
	{"cpu_cores_max", "cpu_cores", HEADLINE_PEAK},
	{"cpu_wait_seconds", "cpu_wait_seconds", HEADLINE_TOTAL},
	{"cpu_throttled_seconds", "cpu_throttled_seconds", HEADLINE_TOTAL},
	{"cpu_pressure_seconds", "cpu_pressure_seconds", HEADLINE_TOTAL},
	{"memory_peak_bytes", "memory_peak_bytes", HEADLINE_PEAK},
	{"memory_peak_process_bytes", "memory_peak_process_bytes", HEADLINE_PEAK},
	{"memory_cgroup_peak_bytes", "memory_cgroup_peak_bytes", HEADLINE_PEAK},
	{"memory_mean_bytes", "memory_bytes", HEADLINE_MEAN},
	{"memory_anonymous_max_bytes", "memory_anonymous_bytes", HEADLINE_PEAK},
	{"memory_file_max_bytes", "memory_file_bytes", HEADLINE_PEAK},
	{"memory_shmem_max_bytes", "memory_shmem_bytes", HEADLINE_PEAK},
	{"memory_tmpfs_max_bytes", "memory_tmpfs_bytes", HEADLINE_PEAK},
	{"memory_huge_max_bytes", "memory_huge_bytes", HEADLINE_PEAK},
	{"memory_hugetlb_max_bytes", "memory_hugetlb_bytes", HEADLINE_PEAK},
	{"memory_swap_max_bytes", "memory_swap_bytes", HEADLINE_PEAK},
	{"memory_pss_age_max_seconds", "memory_pss_age_seconds", HEADLINE_PEAK},
	{"memory_pss_deferred_max_processes", "memory_pss_deferred_processes", HEADLINE_PEAK},
	{"memory_wait_seconds", "memory_wait_seconds", HEADLINE_TOTAL},
	{"memory_pressure_seconds", "memory_pressure_seconds", HEADLINE_TOTAL},
	{"oom_kills", "oom_kills", HEADLINE_TOTAL},
	{"io_wait_seconds", "io_wait_seconds", HEADLINE_TOTAL},
	{"io_pressure_seconds", "io_pressure_seconds", HEADLINE_TOTAL},
	{"disk_read_bytes", "disk_read_bytes", HEADLINE_TOTAL},
	{"disk_written_bytes", "disk_written_bytes", HEADLINE_TOTAL},
	{"disk_grown_bytes", "disk_grown_bytes", HEADLINE_PEAK},
	{"network_received_bytes", "network_received_bytes", HEADLINE_TOTAL},
	{"network_sent_bytes", "network_sent_bytes", HEADLINE_TOTAL},
	{"read_chars", "read_chars", HEADLINE_TOTAL},
	{"written_chars", "written_chars", HEADLINE_TOTAL},
	{"gpu_usage_mean", "gpu_usage", HEADLINE_MEAN},
	{"gpu_usage_max", "gpu_usage", HEADLINE_PEAK},
	{"gpus_used_max", "gpus_used", HEADLINE_PEAK},
	{"vram_mean_bytes", "vram_bytes", HEADLINE_MEAN},
	{"vram_peak_bytes", "vram_peak_bytes", HEADLINE_PEAK},
	{"system_disk_space_used_max_bytes", "system_disk_space_used_bytes", HEADLINE_PEAK},
	{"system_network_received_bytes", "system_network_received_bytes", HEADLINE_TOTAL},
	{"system_network_sent_bytes", "system_network_sent_bytes", HEADLINE_TOTAL},
	{"processes_max", "processes", HEADLINE_PEAK},
	{"threads_max", "threads", HEADLINE_PEAK},
	{"pids_limit", "pids_limit", HEADLINE_PEAK},
	{"pids_peak", "pids_peak", HEADLINE_PEAK},
	{"pids_refused", "pids_refused", HEADLINE_TOTAL},
	{"context_switches_voluntary", "context_switches_voluntary", HEADLINE_TOTAL},
	{"context_switches_involuntary", "context_switches_involuntary", HEADLINE_TOTAL},
	{"page_faults_minor", "page_faults_minor", HEADLINE_TOTAL},
	{"page_faults_major", "page_faults_major", HEADLINE_TOTAL},
	{0},
};

const struct distribution *run_json_level(const struct run *r, const char *column)
{
	const struct distribution *d = run_column(r, column);

	return d && strcmp(column, "processes") == 0 && !(d->max > 0) ? NULL : d;
}

static double peak(const struct run *r, const char *column)
{
	const struct distribution *d = run_json_level(r, column);

	return d ? d->max : (double)NAN;
}

double run_json_headline(const struct headline *h, const struct run *r)
{
	switch (h->kind) {
	case HEADLINE_TOTAL:
		return run_total(r, h->column);
	case HEADLINE_PEAK:
		return peak(r, h->column);
	case HEADLINE_MEAN:
		return run_mean(r, h->column);
	}
	return NAN;
}

/* Adds a number only if it is known. It is for numbers that few runs have, where null for all
 * others would be noise. */
static void put_given(json_t *o, const char *key, double v)
{
	if (!isnan(v))
		json_put(o, key, json_by_key(key, v));
}

/* Adds the keys of the run's server. Adds nothing if the server is unknown, which is usual outside
 * of a cloud without the option --server.vendor. */
static void put_server(json_t *o, const struct run *r)
{
	if (!r->vendor_id && !r->instance_type)
		return;
	json_put(o, "vendor_id", json_text(r->vendor_id));
	json_put(o, "instance_type", json_text(r->instance_type));
	json_put(o, "region", json_text(r->region));
	json_put(o, "zone", json_text(r->zone));
	json_put(o, "allocation", json_text(r->allocation));
}

/* Adds the batch or workflow system that named the run, the run's id in this system, and the
 * labels. If an option or the program gave the run its name, the run has no system. */
static void put_words(json_t *o, const struct run *r)
{
	json_t *labels = r->labels ? json_loads(r->labels, 0, NULL) : NULL;

	if (r->system)
		json_put(o, "system", json_text(r->system));
	if (r->system_run)
		json_put(o, "system_run", json_text(r->system_run));
	if (json_is_object(labels))
		json_put(o, "labels", labels);
	else
		json_decref(labels);
}

/* Adds a sentence about the uncertainty of the CPU time, unless it is negligible. */
static void put_cpu_doubt(json_t *o, const struct run *r)
{
	struct buf words AUTO(buf_done) = BUF_MAX(CPU_DOUBT_MAX);

	if (run_cpu_doubt(&words, &r, 1))
		json_put(o, "cpu_doubt", json_text(buf_text(&words)));
}

json_t *run_json(const struct run *r)
{
	json_t *o = json_object();

	json_put(o, "run_id", json_text(r->run_id));
	json_put(o, "started_at", json_time(r->started_at));
	json_put(o, "ended_at", json_time(r->ended_at));
	json_put(o, "duration_seconds", json_seconds(r->duration_seconds));
	json_put(o, "outcome", json_text(run_outcome_name(r->outcome)));
	json_put(o, "exit_code", json_num(r->exit_code));
	json_put(o, "exit_signal", json_num(r->exit_signal));
	if (r->end_reason)
		json_put(o, "end_reason", json_text(r->end_reason));
	for (const struct headline *h = run_json_headlines; h->key; h++)
		json_put(o, h->key, json_by_key(h->key, run_json_headline(h, r)));
	put_given(o, "requested_cpu_cores", r->requested_cpu_cores);
	put_given(o, "requested_memory_bytes", r->requested_memory_bytes);
	put_given(o, "memory_limit_bytes", r->memory_limit_bytes);
	put_given(o, "address_limit_bytes", r->address_limit_bytes);
	put_given(o, "address_peak_bytes", r->address_peak_bytes);
	put_given(o, "input_bytes", r->input_bytes);
	put_given(o, "attempt", r->attempt);
	put_words(o, r);
	json_put(o, "samples", json_num((double)r->samples));
	json_put(o, "interval_seconds", json_seconds(r->interval_seconds));
	json_put(o, "host", json_text(r->host));
	json_put(o, "cpu_source", json_text(r->cpu_source));
	json_put(o, "cpu_missed_seconds", json_seconds(r->cpu_missed_seconds));
	json_put(o, "cpu_foreign_seconds", json_seconds(r->cpu_foreign_seconds));
	put_cpu_doubt(o, r);
	json_put(o, "memory_source", json_text(r->memory_source));
	json_put(o, "network_source", json_text(r->network_source));
	json_put(o, "disk_source", json_text(r->disk_source));
	json_put(o, "machine_cpus", json_num(r->machine_cpus));
	json_put(o, "machine_memory_bytes", json_num(r->machine_memory_bytes));
	if (r->not_measured)
		json_put(o, "not_measured", json_text(r->not_measured));
	json_put(o, "architecture",
		json_text(r->architecture ? architecture_name[r->architecture] : NULL));
	json_put(o, "cpu_level", json_text(r->cpu_level));
	json_put(o, "gpu_manufacturer", json_text(r->gpu_manufacturer));
	json_put(o, "gpu_model", json_text(r->gpu_model));
	put_server(o, r);
	return o;
}

static json_t *without_null(json_t *o)
{
	const char *key;
	void *next;
	json_t *value;

	json_object_foreach_safe(o, next, key, value)
	{
		if (json_is_null(value))
			json_object_del(o, key);
	}
	return o;
}

json_t *run_json_list(const char *job_name, const struct runs *runs, bool details)
{
	json_t *o = json_object(), *array = json_array();

	for (size_t i = 0; i < runs->n; i++) {
		json_t *run = run_json(&runs->run[i]);

		json_push(array, details ? run : without_null(run));
	}
	json_put_job(o, job_name);
	json_put(o, "runs", array);
	return o;
}
