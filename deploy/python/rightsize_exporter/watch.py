"""The inside interface: watch this process as a run of a job, end the run, and ask for what is known of it.

    watch = Watch("etl/load").begin()          # starts no thread and touches no signal handler
    ...
    watch.end("succeeded")                     # does not wait for the last sample
    watch.settle()                             # waits until the history has all of it, 2 seconds at most
    watch.record()                             # the run, as of GET /runs: memory_peak_bytes, cpu_seconds, ...
    watch.samples()                            # a TinyDataFrame with the 32 columns of resource-tracker
    watch.recommendation()                     # what to request next time, as of GET /recommend
    watch.report_html()                        # the page of the run: one HTML text that needs nothing else

Integrations (decorators, notebooks, workflow systems) need no more than this class. begin() and end() raise no
error into the job: they warn. A question raises an error if no answer can be had.
"""
import atexit
import os
import sys
import time
import warnings
from _thread import RLock  # the import of threading takes longer
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import _program, _server
from ._http import Refused, TimedOut

if TYPE_CHECKING:
    from .tiny_data_frame import TinyDataFrame

HAND_OVER_SECONDS = 5.0  # longest wait until a central exporter has the run of a pod that then ends
OUTCOMES = ("succeeded", "failed", "oom_killed", "interrupted", "unknown", "DeadlineExceeded")


def warn(text: str, stacklevel: int = 2) -> None:
    """Warns. If warnings are errors, prints the text instead, because no job may end by a warning."""
    try:
        warnings.warn(f"rightsize: {text}", RuntimeWarning, stacklevel=stacklevel + 1)
    except RuntimeWarning as warning:
        try:
            if sys.stderr is not None:
                print(warning, file=sys.stderr)
        except (OSError, ValueError):  # it is closed
            pass


