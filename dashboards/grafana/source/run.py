"""One run of a job on one machine, during the run or later. Its time range is chosen, for example, from its
annotations."""
import panels
from panels import BLUE, GREEN, ORANGE, RED, YELLOW, graph, row, stat, steps
from shared import JOB, RATE, annotations, instance_variable, job_variable, page_of_job_link, page_variable, place_variables

OF = "{" + JOB + "}"


def rate(name):
    return f"rate(rightsize_job_{name}{OF}[{RATE}])"


def value(name):
    return f"rightsize_job_{name}{OF}"


def dashboard():
    return panels.dashboard(
        "rightsize-run", "Right-sizing / Run", "One run of a job on one machine; the cursor is shared by all charts",
        [job_variable(many=False), *place_variables(), instance_variable(many=False, of_job=True), page_variable()], annotations(JOB), [
            stat("State", "none", value("active_runs"), "Whether a run of the job is running", spark=False, thresholds=steps("text", (1, GREEN)),
                 mappings=[{"type": "value", "options": {"0": {"text": "ended", "index": 0}}},
                           {"type": "range", "options": {"from": 1, "to": None, "result": {"text": "running", "index": 1}}}]),
            stat("Started", "dateTimeAsLocal", f"max_over_time(rightsize_job_start_time_seconds{OF}[$__range]) * 1000",
                 "The latest run within the time shown", spark=False),
            stat("Running for", "s", f"max_over_time(rightsize_job_duration_seconds{OF}[$__range])",
                 "The longest within the time shown", spark=False),
            stat("CPU time", "s", value("cpu_seconds_total"), "Of all runs that this exporter has seen"),
            stat("Peak memory", "bytes", value("memory_peak_bytes"), "Of the latest run, from the kernel's own high-water marks"),
            stat("Peak, of the limit", "percentunit", f"{value('memory_peak_bytes')} / {value('memory_limit_bytes')}", "Share of the limit that the peak reached",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),

            row("CPU"),
            graph("CPU cores", "none", (rate("cpu_user_seconds_total"), "user"), (rate("cpu_system_seconds_total"), "kernel"),
                  (value("requested_cpu_cores"), "requested"), (value("recommended_cpu_cores"), "recommended"),
                  (value("cpu_limit_cores"), "limit"), stack=True, lines={"limit": RED, "requested": YELLOW, "recommended": BLUE},
                  help_text="CPU cores in use, beside the request, the limit, and the recommendation for the next run"),
            graph("Waiting", "none", (rate("cpu_wait_seconds_total"), "for a CPU"), (rate("io_wait_seconds_total"), "for storage"),
                  (rate("memory_wait_seconds_total"), "for memory"),
                  (rate("cpu_throttled_seconds_total"), "for the CPU limit"), help_text="Threads that wait, on average. Storage and memory need kernel.task_delayacct=1"),
            graph("Time with some task waiting", "percentunit", (rate("cpu_pressure_seconds_total"), "for a CPU"),
                  (rate("memory_pressure_seconds_total"), "for memory"), (rate("io_pressure_seconds_total"), "for storage"),
                  help_text="Pressure (PSI) of the run's own control group"),
            graph("Processes and threads", "none", (value("processes"), "processes"), (value("threads"), "threads"),
                  (value("open_fds"), "open files"),
                  (value("unreadable_processes"), "processes that the exporter may not read in full"),
                  help_text="How many the run has at each time"),

            row("Memory"),
            graph("Memory", "bytes", (value("memory_bytes"), "in use"), (value("memory_rss_bytes"), "RSS"),
                  (value("memory_pss_bytes"), "PSS"), (value("memory_swap_bytes"), "swapped out"),
                  (value("memory_cgroup_bytes"), "control group, with cache"),
                  (value("memory_peak_bytes"), "peak"), (value("requested_memory_bytes"), "requested"),
                  (value("recommended_memory_bytes"), "recommended"), (value("memory_limit_bytes"), "limit"),
                  lines={"peak": ORANGE, "limit": RED, "requested": YELLOW, "recommended": BLUE},
                  help_text="Memory in use by several measures, beside the request, the limit, and the recommendation for the next run"),
            graph("Kinds of memory", "bytes", (value("memory_anonymous_bytes"), "anonymous"),
                  (value("memory_file_bytes"), "mapped files"), (value("memory_shmem_bytes"), "shared memory"),
                  (value("memory_huge_bytes"), "transparent huge pages"), (value("memory_hugetlb_bytes"), "reserved huge pages"),
                  (value("memory_swap_bytes"), "swapped out"),
                  help_text="The first three add up to the RSS. Transparent huge pages are part of it, reserved ones are not"),
            graph("Trouble with memory", "none",
                  (f"increase(rightsize_job_memory_max_events_total{OF}[{RATE}])", "reached the limit"),
                  (f"increase(rightsize_job_memory_high_events_total{OF}[{RATE}])", "slowed down at memory.high"),
                  (f"increase(rightsize_job_memory_oom_events_total{OF}[{RATE}])", "allocation about to fail"),
                  (f"increase(rightsize_job_oom_kills_total{OF}[{RATE}])", "processes killed"), bars=True,
                  help_text="Events of the run's own control group"),
            graph("Page faults", "cps", (rate("page_faults_minor_total"), "from memory"),
                  (rate("page_faults_major_total"), "from storage"),
                  help_text="Page faults a second. Those from storage make the run wait"),
            graph("Context switches", "cps", (rate("context_switches_voluntary_total"), "voluntary"),
                  (rate("context_switches_involuntary_total"), "involuntary"),
                  help_text="Switches a second. Involuntary: the scheduler gave the CPU to another thread"),

            row("Input and output"),
            graph("Storage", "Bps", (rate("disk_read_bytes_total"), "read"), (rate("disk_written_bytes_total"), "written"),
                  help_text="Bytes a second that reached storage"),
            graph("Read and write calls", "Bps", (rate("read_chars_total"), "read"), (rate("written_chars_total"), "written"),
                  help_text="Bytes a second through read and write calls, including page cache and pipes"),

            row("GPU", collapsed=True),
            graph("GPUs", "none", (value("gpu_usage"), "busy"), (value("gpus_used"), "held"),
                  help_text="Held: with a context or work of the run"),
            graph("GPU memory", "bytes", (value("vram_bytes"), "in use"), (value("vram_peak_bytes"), "peak"), lines={"peak": YELLOW},
                  help_text="GPU memory of the run's processes, and its peak"),
        ], links=[page_of_job_link()], since="now-1h")
