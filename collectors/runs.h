/* The metrics of one run, as a table. A run is one execution of a job, and consists of a tree of
 * processes. The same rows define the metrics of a job at /metrics and the columns of the history.
 *
 * Each row is X(id, combine, name, unit, type, fold, column, help). A job may have several runs at
 * the same time. `combine` (SUM, MAX or MIN) makes the value of the job from the values of these
 * runs. A job's counters continue when a new run begins: they start from zero only when the
 * exporter starts. */
#ifndef COLLECTORS_RUNS_H
#define COLLECTORS_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "collectors/metric.h"

/* clang-format off */
#define RUN_METRICS(X) \
X(RUN_CPU_SECONDS, SUM, "rightsize_job_cpu_seconds", "seconds", COUNTER, DELTA, "cpu_seconds", \
  "CPU time of all processes of the job's runs, ended ones included") \
X(RUN_CPU_USER_SECONDS, SUM, "rightsize_job_cpu_user_seconds", "seconds", COUNTER, DELTA, "cpu_user_seconds", \
  "Part of the CPU time spent in user mode") \
X(RUN_CPU_SYSTEM_SECONDS, SUM, "rightsize_job_cpu_system_seconds", "seconds", COUNTER, DELTA, "cpu_system_seconds", \
  "Part of the CPU time spent in the kernel") \
X(RUN_MEMORY_BYTES, SUM, "rightsize_job_memory_bytes", "bytes", GAUGE, VALUE, "memory_bytes", \
  "Memory in use by the job: RSS of a process that is alone; of several, without what they share as far as that is known") \
X(RUN_MEMORY_RSS_BYTES, SUM, "rightsize_job_memory_rss_bytes", "bytes", GAUGE, VALUE, "memory_rss_bytes", \
  "Sum of the resident set sizes of the job's processes") \
X(RUN_MEMORY_PSS_BYTES, SUM, "rightsize_job_memory_pss_bytes", "bytes", GAUGE, VALUE, "memory_pss_bytes", \
  "Sum of the proportional set sizes, from smaps_rollup within a time budget; absent until every process was read") \
X(RUN_MEMORY_PSS_AGE_SECONDS, MAX, "rightsize_job_memory_pss_age_seconds", "seconds", GAUGE, VALUE, "memory_pss_age_seconds", \
  "Age of the oldest reading in memory_pss_bytes; a process is read again when its RSS moved by a tenth or others came or went") \
X(RUN_MEMORY_PSS_DEFERRED, SUM, "rightsize_job_memory_pss_deferred_processes", NULL, GAUGE, VALUE, "memory_pss_deferred_processes", \
  "Processes of the job whose PSS is to be read again, which is put off since it would cost too much time; until then it is taken to move as RSS does") \
X(RUN_MEMORY_ANONYMOUS_BYTES, SUM, "rightsize_job_memory_anonymous_bytes", "bytes", GAUGE, VALUE, "memory_anonymous_bytes", \
  "Part of memory_rss_bytes that belongs to no file: heaps and stacks") \
X(RUN_MEMORY_FILE_BYTES, SUM, "rightsize_job_memory_file_bytes", "bytes", GAUGE, VALUE, "memory_file_bytes", \
  "Part of memory_rss_bytes that is page cache: programs, libraries and other files that are mapped") \
X(RUN_MEMORY_SHMEM_BYTES, SUM, "rightsize_job_memory_shmem_bytes", "bytes", GAUGE, VALUE, "memory_shmem_bytes", \
  "Part of memory_rss_bytes that is shared memory or tmpfs, counted in each process that maps it") \
X(RUN_MEMORY_HUGETLB_BYTES, SUM, "rightsize_job_memory_hugetlb_bytes", "bytes", GAUGE, VALUE, "memory_hugetlb_bytes", \
  "Reserved huge pages (hugetlbfs) of the job's processes, which are no part of memory_rss_bytes") \
X(RUN_MEMORY_HUGE_BYTES, SUM, "rightsize_job_memory_huge_bytes", "bytes", GAUGE, VALUE, "memory_huge_bytes", \
  "Part of memory_rss_bytes that is in transparent huge pages, when PSS was read last") \
X(RUN_MEMORY_SWAP_BYTES, SUM, "rightsize_job_memory_swap_bytes", "bytes", GAUGE, VALUE, "memory_swap_bytes", \
  "Memory of the job's processes that is swapped out") \
