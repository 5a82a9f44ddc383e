"""ResourceTracker, ProcessTracker and SystemTracker: the interface of resource-tracker, measured by rightsize-exporter.

Code moves over by changing the import. Each class says how it differs.
"""
import csv
import io
import os
import sys
import time
import warnings
from typing import Any, Dict, IO, Iterable, List, Optional

from .cloud_info import get_cloud_info
from .column_maps import BYTE_MAPPING, HUMAN_NAMES_MAPPING
from .helpers import aggregate_stats
from .report import Report
from .server_info import get_server_info
from .tiny_data_frame import StatSpec, TinyDataFrame
from .track import outcome_of
from .watch import Watch, default_job_name, is_open, warn

GPU_COLUMNS = ("gpu_usage", "gpu_vram_mib", "gpu_utilized")
MEMORY_MARGIN = 1.2  # where no run has ended yet: the peak so far and a fifth
# The keys of a server of resource-tracker. A key that the catalogue does not have is None.
SERVER_KEYS = (
    "vendor_id", "server_id", "name", "api_reference", "display_name", "description", "family", "vcpus", "hypervisor",
    "cpu_allocation", "cpu_cores", "cpu_speed", "cpu_architecture", "cpu_manufacturer", "cpu_family", "cpu_model",
    "cpu_l1_cache", "cpu_l2_cache", "cpu_l3_cache", "cpu_flags", "cpus", "memory_amount", "memory_generation",
    "memory_speed", "memory_ecc", "gpu_count", "gpu_memory_min", "gpu_memory_total", "gpu_manufacturer", "gpu_family",
    "gpu_model", "gpus", "storage_size", "storage_type", "storages", "network_speed", "inbound_traffic",
    "outbound_traffic", "ipv4", "status", "observed_at", "score", "price", "min_price", "min_price_spot",
    "min_price_ondemand", "score_per_price", "selected_benchmark_score", "selected_benchmark_score_per_price", "vendor")


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean of one value or more."""
    known = list(values)
    return sum(known) / len(known)


DEFAULT_SPECS: List[StatSpec] = [
    *(StatSpec(f"process_{column}", function, round=2)
      for column in ("cpu_usage", "memory_mib", *GPU_COLUMNS) for function in (mean, max)),
    StatSpec("system_disk_space_used_gb", max, round=2),
    StatSpec("system_net_recv_bytes", sum),
    StatSpec("system_net_sent_bytes", sum),
    StatSpec("timestamp", lambda x: max(x) - min(x), agg_name="duration"),
]


def _has_gpu() -> bool:
    from glob import glob
    return bool(glob("/dev/nvidia[0-9]*") or glob("/dev/dri/renderD*"))


class ResourceTracker:
    """Watches a process with all below it, and the machine, from start() to stop().

    pid: the process, by default this one; interval: seconds between samples, 0.1 at least. With another interval than
    1 the run has a history of its own. children: the processes below always count. method: ignored, nothing is forked.
    A second tracker of a job that this process is watching has a history of its own as well.
    autostart: start at once, as the documents of resource-tracker say. track_processes, track_system: False leaves
    these columns out. discover_server, discover_cloud: False leaves server_info and cloud_info None.
    job_name: the job in the history, by default RIGHTSIZE_JOB_NAME or the name of the script; what recommend_resources
    says comes from all runs of the job. sentinel_token, upload_interval, streaming_metadata: ignored, since RIGHTSIZE_URL
    names the service that gets the runs. Other arguments: those of Watch.
    """

    def __init__(self, pid: Optional[int] = None, children: bool = True, interval: float = 1,
                 method: Optional[str] = None, autostart: bool = True, track_processes: bool = True,
                 track_system: bool = True, discover_server: bool = True, discover_cloud: bool = True,
                 sentinel_token: Optional[str] = None, upload_interval: int = 60,
                 streaming_metadata: Optional[Dict[str, Any]] = None, job_name: Optional[str] = None, **arguments: Any):
        del upload_interval, streaming_metadata
        self.pid, self.children, self.interval, self.method = pid or os.getpid(), children, interval, method
        self.autostart, self.discover_server, self.discover_cloud = autostart, discover_server, discover_cloud
        self.track_processes, self.track_system = track_processes, track_system
        self.job_name = job_name or default_job_name()
        if not children:
            warn("the processes below are part of a run; children=False changes nothing")
        if sentinel_token:
            warn("sentinel_token changes nothing; RIGHTSIZE_URL names the exporter that gets the runs")
        self._arguments = arguments
        self._watch: Optional[Watch] = None
        self._frozen: Optional[TinyDataFrame] = None  # the samples of a run that has ended
        self._loaded_peak_mib: Optional[float] = None  # of a snapshot
        self._pauses: List[float] = []  # when it was paused and resumed, in turns
        self.start_time: Optional[float] = None
        self.stop_time: Optional[float] = None
        self._server_info: Optional[Dict[str, Any]] = None
        self._cloud_info: Optional[Dict[str, Any]] = None
        if autostart:
            self.start()

    # ---- from start to stop ----

    @property
    def watch(self) -> Watch:
        """The run. RuntimeError: not started."""
        if self._watch is None:
            raise RuntimeError("Resource tracker is not started.")
        return self._watch

    @property
    def running(self) -> bool:
        """True between start() and stop()."""
        return self.start_time is not None and self.stop_time is None

    def start(self, strict: bool = False) -> None:
        """Starts to watch. RuntimeError: started before. `strict` raises where no exporter can be had."""
        if self.running:
            raise RuntimeError("Resource tracker already running, cannot start again.")
        if self.stop_time is not None:
            raise RuntimeError("Resource tracker already stopped. Create a new instance to track again.")
        self.start_time = time.time()
        arguments = {**self._arguments, "private": self._arguments.get("private") or is_open(self.job_name, self.pid)}
        self._watch = Watch(self.job_name, pid=self.pid, interval=self.interval, **arguments).begin(strict)

    def stop(self, exit_code: int = 0, run_status: str = "finished") -> None:
        """Ends the run. exit_code: 0 to 255; run_status: finished, failed, interrupted, or an outcome of Watch."""
        status = str(getattr(run_status, "value", run_status))
        self.watch.end("succeeded" if status == "finished" and not exit_code else
                       "failed" if status == "finished" else status, exit_code)
        self.stop_time = self.stop_time or time.time()

    def pause(self) -> None:
        """Leaves the samples from now to resume() out of the metrics and statistics. The run in the history goes on."""
        if len(self._pauses) % 2 == 0:
            self._pauses.append(time.time())

    def resume(self) -> None:
        """Ends a pause."""
        if len(self._pauses) % 2:
            self._pauses.append(time.time())

    def cleanup(self) -> None:
        """Stops, if it still runs."""
        if self.running:
            self.stop()

    def __enter__(self) -> "ResourceTracker":
        if not self.running:
            self.start()
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        if self.running:
            outcome = outcome_of(error)
            self.stop(0 if outcome == "succeeded" else 1, "finished" if outcome == "succeeded" else outcome)

    # ---- metrics ----

    def _is_paused(self, at: float) -> bool:
        return sum(1 for moment in self._pauses if moment <= at) % 2 == 1

    def _read(self) -> TinyDataFrame:
        """The samples with the 32 columns of resource-tracker."""
        if self._frozen is not None:
            return self._frozen
        if self._watch is None or self._watch.run_id is None:
            return TinyDataFrame(data=[])
        table = self._watch.samples()
        rows = [row for row in table if not self._is_paused(row["timestamp"])]
        # A first sample of the machine has nothing to compare with.
        while len(rows) > 1 and rows[0]["system_cpu_usage"] is None:
            rows.pop(0)
        has_gpu = _has_gpu()
        for row in rows:
            row["process_pid"] = self._watch.pid
            for column in GPU_COLUMNS if not has_gpu else ():  # no GPU is there, so none is used
                row[f"process_{column}"] = row[f"system_{column}"] = 0
        result = TinyDataFrame(rows) if rows else table[:0]
        if self.stop_time is not None and rows and self._has_ended():
            self._frozen = result
        return result

    def _has_ended(self) -> bool:
        record = self.watch.record()
        return bool(record and record["outcome"] != "running")

    def _part(self, prefix: str, wanted: bool) -> TinyDataFrame:
        table = self._read() if wanted else TinyDataFrame(data=[])
        names = {name: name[len(prefix):] for name in table.columns if name.startswith(prefix)}
        return TinyDataFrame({new: table[old] for old, new in {"timestamp": "timestamp", **names}.items()}) \
            if table.columns else table

    @property
    def process_metrics(self) -> TinyDataFrame:
        """Samples of the process and all below it.

        timestamp: seconds since 1970; pid; children: processes below; utime, stime: CPU seconds since the last sample;
        cpu_usage: cores; memory_mib: MiB (PSS); disk_read_bytes, disk_write_bytes: since the last sample; gpu_usage:
        GPUs; gpu_vram_mib: MiB; gpu_utilized: number of GPUs in use. An unknown value is None.
        """
        return self._part("process_", self.track_processes)

    @property
    def system_metrics(self) -> TinyDataFrame:
        """Samples of the machine: as of process_metrics; memory_*_mib in MiB, disk_space_*_gb in GB of 10^9 bytes."""
        return self._part("system_", self.track_system)

    # The names of older versions.
    pid_tracker = process_metrics
    system_tracker = system_metrics

    @property
    def n_samples(self) -> int:
        """The number of samples so far."""
        return len(self._read())

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Waits until there are n samples. RuntimeError: not within `timeout` seconds after the start, stopped, not started."""
        if self.start_time is None:
            raise RuntimeError("Resource tracker is not started.")
        while self.n_samples < n:
            if not self.running and self._frozen is not None:
                raise RuntimeError(f"Resource tracker has been already stopped with {self.n_samples} sample(s), "
                                   f"cannot wait to collect the requested {n} sample(s).")
            if time.time() - (self.stop_time or self.start_time or 0) > timeout:
                raise RuntimeError(f"Timed out waiting for resource tracker to collect {n} samples")
            time.sleep(min(0.1, self.interval / 10))

    def get_combined_metrics(self, bytes: bool = False, human_names: bool = False,
                             system_prefix: Optional[str] = None, process_prefix: Optional[str] = None,
                             offset: Optional[int] = None) -> TinyDataFrame:
        """The samples of process and machine in one table.

        bytes: MiB and GB become bytes; human_names: names for people; system_prefix, process_prefix: before the names,
        by default system_ and process_, or System and Process for people; offset: leaves the first samples out.
        """
        table = self._read()[offset or 0:]
        if len(table) == 0:
            return TinyDataFrame(data=[])
        prefixes = {"system_": ("System " if human_names else "system_") if system_prefix is None else system_prefix,
                    "process_": ("Process " if human_names else "process_") if process_prefix is None else process_prefix}
        result = TinyDataFrame(data=[])
        for full in table.columns:
            head, _, rest = full.partition("_") if full != "timestamp" else ("", "", full)
            prefix = prefixes[head + "_"] if head else ""
            factor = BYTE_MAPPING.get(rest) if bytes else None
            values = table[full]
            result[prefix + (HUMAN_NAMES_MAPPING[rest] if human_names else rest)] = \
                [value and value * factor for value in values] if factor else values
        return result

    def stats(self, specs: Optional[List[StatSpec]] = None) -> Dict[str, Dict[str, Any]]:
        """Statistics of the samples: mean, max and sum by column; timestamp.duration in seconds. The maximum of
        process_memory_mib is the peak of the run.

        RuntimeError: there is no sample yet. A value that was not measured is None.
        """
        if self.n_samples == 0:
            raise RuntimeError("No metrics collected (yet)")
        stats = self.get_combined_metrics().stats(DEFAULT_SPECS if specs is None else specs)
        if "duration" in stats.get("timestamp", {}):
            stats["timestamp"]["duration"] += self.interval
        memory, peak = stats.get("process_memory_mib", {}), self._peak_mib()
        if peak is not None and memory.get("max") is not None:
            memory["max"] = max(memory["max"], peak)
        return stats

    def _peak_mib(self) -> Optional[float]:
        """Samples miss a peak between them, and the kernel's high-water marks, from which the run has its peak, do not."""
        if self._watch is None:
            return self._loaded_peak_mib
        peak = (self._watch.record() or {}).get("memory_peak_bytes")
        return None if peak is None else round(peak / 2**20, 2)

    # ---- recommendations ----

    def recommend_resources(self, historical_stats: Optional[List[Dict[str, Any]]] = None) -> Dict[str, int]:
        """The next request: cpu in cores, memory in MiB, gpu, vram in MiB.

        From all runs of the job that ended well; from this run so far where there is none yet, where they leave a
        value unknown, or where historical_stats (what stats() gave for other runs) are to be looked at.
        """
        self.wait_for_samples(n=1, timeout=self.interval * 5)
        advice = None if historical_stats or self.running else self._settled_recommendation()
        known = advice["resources"] if advice else {}
        stats = aggregate_stats([self.stats(), *(historical_stats or [])])

        def value(column: str, kind: str) -> float:
            return stats.get(column, {}).get(kind) or 0
        own = {"cpu": max(1, round(value("process_cpu_usage", "mean"))),
               "memory": max(1, round(value("process_memory_mib", "max") * MEMORY_MARGIN)),
               "gpu": max(1, round(value("process_gpu_usage", "max"))) if value("process_gpu_usage", "mean") > 0 else 0,
               "vram": round(value("process_gpu_vram_mib", "max") * MEMORY_MARGIN)}
        return {key: own[key] if known.get(key) is None else known[key] for key in own}

    def _settled_recommendation(self) -> Optional[Dict[str, Any]]:
        """The recommendation after the run that was just stopped is in the history."""
        self.watch.settle(2 * self.interval + 1)
        return self.watch.recommendation()

    def recommend_server(self, **filters: Any) -> Dict[str, Any]:
        """The cloud server on which the next run costs least; filters are parameters of GET /servers, such as vendor.

        price: `currency` per hour; memory_amount: MiB; forecast_duration_seconds, forecast_cost: of the next run. A key
        of resource-tracker that is unknown here is None.
        """
        wanted = self.recommend_resources(filters.pop("historical_stats", None))
        duration = max(1.0, (self.stop_time or time.time()) - (self.start_time or 0))
        used = self.watch.record() or {}
        if wanted["gpu"] and not {"gpu_manufacturer", "gpu_family", "gpu_model"} & set(filters):
            filters["gpu_manufacturer"] = used.get("gpu_manufacturer")  # its programs run on no other GPUs
        filters = {"limit": 1, "duration": round(duration, 1), **filters}
        answer = self.watch.exporter.get_json(
            "/servers", cpu=wanted["cpu"], memory=wanted["memory"], gpu=wanted["gpu"] or None,
            vram=wanted["vram"] or None, **filters)
        if not answer["servers"]:
            raise RuntimeError("no server of the catalogue fits")
        server = answer["servers"][0]
        name, price = server["api_reference"], server["price"]
        return {**dict.fromkeys(SERVER_KEYS), "name": name, "display_name": name, "min_price": price,
                f"min_price_{server['allocation']}": price, **server}

    def report(self, integration: str = "standalone", historical_stats: Optional[List[Dict[str, Any]]] = None,
               status_failed: bool = False, integration_version: Optional[str] = None) -> Report:
        """The page of the run, live or ended: one HTML text. The arguments are accepted and not needed."""
        del integration, historical_stats, status_failed, integration_version
        self.wait_for_samples(n=1, timeout=self.interval * 5)
        if not self.running:
            self.watch.settle(2 * self.interval + 1)
        return Report(self.watch.report_html())

    # ---- the machine ----

    @property
    def server_info(self) -> Optional[Dict[str, Any]]:
        """get_server_info(), and allocation: shared if others use the machine as well, dedicated if not."""
        if self._server_info is None and self.discover_server:
            self._server_info = get_server_info()
        if self._server_info is not None:
            self._server_info["allocation"] = self._allocation()
        return self._server_info

    def _allocation(self) -> Optional[str]:
        table = self._read()
        cpu = [(row["process_cpu_usage"], row["system_cpu_usage"]) for row in table]
        known = [(own, all_) for own, all_ in cpu if own is not None and all_ is not None]
        if not known:
            return None
        own, total = mean(pair[0] for pair in known), mean(pair[1] for pair in known)
        return "shared" if total > own * 1.25 or total > own + 0.25 else "dedicated"

    @property
    def cloud_info(self) -> Optional[Dict[str, Any]]:
        """get_cloud_info(), asked for once."""
        if self._cloud_info is None and self.discover_cloud:
            self._cloud_info = get_cloud_info()
        return self._cloud_info

    # ---- as a file ----

    def snapshot(self) -> Dict[str, Any]:
        """All that is known, to be kept as JSON."""
        stop = self.stop_time or time.time()
        start = self.start_time or stop
        return {
            "metadata": {
                "version": 1, "resource_tracker": {"version": _version(), "implementation": "rightsize-exporter"},
                "pid": self.pid, "children": self.children, "interval": self.interval, "method": self.method,
                "autostart": self.autostart, "track_processes": self.track_processes,
                "track_system": self.track_system, "discover_server": self.discover_server,
                "discover_cloud": self.discover_cloud, "start_time": start, "stop_time": stop,
                "duration": round(stop - start + self.interval, 2), "job_name": self.job_name,
                "memory_peak_mib": self._peak_mib(),
            },
            "server_info": self.server_info, "cloud_info": self.cloud_info,
            "process_metrics": self.process_metrics.to_dict(), "system_metrics": self.system_metrics.to_dict(),
        }

    @classmethod
    def from_snapshot(cls, snapshot: Dict[str, Any]) -> "ResourceTracker":
        """A stopped tracker with the metrics of a snapshot. It has no report, as the history may be elsewhere."""
        meta = snapshot["metadata"]
        tracker = cls(pid=meta["pid"], interval=meta["interval"], autostart=False,
                      track_processes=meta["track_processes"], track_system=meta["track_system"],
                      discover_server=False, discover_cloud=False, job_name=meta.get("job_name"))
        tracker._loaded_peak_mib = meta.get("memory_peak_mib")
        tracker.start_time, tracker.stop_time = meta["start_time"], meta["stop_time"]
        tracker._server_info, tracker._cloud_info = snapshot["server_info"], snapshot["cloud_info"]
        frame = TinyDataFrame(data=[])
        for prefix in ("system_", "process_"):
            part = TinyDataFrame(data=snapshot[f"{prefix}metrics"])
            for name in part.columns:
                frame[name if name == "timestamp" else prefix + name] = part[name]
        tracker._frozen = frame
        return tracker

    def dumps(self) -> str:
        """The snapshot as JSON."""
        import json
        return json.dumps(self.snapshot())

    @classmethod
    def loads(cls, s: str) -> "ResourceTracker":
        """from_snapshot() of JSON."""
        import json
        return cls.from_snapshot(json.loads(s))

    def dump(self, file: str) -> None:
        """Writes the snapshot to a file of gzipped JSON."""
        import gzip
        with gzip.open(file, "wb") as f:
            f.write(self.dumps().encode())

    @classmethod
    def load(cls, file: str) -> "ResourceTracker":
        """Reads a file of dump()."""
        import gzip
        with gzip.open(file, "rb") as f:
            return cls.loads(f.read().decode())