def own_peak() -> Optional[int]:
    """The most memory that this process has had, in bytes. None: /proc does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None


def _peak_of_children() -> int:
    """The most memory of one process that this one has waited for, in bytes; 0 if it may be that of a copy of this one.

    A child is a copy of this process until it executes a program, and the kernel counts that copy. ru_maxrss of RUSAGE_SELF
    counts what started this process in the same way, so the own peak is not taken from it.
    """
    from resource import RUSAGE_CHILDREN, getrusage
    own, peak = own_peak(), getrusage(RUSAGE_CHILDREN).ru_maxrss * 1024
    return peak if own is not None and peak > own else 0


def default_job_name() -> str:
    """The name of the job of this process: RIGHTSIZE_JOB_NAME, else the name of the script, else python."""
    given = os.environ.get("RIGHTSIZE_JOB_NAME")
    if given:
        return given
    words = [word for word in sys.argv[:1] if word not in ("", "-", "-c", "-m")]
    return os.path.splitext(os.path.basename(words[0]))[0] if words else "python"


def in_pod() -> bool:
    """True in a pod of Kubernetes, which takes its exporter along when the job has ended."""
    return "KUBERNETES_SERVICE_HOST" in os.environ


class Watch:
    """One run of a job: this process and all below it, from begin() to end().

    job_name: 1 to 199 bytes; names that stay the same from run to run make a history.
    pid: another process of this machine and user; None = this process.
    from_now: False counts from the start of the process on, True from begin() on.
    cpu: cores that were requested; memory: bytes, or a text such as "4Gi"; input_bytes: size of the input.
    labels: up to 8 texts; attempt: which attempt this is, from 1 on. system: the format of the line to paste, such as
    "metaflow" or "airflow"; by default docker.
    interval: seconds between samples; another one than 1 makes an exporter and a history for this run alone.
    private: True makes an exporter and a history for this run alone.
    """

    def __init__(self, job_name: Optional[str] = None, *, pid: Optional[int] = None, from_now: bool = True,
                 cpu: Optional[float] = None, memory: "int | str | None" = None, input_bytes: "int | str | None" = None,
                 labels: Optional[Dict[str, str]] = None, attempt: Optional[int] = None, interval: float = 1.0,
                 private: bool = False, folder: Optional[str] = None, system: Optional[str] = None):
        requested = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None}
        self.job_name: str = job_name or default_job_name()
        self.job: Dict[str, Any] = {"job_name": self.job_name}  # what a question names the job by
        self.pid: int = pid or os.getpid()
        body = {"job_name": self.job_name, "pid": self.pid, "from_now": from_now, "requested": requested or None,
                "input_bytes": input_bytes, "labels": labels, "attempt": attempt, "system": system}
        self._body: Dict[str, Any] = {key: value for key, value in body.items() if value is not None}
        self.interval, self._private, self._folder = interval, private or interval != 1.0, folder
        self._owner = 0  # the process that began the run; a forked child must not end it
        self._exporter: Optional[_server.Exporter] = None
        self._peak_before = 0  # of children that this process waited for before the run
        self.run_id: Optional[str] = None

    @property
    def exporter(self) -> "_server.Exporter":
        """The exporter that records the run. RuntimeError: begin() could not watch."""
        if self._exporter is None:
            raise RuntimeError(f"{self.job_name} is not watched")
        return self._exporter

    @property
    def running(self) -> bool:
        """True between begin() and end()."""
        return self._owner == os.getpid()

    def begin(self, strict: bool = False) -> "Watch":
        """Begins the run. Without an exporter it warns, and the job goes on unwatched; `strict` raises instead."""
        try:
            self._begin()
        except Exception as error:  # pylint: disable=broad-except # another service may answer anything
            if strict:
                raise
            warn(f"{self.job_name} is not watched: {error}", 3)
        return self

    def _open(self) -> "_server.Exporter":
        if self._private:
            return _server.private(self.interval, self._folder)
        try:
            return _server.shared()
        except _program.NoHistory as error:
            exporter = _server.private(self.interval, self._folder)
            warn(f"the run of {self.job_name} is not kept: {error}", 5)
            return exporter

    def _announce(self) -> Dict[str, Any]:
        try:
            return self.exporter.announce(self._body)
        except TimedOut:
            raise
        except OSError:  # it was just ending, as no run was left
            self._exporter = self._open()
        except Refused as refused:
            # A server that takes no announcements, or one that ends; a wrong name or value stays wrong.
            if refused.status not in (401, 403, 503) or self._private:
                raise
            self._exporter = _server.private(self.interval, self._folder)
        return self.exporter.announce(self._body)

    def _begin(self) -> None:
        with _lock:
            self._exporter = self._open()
            if self.pid == os.getpid() and self._body["from_now"]:
                self._peak_before = _peak_of_children()
            answer = self._announce()
            self.run_id = run_id = str(answer["run_id"])
            # The exporter may put its jobs into a namespace, and other namespaces may have a job of this name.
            self.job.update((name, answer[name]) for name in ("namespace", "cluster") if name in answer)
            self._owner = os.getpid()
            watches = _open_runs.setdefault(run_id, [])
            if watches:  # the run began with the first of them
                self._peak_before = watches[0]._peak_before
            watches.append(self)

    def end(self, outcome: str = "succeeded", exit_code: Optional[int] = None, reason: Optional[str] = None) -> None:
        """Ends the run, if no other Watch of this process has it open as well, in a block around this one or in a thread.

        Does nothing in a forked child or a second time. outcome: one of OUTCOMES; exit_code: another one than 0 to 255
        is left out; reason: why another system ended it, up to 63 bytes.
        """
        if not self.running:
            return
        with _lock:
            self._owner = 0
            watches = _open_runs.get(self.run_id or "", [])
            if self in watches:
                watches.remove(self)
            if watches:
                return
            _open_runs.pop(self.run_id or "", None)
            known = exit_code is not None and 0 <= exit_code <= 255
            body = {"outcome": outcome, "exit_code": exit_code if known else None, "end_reason": reason,
                    "memory_peak_process_bytes": self._peak_of_waited()}
            self._finish({key: value for key, value in body.items() if value is not None})

    def _peak_of_waited(self) -> Optional[int]:
        """The peak of a child that lived between two samples and that this process waited for, in bytes."""
        if self.pid != os.getpid():
            return None
        peak = _peak_of_children()
        return peak if peak > self._peak_before else None

    def _finish(self, body: Dict[str, Any]) -> None:
        try:
            self.exporter.finish(self.run_id or "", body)
        except Exception as error:  # pylint: disable=broad-except
            status = getattr(error, "status", None)
            if status == 404 and self.pid != os.getpid():
                return  # that process has ended, and the run with it
            warn(f"the end of {self.job_name} is not recorded: {error}", 4)
            if status == 400 and body != {"outcome": "unknown"}:  # the run ends all the same
                self._finish({"outcome": "unknown"})

    def record(self) -> Optional[Dict[str, Any]]:
        """The run so far, as of GET /runs: bytes, seconds and cores; None = not in the history yet.

        A value that was not measured is None, never 0.
        """
        return _server.run_of(self.exporter, self.run_id)

    def settle(self, seconds: float = 2.0) -> Optional[Dict[str, Any]]:
        """Waits so long, at most, until the run that has ended is in the history with all that it used; as record().

        The last sample is taken within an interval after end().
        """
        until = time.monotonic() + seconds
        record = self.record()
        while (record is None or record["outcome"] == "running") and time.monotonic() < until:
            time.sleep(0.02)
            record = self.record()
        return record

    def hand_over(self, seconds: float = HAND_OVER_SECONDS) -> None:
        """Waits until a central exporter has the run that has ended, where the exporter of the run ends with the job.

        Does nothing without RIGHTSIZE_URL of another machine.
        """
        central = _server.central() if self.run_id else None
        until, pause = time.monotonic() + seconds, 0.02
        while central and time.monotonic() < until:
            central.timeout = max(0.1, until - time.monotonic())
            try:
                if _server.run_of(central, self.run_id):
                    return
            except (Refused, OSError):
                pass
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)

    def samples(self, form: str = "resource_tracker") -> "TinyDataFrame":
        """The samples so far. Form resource_tracker: its 32 columns; history: all that is kept, growth per interval.

        An unknown value is None.
        """
        from .tiny_data_frame import TinyDataFrame
        try:
            text = self.exporter.get("/series.csv", run=self.run_id, format=form).decode()
        except Refused as refused:
            if refused.status != 404:
                raise
            text = ""
        return TinyDataFrame.from_csv_text(text)

    def series(self, points: int = 300) -> Dict[str, Any]:
        """The samples ready to be drawn, as of GET /series: rates, phases, thinned to so many points."""
        result: Dict[str, Any] = self.exporter.get_json("/series", run=self.run_id, points=points)
        return result

    def recommendation(self, **parameters: Optional[object]) -> Optional[Dict[str, Any]]:
        """The next request, as of GET /recommend, from all machines' runs where RIGHTSIZE_URL has them.

        None: no successful run is known yet. Parameters are those of the route, such as risk="safe".
        """
        central = _server.central()
        for exporter in [central, self.exporter] if central else [self.exporter]:
            try:
                result: Dict[str, Any] = exporter.get_json("/recommend", **self.job, **parameters)
                return result
            except Refused as refused:
                if refused.status != 404:
                    raise
            except OSError:
                if exporter is self.exporter:
                    raise
        return None

    def paste(self, form: str) -> Optional[str]:
        """The request as text for another system, such as metaflow, kubernetes or slurm; None: no run is known yet."""
        try:
            return self.exporter.get("/recommend", **self.job, format=form).decode()
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def report_html(self) -> str:
        """The page of the run: one HTML text that needs no other file and no network."""
        return self.exporter.get("/report", run=self.run_id).decode()


_open_runs: Dict[str, List[Watch]] = {}  # by run id; the last Watch ends the run
_lock = RLock()


def is_open(job_name: str, pid: int) -> bool:
    """True if this process has a run of this job at the process `pid` open."""
    return any(watch.job_name == job_name and watch.pid == pid for watches in list(_open_runs.values()) for watch in watches)


def _after_fork() -> None:
    """The runs are those of the parent, and a thread that is not here may have held the lock."""
    global _lock  # pylint: disable=global-statement
    _lock = RLock()
    _open_runs.clear()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _end_all() -> None:
    """Ends what is open when the interpreter ends, as failed after an exception that nobody caught."""
    failed = getattr(sys, "last_value", None) is not None
    for watch in [watch for watches in list(_open_runs.values()) for watch in list(watches)]:
        if watch.running and watch.pid == os.getpid():
            watch.end("failed" if failed else "succeeded")
    _server.remove_private()