X(RUN_MEMORY_PEAK_BYTES, MAX, "rightsize_job_memory_peak_bytes", "bytes", GAUGE, PEAK, "memory_peak_bytes", \
  "High-water mark of the memory of the run, from the kernel's own marks, since it started") \
X(RUN_MEMORY_PEAK_PROCESS_BYTES, MAX, "rightsize_job_memory_peak_process_bytes", "bytes", GAUGE, PEAK, "memory_peak_process_bytes", \
  "Largest resident high-water mark (VmHWM) of a single process of the run") \
X(RUN_DISK_READ_BYTES, SUM, "rightsize_job_disk_read_bytes", "bytes", COUNTER, DELTA, "disk_read_bytes", \
  "Bytes that the job's processes caused to be read from storage") \
X(RUN_DISK_WRITTEN_BYTES, SUM, "rightsize_job_disk_written_bytes", "bytes", COUNTER, DELTA, "disk_written_bytes", \
  "Bytes that the job's processes caused to be written to storage") \
X(RUN_DISK_GROWN_BYTES, MAX, "rightsize_job_disk_grown_bytes", "bytes", GAUGE, PEAK, "disk_grown_bytes", \
  "Most disk space that the run had in use beyond that at its start; in most cases an upper bound: see disk_source of the run") \
X(RUN_READ_CHARS, SUM, "rightsize_job_read_chars", NULL, COUNTER, DELTA, "read_chars", \
  "Characters that the job's processes passed through read calls, page cache and pipes included") \
X(RUN_WRITTEN_CHARS, SUM, "rightsize_job_written_chars", NULL, COUNTER, DELTA, "written_chars", \
  "Characters that the job's processes passed through write calls, page cache and pipes included") \
X(RUN_NETWORK_RECEIVED_BYTES, SUM, "rightsize_job_network_received_bytes", "bytes", COUNTER, DELTA, "network_received_bytes", \
  "Bytes received in the network namespace of the run's container or pod; absent in that of the machine") \
X(RUN_NETWORK_SENT_BYTES, SUM, "rightsize_job_network_sent_bytes", "bytes", COUNTER, DELTA, "network_sent_bytes", \
  "Bytes sent in the network namespace of the run's container or pod; absent in that of the machine") \
X(RUN_PROCESSES, SUM, "rightsize_job_processes", NULL, GAUGE, VALUE, "processes", \
  "Processes of the job") \
X(RUN_THREADS, SUM, "rightsize_job_threads", NULL, GAUGE, VALUE, "threads", \
  "Threads of the job's processes") \
X(RUN_VOLUNTARY_SWITCHES, SUM, "rightsize_job_context_switches_voluntary", NULL, COUNTER, DELTA, "context_switches_voluntary", \
  "Voluntary context switches of the threads of the job's processes; of threads that ended between two looks, often only at the end of the run") \
X(RUN_INVOLUNTARY_SWITCHES, SUM, "rightsize_job_context_switches_involuntary", NULL, COUNTER, DELTA, "context_switches_involuntary", \
  "Involuntary context switches of the threads of the job's processes, likewise") \
X(RUN_MINOR_FAULTS, SUM, "rightsize_job_page_faults_minor", NULL, COUNTER, DELTA, "page_faults_minor", \
  "Page faults served without reading from storage") \
X(RUN_MAJOR_FAULTS, SUM, "rightsize_job_page_faults_major", NULL, COUNTER, DELTA, "page_faults_major", \
  "Page faults that had to read from storage") \
X(RUN_OPEN_FDS, SUM, "rightsize_job_open_fds", NULL, GAUGE, VALUE, "open_fds", \
  "Open file descriptors of the job's processes that may be read") \
X(RUN_UNREADABLE_PROCESSES, SUM, "rightsize_job_unreadable_processes", NULL, GAUGE, VALUE, "unreadable_processes", \
  "Processes of the job whose I/O, descriptors or PSS this exporter may not read") \
X(RUN_GPUS_USED, SUM, "rightsize_job_gpus_used", NULL, GAUGE, VALUE, "gpus_used", \
  "GPUs on which the job's processes hold a context or have work; absent where that cannot be told") \
X(RUN_GPU_USAGE, SUM, "rightsize_job_gpu_usage", NULL, GAUGE, VALUE, "gpu_usage", \
  "GPUs that the job keeps busy: the sum over GPUs of the part of the time that they work for it") \
