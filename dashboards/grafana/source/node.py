"""One machine: its free resources, jobs that wait for them, and whether the exporter on it works."""
import panels
from panels import GREEN, RED, YELLOW, graph, page_link, row, stat, steps, table
from shared import INSTANCES, NAMED, RATE, annotations, instance_variable, page_variable

OF = "{" + INSTANCES + "}"
SELF = '{job=~".*rightsize.*", ' + INSTANCES + "}"


def value(name):
    return f"rightsize_{name}{OF}"


def rate(name):
    return f"rate(rightsize_{name}{OF}[{RATE}])"


def dashboard():
    return panels.dashboard(
        "rightsize-node", "Right-sizing / Node", "One machine that rightsize-exporter watches",
        [instance_variable(many=False, of_job=False), page_variable()], annotations(INSTANCES), [
            stat("CPU in use", "percentunit", f"{value('cpu_usage_cores')} / {value('server_cpus')}", "Of all CPUs of the machine",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("Memory in use", "percentunit", f"{value('memory_used_bytes')} / {value('memory_total_bytes')}", "Of all memory of the machine",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("Disk space in use", "percentunit", f"{value('disk_space_used_bytes')} / {value('disk_space_size_bytes')}", "Of all file systems together",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("CPU cores available", "none", value("server_cpu_cores"), "To the exporter's control group, within quota and affinity", spark=False),
            stat("Memory limit", "bytes", value("server_memory_bytes"), "Memory of the machine, or the limit of the exporter's control group", spark=False),
            stat("Up since", "dateTimeFromNow", f"{value('boot_time_seconds')} * 1000", "When the machine booted", spark=False),
            table("The machine", {
                "Server": (f"max by (instance, arch, kernel, cpu_model) ({value('server_info')})", "none"),
                "Exporter": (f"max by (instance, version, revision) ({value('build_info')})", "none"),
                "Control groups": (f"max by (instance, version) ({value('cgroup_info')})", "none"),
            }, "Its CPU and kernel, the exporter's version, the version of control groups", keys=("instance", "arch", "kernel", "cpu_model", "version", "revision"), size=(24, 5)),

            row("CPU"),
            graph("CPU cores by mode", "none", (f'rate(rightsize_cpu_seconds_total{{mode!="idle", {INSTANCES}}}[{RATE}])', "{{mode}}"),
                  (value("server_cpus"), "all CPUs"), stack=True, lines={"all CPUs": RED}, help_text="How the CPU time is spent"),
            graph("Load, and threads that run or wait", "none", (value("load1"), "load, 1 minute"), (value("load15"), "load, 15 minutes"),
                  (value("threads_running"), "run or wait for a CPU"), (value("threads_blocked"), "wait for storage"),
                  help_text="More than the number of CPUs: threads wait for a CPU"),
            graph("Time with some thread waiting", "percentunit", (rate("pressure_cpu_waiting_seconds_total"), "for a CPU"),
                  (rate("pressure_memory_waiting_seconds_total"), "for memory"), (rate("pressure_io_waiting_seconds_total"), "for storage"),
                  help_text="Pressure (PSI) of the whole machine"),
            graph("Jobs", "none", (f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])", NAMED),
                  help_text="CPU cores that each job uses", stack=True),

            row("Memory"),
            graph("Memory", "bytes", (value("memory_used_bytes"), "in use"), (value("memory_cached_bytes"), "cache"),
                  (value("memory_buffers_bytes"), "buffers"), (value("memory_free_bytes"), "free"),
                  (value("memory_total_bytes"), "all memory"), lines={"all memory": RED}, help_text="How the memory is used"),
            graph("Swap space", "bytes", (f"{value('swap_total_bytes')} - {value('swap_free_bytes')}", "in use"),
                  (value("swap_total_bytes"), "all swap space"), lines={"all swap space": RED},
                  help_text="Swap space in use. It stays in use until what was swapped out is read again"),

            row("Disks and network"),
            graph("Disks", "Bps", (rate("disk_read_bytes_total"), "read {{device}}"), (rate("disk_written_bytes_total"), "written {{device}}"),
                  help_text="Bytes a second"),
            graph("Disks busy", "percentunit", (rate("disk_io_seconds_total"), "{{device}}"), help_text="Share of the time with a request under way"),
            graph("Network", "Bps", (rate("network_received_bytes_total"), "received {{interface}}"),
                  (rate("network_sent_bytes_total"), "sent {{interface}}"), help_text="Bytes a second"),
            graph("Packets lost", "pps", (f"{rate('network_receive_drops_total')} + {rate('network_receive_errors_total')}", "received {{interface}}"),
                  (f"{rate('network_send_drops_total')} + {rate('network_send_errors_total')}", "sent {{interface}}"),
                  help_text="Packets a second that were dropped or had errors"),
            graph("File systems in use", "percentunit",
                  (f"1 - {value('filesystem_available_bytes')} / {value('filesystem_size_bytes')}", "{{mountpoint}}"),
                  help_text="Share of the space that is in use"),
            graph("Files in use", "percentunit", (f"1 - {value('filesystem_files_free')} / {value('filesystem_files')}", "{{mountpoint}}"),
                  help_text="Share of the files that the file system can hold"),

            row("GPUs", collapsed=True),
            graph("GPUs busy", "percentunit", (value("gpu_utilization_ratio"), "{{gpu}}"), help_text="Share of the time with work"),
            graph("GPU memory", "bytes", (value("gpu_memory_used_bytes"), "{{gpu}} in use"), (value("gpu_memory_total_bytes"), "{{gpu}} all"),
                  lines={"/all$/": RED}, help_text="GPU memory in use, and all that each GPU has"),
            graph("Power", "watt", (value("gpu_power_watts"), "{{gpu}}"), (value("gpu_power_limit_watts"), "{{gpu}} limit"),
                  lines={"/limit$/": RED}, help_text="Power that each GPU draws, and its limit"),
            graph("Temperature", "celsius", (value("gpu_temperature_celsius"), "{{gpu}}"), help_text="Of each GPU"),

            row("The exporter's own control group", collapsed=True),
            graph("Memory of the group", "bytes", (value("cgroup_memory_usage_bytes"), "in use, with cache"),
                  (value("cgroup_memory_peak_bytes"), "peak"), (value("cgroup_memory_limit_bytes"), "limit"),
                  lines={"peak": YELLOW, "limit": RED}, help_text="In a pod, the group is that of the exporter's container"),
            graph("CPU cores of the group", "none", (rate("cgroup_cpu_seconds_total"), "used"), (value("cgroup_cpu_limit_cores"), "limit"),
                  (rate("cgroup_cpu_throttled_seconds_total"), "throttled"), lines={"limit": RED},
                  help_text="CPU cores in use, and the limit. Throttled: seconds a second"),

            row("The exporter itself"),
            graph("CPU of the exporter", "none", (f"rate(process_cpu_seconds_total{SELF}[{RATE}])", "CPU cores"),
                  help_text="CPU cores that the exporter itself uses"),
            graph("Memory and history", "bytes", (f"process_resident_memory_bytes{SELF}", "memory"), (value("history_size_bytes"), "history on disk"),
                  help_text="Resident memory of the exporter, and the size of its history"),
            graph("Duration of a reading", "s", (f"rightsize_collector_duration_seconds{OF}", "{{collector}}"), help_text="How long the latest reading of each collector took"),
            graph("Collectors that fail", "none", (f"1 - rightsize_collector_success{OF}", "{{collector}}"),
                  help_text="1: the collector fails, and its metrics are absent"),
            graph("Samples of the history", "cps", (rate("history_samples_written_total"), "written"),
                  (rate("history_samples_missed_total"), "missed"), (rate("history_samples_dropped_total"), "lost"),
                  (rate("history_errors_total"), "failed attempts to write"), help_text="Samples of runs a second"),
            graph("Samples that wait", "none", (value("history_samples_waiting"), "waiting"),
                  help_text="Samples that were taken and are not written yet"),
            stat("Prices as of", "dateTimeFromNow", f"{value('catalogue_timestamp_seconds')} * 1000", "Date of the prices with which costs were computed",
                 size=(12, 8), spark=False),
            graph("Requests", "reqps", (f"sum by (handler, code) ({rate('http_requests_total')})", "{{handler}} {{code}}"),
                  help_text="HTTP requests a second that the exporter answered, by path and status"),
        ], links=[page_link("Page of the machine's jobs", "${page}/", "All jobs of this exporter, on its own page")])
