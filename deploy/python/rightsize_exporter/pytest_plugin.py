"""pytest --rightsize: each test module is a run of the job pytest/MODULE, and the end of the report has its peak."""
from typing import Any, Dict, List, Optional

import pytest

from .watch import Watch

SENT = "rightsize_runs"  # under this key, a worker of pytest-xdist sends its records
NUMBERS = ("memory_peak_bytes", "cpu_seconds", "duration_seconds")


def pytest_addoption(parser: Any) -> None:
    """Adds the options. Without --rightsize nothing is watched."""
    group = parser.getgroup("rightsize")
    group.addoption("--rightsize", action="store_true", help="record what each test module uses, and show its peak")
    group.addoption("--rightsize-prefix", default="pytest/", metavar="TEXT", help="before the name of the module (pytest/)")


def pytest_configure(config: Any) -> None:
    """Begins with the option alone."""
    if config.getoption("--rightsize"):
        config.pluginmanager.register(Plugin(config), "rightsize-runs")


class Plugin:
    """Watches one module after the other. The tests of a module may come in parts, and in several workers."""

    def __init__(self, config: Any):
        self._prefix = config.getoption("--rightsize-prefix")
        self._output: Optional[Dict[str, Any]] = getattr(config, "workeroutput", None)
        self._watches: List[Watch] = []
        self._records: List[Dict[str, Any]] = []  # job_name and NUMBERS of each run that has ended
        self._module: Optional[str] = None
        self._failed: Dict[str, bool] = {}

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        """Begins a run with the first test of a module, and ends it after the last one."""
        del nextitem
        module = item.nodeid.split("::")[0]
        if module != self._module:
            self._end()
            self._module = module
            self._watches.append(Watch(f"{self._prefix}{module}"[:199]).begin())

    def _end(self, is_interrupted: bool = False) -> None:
        if self._module is not None:
            self._watches[-1].end("interrupted" if is_interrupted else
                                  "failed" if self._failed.get(self._module) else "succeeded")
        self._module = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes which module has a failed test."""
        if report.failed and self._module is not None:
            self._failed[self._module] = True

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """Ends the last run. A worker sends its records to the process that prints the report."""
        self._end(exitstatus == pytest.ExitCode.INTERRUPTED)
        for watch in self._watches:
            try:
                run = watch.settle() if watch.run_id else None
            except (OSError, RuntimeError):  # the exporter does not answer
                run = None
            if run:
                self._records.append({"job_name": watch.job_name, **{name: run.get(name) for name in NUMBERS}})
        if self._output is not None:
            self._output[SENT] = self._records

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes the records of a worker."""
        self._records += getattr(node, "workeroutput", {}).get(SENT, [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints a line per module: memory at most, CPU time, duration."""
        from ._notebook import _bytes, _seconds
        if self._records:
            terminalreporter.section("rightsize: memory at most, CPU time, duration")
        for name in dict.fromkeys(record["job_name"] for record in self._records):
            runs = [record for record in self._records if record["job_name"] == name]
            known = {number: [run[number] for run in runs if run[number] is not None] for number in NUMBERS}
            memory, cpu, duration = (known[number] or [None] for number in NUMBERS)
            total = [None if values == [None] else sum(values) for values in (cpu, duration)]
            terminalreporter.write_line(f"{_bytes(max(memory)):>10}  {_seconds(total[0]):>8}  {_seconds(total[1]):>8}  "
                                        f"{name[len(self._prefix):]}")