X(RUN_VRAM_BYTES, SUM, "rightsize_job_vram_bytes", "bytes", GAUGE, VALUE, "vram_bytes", \
  "GPU memory of the job's processes, as the driver accounts it") \
X(RUN_VRAM_PEAK_BYTES, MAX, "rightsize_job_vram_peak_bytes", "bytes", GAUGE, PEAK, "vram_peak_bytes", \
  "Most GPU memory that the processes of the run were seen to have at once") \
X(RUN_CPU_WAIT_SECONDS, SUM, "rightsize_job_cpu_wait_seconds", "seconds", COUNTER, DELTA, "cpu_wait_seconds", \
  "Time that threads of the job were ready to run but waited for a CPU, from schedstat or taskstats") \
X(RUN_IO_WAIT_SECONDS, SUM, "rightsize_job_io_wait_seconds", "seconds", COUNTER, DELTA, "io_wait_seconds", \
  "Time that threads of the job waited for storage, from taskstats while kernel.task_delayacct is 1") \
X(RUN_MEMORY_WAIT_SECONDS, SUM, "rightsize_job_memory_wait_seconds", "seconds", COUNTER, DELTA, "memory_wait_seconds", \
  "Time that threads of the job waited for memory (swapping, reclaim, compaction), from taskstats while kernel.task_delayacct is 1") \
X(RUN_CPU_PRESSURE_SECONDS, SUM, "rightsize_job_cpu_pressure_seconds", "seconds", COUNTER, DELTA, "cpu_pressure_seconds", \
  "Time in which some task of the run's own control group waited for a CPU (PSI)") \
X(RUN_MEMORY_PRESSURE_SECONDS, SUM, "rightsize_job_memory_pressure_seconds", "seconds", COUNTER, DELTA, "memory_pressure_seconds", \
  "Time in which some task of the run's own control group waited for memory (PSI)") \
X(RUN_IO_PRESSURE_SECONDS, SUM, "rightsize_job_io_pressure_seconds", "seconds", COUNTER, DELTA, "io_pressure_seconds", \
  "Time in which some task of the run's own control group waited for storage (PSI)") \
X(RUN_CPU_PERIODS, SUM, "rightsize_job_cpu_periods", NULL, COUNTER, DELTA, "cpu_periods", \
  "Periods of the CPU quota that holds for the run in which its control group had work to do") \
X(RUN_CPU_THROTTLED_PERIODS, SUM, "rightsize_job_cpu_throttled_periods", NULL, COUNTER, DELTA, "cpu_throttled_periods", \
  "Periods of the CPU quota that holds for the run in which its control group was held back") \
X(RUN_CPU_THROTTLED_SECONDS, SUM, "rightsize_job_cpu_throttled_seconds", "seconds", COUNTER, DELTA, "cpu_throttled_seconds", \
  "Time that threads of the run's control group were held back by the CPU quota that holds for it") \
X(RUN_CPU_LIMIT_CORES, SUM, "rightsize_job_cpu_limit_cores", "cores", GAUGE, NONE, NULL, \
  "Smallest CPU quota of the run's control group and those above it, absent without one") \
X(RUN_MEMORY_LIMIT_BYTES, SUM, "rightsize_job_memory_limit_bytes", "bytes", GAUGE, NONE, NULL, \
  "Smallest memory limit of the run's control group and those above it, absent without one") \
X(RUN_MEMORY_CGROUP_BYTES, SUM, "rightsize_job_memory_cgroup_bytes", "bytes", GAUGE, VALUE, "memory_cgroup_bytes", \
  "Memory of the run's own control group, its page cache included") \
X(RUN_MEMORY_CGROUP_PEAK_BYTES, MAX, "rightsize_job_memory_cgroup_peak_bytes", "bytes", GAUGE, PEAK, "memory_cgroup_peak_bytes", \
  "High-water mark of the memory of the run's own control group, its page cache included") \
X(RUN_MEMORY_CGROUP_CACHE_BYTES, SUM, "rightsize_job_memory_cgroup_cache_bytes", "bytes", GAUGE, VALUE, "memory_cgroup_cache_bytes", \
  "Part of the memory of the run's own control group that is page cache, shared memory included") \
X(RUN_MEMORY_CGROUP_SHMEM_BYTES, SUM, "rightsize_job_memory_cgroup_shmem_bytes", "bytes", GAUGE, VALUE, "memory_cgroup_shmem_bytes", \
  "Part of the memory of the run's own control group that is shared memory or tmpfs") \
