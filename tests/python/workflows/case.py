"""The tests of workflow systems share this: a history of their own, and jobs that are known and safe to size."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from test_package import PACKAGE, Case, rightsize, wait_until  # noqa: E402,F401

from rightsize_exporter import _server, advice  # noqa: E402

MIB = 1 << 20


class Workflows(Case):
    """Each test has a history, and no silence after a question that had no answer."""

    def setUp(self):
        super().setUp()
        advice._silent_until = 0.0

    @staticmethod
    def learn(job_name, number=3, **more):
        """Makes the job known: so many runs of 300 MiB and half a core."""
        now = time.time()
        runs = []
        for index in range(number):
            columns = {"cpu_cores": {"n": 60, "mean": 0.4, "min": 0.1, "max": 0.5, "p50": 0.4, "p95": 0.5, "p99": 0.5},
                       "memory_bytes": {"n": 60, "mean": 250 * MIB, "min": 200 * MIB, "max": 300 * MIB, "p50": 250 * MIB,
                                        "p95": 300 * MIB, "p99": 300 * MIB},
                       "memory_peak_bytes": {"n": 60, "max": 300 * MIB}, "cpu_seconds": {"n": 60, "sum": 24.0}}
            runs.append({"job_name": job_name, "run_id": f"{job_name}-{index}".replace("/", "-"), "samples": 60,
                         "started_at": now - 1000 + 100 * index, "ended_at": now - 940 + 100 * index, "interval_seconds": 1.0,
                         "duration_seconds": 60.0, "outcome": "succeeded", "columns": columns, **more})
        _server.shared().address.ask("POST", "/runs", runs)

    def silent_exporter(self):
        """The address of a service that takes requests and never answers."""
        import socket
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(str(self.folder / "silent.sock"))
        server.listen(64)
        os.environ["RIGHTSIZE_URL"] = f"unix:{self.folder}/silent.sock"
        self.addCleanup(os.environ.pop, "RIGHTSIZE_URL", None)