def _version() -> str:
    from . import __version__
    return __version__


class _Writer:
    """Writes the samples as CSV while they are taken; the caller waits. Ends with the process, or by an interrupt."""

    _prefix = ""

    def __init__(self, pid: Optional[int], start_time: Optional[float], interval: float, autostart: bool,
                 output_file: Optional[str]):
        self.pid, self.start_time, self.interval, self.status = pid, start_time, interval, "running"
        if autostart:
            time.sleep(max(0.0, (start_time or 0) - time.time()))
            self.start_tracking(output_file)

    def start_tracking(self, output_file: Optional[str] = None, print_header: bool = True) -> None:
        """Writes a line per interval to the file or to the standard output, until the process is gone."""
        out: IO[str] = open(output_file, "w", encoding="utf-8", newline="") if output_file else sys.stdout
        tracker = ResourceTracker(pid=self.pid, interval=self.interval, autostart=False, private=True)
        written = 0
        try:
            tracker.start(strict=True)
            while True:
                table = tracker._part(self._prefix, True)
                if written == 0 and print_header and table.columns:
                    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(table.columns)
                    print_header = False
                for row in table[written:]:
                    text = io.StringIO()
                    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(row.values())
                    out.write(text.getvalue())
                    written += 1
                out.flush()
                if tracker._has_ended():
                    self.status = "exited"
                    return
                time.sleep(self.interval)
        finally:
            tracker.cleanup()
            if output_file:
                out.close()