X(RUN_MEMORY_TMPFS_BYTES, SUM, "rightsize_job_memory_tmpfs_bytes", "bytes", GAUGE, VALUE, "memory_tmpfs_bytes", \
  "Part of memory_cgroup_shmem_bytes that is not in memory_bytes: files in tmpfs, such as those of /dev/shm, that no process has mapped") \
X(RUN_MEMORY_CGROUP_HUGE_BYTES, SUM, "rightsize_job_memory_cgroup_huge_bytes", "bytes", GAUGE, VALUE, "memory_cgroup_huge_bytes", \
  "Part of the memory of the run's own control group that is in transparent huge pages of programs") \
X(RUN_MEMORY_HIGH_EVENTS, SUM, "rightsize_job_memory_high_events", NULL, COUNTER, DELTA, "memory_high_events", \
  "Times that the run's own control group was slowed down at memory.high") \
X(RUN_MEMORY_MAX_EVENTS, SUM, "rightsize_job_memory_max_events", NULL, COUNTER, DELTA, "memory_max_events", \
  "Times that the run's own control group met its memory limit") \
X(RUN_MEMORY_OOM_EVENTS, SUM, "rightsize_job_memory_oom_events", NULL, COUNTER, DELTA, "memory_oom_events", \
  "Times that an allocation was about to fail at the memory limit of the run's own control group") \
X(RUN_OOM_KILLS, SUM, "rightsize_job_oom_kills", NULL, COUNTER, DELTA, "oom_kills", \
  "Processes of the run's own control group that the kernel killed because memory ran out") \
X(RUN_PIDS_LIMIT, SUM, "rightsize_job_pids_limit", NULL, GAUGE, VALUE, "pids_limit", \
  "Smallest limit of tasks (processes and threads) of the run's control group and those above it, absent without one") \
X(RUN_PIDS_PEAK, MAX, "rightsize_job_pids_peak", NULL, GAUGE, PEAK, "pids_peak", \
  "High-water mark of the tasks (processes and threads) of the run's own control group, since Linux 6.1") \
X(RUN_PIDS_REFUSED, SUM, "rightsize_job_pids_refused", NULL, COUNTER, DELTA, "pids_refused", \
  "Forks that a limit of tasks refused, in the run's control group or the nearest one with a limit: others' too if it holds others; absent without a limit") \
X(RUN_START_TIME_SECONDS, MIN, "rightsize_job_start_time_seconds", "seconds", GAUGE, NONE, NULL, \
  "Start of the job's oldest active run since the Unix epoch") \
X(RUN_DURATION_SECONDS, MAX, "rightsize_job_duration_seconds", "seconds", GAUGE, NONE, NULL, \
  "Time that the job's longest active run has been running")
/* clang-format on */

#define RUN_METRIC_ID(id, combine, ...) id,
enum run_metric { RUN_METRICS(RUN_METRIC_ID) RUN_N_METRICS };

enum run_combine { COMBINE_SUM, COMBINE_MAX, COMBINE_MIN };

/* Metrics of a job that do not come from a run's values. */
enum {
	JOB_ACTIVE_RUNS = RUN_N_METRICS,
	JOB_RUNS,
	JOB_EXIT_CODE,
	JOB_EXIT_SIGNAL,
	JOB_LAST_END,
	JOB_READ_AT,
	JOB_INCOMPLETE,
	JOB_N_METRICS
};

/* Both arrays have the order of the enums above. run_combines tells how the values of several runs
 * are combined. */
extern const struct metric run_metrics[JOB_N_METRICS];
extern const enum run_combine run_combines[RUN_N_METRICS];

#define RUN_ID_MAX 40 /* bytes, NUL included */
/* Bytes of the names of GPUs and of their manufacturers, NUL included. NVML gives names of at most
 * GPU_NAME_MAX bytes (NVML_DEVICE_NAME_V2_BUFFER_SIZE of nvml.h). */
#define GPU_NAME_MAX         96
#define GPU_MANUFACTURER_MAX 16

/* The values of one run in one tick. NaN = unknown. */
struct run_reading {
	char run_id[RUN_ID_MAX];
	const char *job_name; /* the snapshot's arena owns the text */
	struct wall started_at;
	bool ended; /* the run has ended, so this is its last reading */
	double value[RUN_N_METRICS];
};

#endif
