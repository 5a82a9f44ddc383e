"""pytest --rightsize: each test module is a run of the job pytest/MODULE, and the end of the report has its peak."""
from typing import Any, Dict, List, Optional

from .watch import Watch


def pytest_addoption(parser: Any) -> None:
    """Adds the options. Without --rightsize nothing is watched."""
    group = parser.getgroup("rightsize")
    group.addoption("--rightsize", action="store_true", help="record what each test module uses, and show its peak")
    group.addoption("--rightsize-prefix", default="pytest/", metavar="TEXT", help="before the name of the module (pytest/)")


def pytest_configure(config: Any) -> None:
    """Begins with the option alone."""
    if config.getoption("--rightsize"):
        config.pluginmanager.register(Plugin(config.getoption("--rightsize-prefix")), "rightsize-runs")


class Plugin:
    """Watches one module after the other."""

    def __init__(self, prefix: str):
        self._prefix = prefix
        self._watches: List[Watch] = []
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

    def _end(self) -> None:
        if self._module is not None:
            self._watches[-1].end("failed" if self._failed.get(self._module) else "succeeded")
        self._module = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes which module has a failed test."""
        if report.failed and self._module is not None:
            self._failed[self._module] = True

    def pytest_sessionfinish(self) -> None:
        """Ends the last run."""
        self._end()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Prints a line per module: memory at most, CPU time, duration."""
        from ._notebook import _bytes, _seconds
        if self._watches:
            terminalreporter.section("rightsize: memory at most, CPU time, duration")
        for watch in self._watches:
            if watch.run_id is None:
                continue
            run = watch.settle() or {}
            terminalreporter.write_line(
                f"{_bytes(run.get('memory_peak_bytes')):>10}  {_seconds(run.get('cpu_seconds')):>8}  "
                f"{_seconds(run.get('duration_seconds')):>8}  {watch.job_name[len(self._prefix):]}")