class ProcessTracker(_Writer):
    """Writes samples of a process and all below it as CSV; the columns are those of ResourceTracker.process_metrics.

    pid: the process, by default this one; start_time: seconds since 1970 to wait for; interval: seconds; autostart:
    writes at once, and the constructor returns when the process is gone; output_file: in place of the standard output;
    csv_file_path: its older name.
    """

    _prefix = "process_"

    def __init__(self, pid: Optional[int] = None, start_time: Optional[float] = None, interval: float = 1,
                 children: bool = True, autostart: bool = True, output_file: Optional[str] = None,
                 csv_file_path: Optional[str] = None):
        del children
        super().__init__(pid, start_time, interval, autostart, output_file or csv_file_path)


class SystemTracker(_Writer):
    """Writes samples of the machine as CSV; the columns are those of ResourceTracker.system_metrics.

    The arguments are those of ProcessTracker.
    """

    _prefix = "system_"

    def __init__(self, start_time: Optional[float] = None, interval: float = 1, autostart: bool = True,
                 output_file: Optional[str] = None, csv_file_path: Optional[str] = None):
        super().__init__(None, start_time, interval, autostart, output_file or csv_file_path)


class PidTracker(ProcessTracker):
    """The old name of ProcessTracker."""

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn("PidTracker is the old name of ProcessTracker", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)
