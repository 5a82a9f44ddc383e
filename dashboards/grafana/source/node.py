"""One machine: what is left of it, who waits, and whether the exporter on it is well."""
import panels
from panels import GREEN, RED, YELLOW, graph, row, stat, steps, table
from shared import INSTANCES, RATE, annotations, instance_variable

OF = "{" + INSTANCES + "}"
SELF = '{job=~".*rightsize.*", ' + INSTANCES + "}"


def value(name):
    return f"rightsize_{name}{OF}"


def rate(name):
    return f"rate(rightsize_{name}{OF}[{RATE}])"


def dashboard():
    return panels.dashboard(
        "rightsize-node", "Right-sizing / Node", "One machine that rightsize-exporter watches",
        [instance_variable(many=False, of_job=False)], annotations(INSTANCES), [
            stat("Cores in use", "percentunit", f"{value('cpu_usage_cores')} / {value('server_cpus')}",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("Memory in use", "percentunit", f"{value('memory_used_bytes')} / {value('memory_total_bytes')}",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("Disk space in use", "percentunit", f"{value('disk_space_used_bytes')} / {value('disk_space_size_bytes')}",
                 thresholds=steps(GREEN, (0.8, YELLOW), (0.95, RED))),
            stat("Cores that may be used", "none", value("server_cpu_cores"), "Within quota and affinity", spark=False),
            stat("Memory that may be used", "bytes", value("server_memory_bytes"), "Within the control group's limit", spark=False),
            stat("Up since", "dateTimeFromNow", f"{value('boot_time_seconds')} * 1000", spark=False),
            table("The machine", {
                "Server": (f"max by (instance, arch, kernel, cpu_model) ({value('server_info')})", "none"),
                "Exporter": (f"max by (instance, version, revision) ({value('build_info')})", "none"),
                "Control groups": (f"max by (instance, version) ({value('cgroup_info')})", "none"),
            }, keys=("instance", "arch", "kernel", "cpu_model", "version", "revision"), size=(24, 5)),

            row("CPU"),
            graph("Cores by mode", "none", (f'rate(rightsize_cpu_seconds_total{{mode!="idle", {INSTANCES}}}[{RATE}])', "{{mode}}"),
                  (value("server_cpus"), "there are"), stack=True, lines={"there are": RED}),
            graph("Load, and threads that run or wait", "none", (value("load1"), "load, 1 minute"), (value("load15"), "load, 15 minutes"),
                  (value("threads_running"), "run or wait for a CPU"), (value("threads_blocked"), "wait for storage")),
            graph("Time with some thread waiting", "percentunit", (rate("pressure_cpu_waiting_seconds_total"), "for a CPU"),
                  (rate("pressure_memory_waiting_seconds_total"), "for memory"), (rate("pressure_io_waiting_seconds_total"), "for storage")),
            graph("Jobs", "none", (f"rate(rightsize_job_cpu_seconds_total{OF}[{RATE}])", "{{job_name}}"),
                  help_text="Cores that each job uses", stack=True),

            row("Memory"),
            graph("Memory", "bytes", (value("memory_used_bytes"), "in use"), (value("memory_cached_bytes"), "cache"),
                  (value("memory_buffers_bytes"), "buffers"), (value("memory_free_bytes"), "free"),
                  (value("memory_total_bytes"), "there is"), lines={"there is": RED}),
            graph("Swap space", "bytes", (f"{value('swap_total_bytes')} - {value('swap_free_bytes')}", "in use"),
                  (value("swap_total_bytes"), "there is"), lines={"there is": RED}),

            row("Disks and network"),
            graph("Disks", "Bps", (rate("disk_read_bytes_total"), "read {{device}}"), (rate("disk_written_bytes_total"), "written {{device}}")),
            graph("Disks busy", "percentunit", (rate("disk_io_seconds_total"), "{{device}}")),
            graph("Network", "Bps", (rate("network_received_bytes_total"), "received {{interface}}"),
                  (rate("network_sent_bytes_total"), "sent {{interface}}")),
            graph("Packets lost", "pps", (f"{rate('network_receive_drops_total')} + {rate('network_receive_errors_total')}", "received {{interface}}"),
                  (f"{rate('network_send_drops_total')} + {rate('network_send_errors_total')}", "sent {{interface}}")),
            graph("File systems in use", "percentunit",
                  (f"1 - {value('filesystem_available_bytes')} / {value('filesystem_size_bytes')}", "{{mountpoint}}")),
            graph("Files in use", "percentunit", (f"1 - {value('filesystem_files_free')} / {value('filesystem_files')}", "{{mountpoint}}"),
                  help_text="Of those that the file system can hold"),

            row("GPUs"),
            graph("GPUs busy", "percentunit", (value("gpu_utilization_ratio"), "{{gpu}}")),
            graph("GPU memory", "bytes", (value("gpu_memory_used_bytes"), "{{gpu}} in use"), (value("gpu_memory_total_bytes"), "{{gpu}} there is"),
                  lines={"/there is$/": RED}),
            graph("Power", "watt", (value("gpu_power_watts"), "{{gpu}}"), (value("gpu_power_limit_watts"), "{{gpu}} limit"),
                  lines={"/limit$/": RED}),
            graph("Temperature", "celsius", (value("gpu_temperature_celsius"), "{{gpu}}")),

            row("The exporter's own control group"),
            graph("Memory of the group", "bytes", (value("cgroup_memory_usage_bytes"), "in use, with cache"),
                  (value("cgroup_memory_peak_bytes"), "peak"), (value("cgroup_memory_limit_bytes"), "limit"),
                  lines={"peak": YELLOW, "limit": RED}, help_text="In a pod: that of the exporter's container"),
            graph("Cores of the group", "none", (rate("cgroup_cpu_seconds_total"), "used"), (value("cgroup_cpu_limit_cores"), "limit"),
                  (rate("cgroup_cpu_throttled_seconds_total"), "held back"), lines={"limit": RED}),

            row("The exporter itself"),
            graph("What it costs", "none", (f"rate(process_cpu_seconds_total{SELF}[{RATE}])", "cores")),
            graph("Its memory", "bytes", (f"process_resident_memory_bytes{SELF}", "resident"), (value("history_size_bytes"), "history on disk")),
            graph("Reading", "s", (f"rightsize_collector_duration_seconds{OF}", "{{collector}}"), help_text="Time that each collector's latest reading took"),
            graph("Collectors that fail", "none", (f"1 - rightsize_collector_success{OF}", "{{collector}}")),
            graph("History", "none", (rate("history_samples_written_total"), "samples written a second"),
                  (rate("history_samples_missed_total"), "missed"), (rate("history_samples_dropped_total"), "lost"),
                  (value("history_samples_waiting"), "waiting"), (rate("history_errors_total"), "failed attempts")),
            stat("Prices as of", "dateTimeFromNow", f"{value('catalogue_timestamp_seconds')} * 1000", "The catalogue of servers in use",
                 size=(12, 8), spark=False),
            graph("Requests", "reqps", (f"sum by (handler, code) ({rate('http_requests_total')})", "{{handler}} {{code}}")),
        ])
