"""Tests sizes for systems that start jobs, and which attempt they are for. Needs no package of others."""
import os
import pathlib
import sys
import time
import unittest
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "workflows"))
from case import Workflows, advice, rightsize  # noqa: E402


class Advice(Workflows):
    def test_a_size_is_advised_where_it_is_safe_and_more_after_a_kill(self):
        self.assertIsNone(advice.resources("etl/load"))
        self.learn("etl/load", number=2)
        self.assertIsNone(advice.resources("etl/load"))
        self.learn("etl/load")
        first, second = (advice.resources("etl/load", attempt) for attempt in (1, 2))
        self.assertEqual((sorted(first["requests"]), first["limits"]["cpu"]), (["cpu", "memory"], None))
        self.assertGreater(int(second["requests"]["memory"][:-2]), int(first["requests"]["memory"][:-2]))
        self.assertIsNotNone(advice.resources("etl/load", cpu_limit=True)["limits"]["cpu"])

    def test_the_history_file_answers_without_a_server(self):
        self.learn("etl/load")
        wanted = advice.resources("etl/load")
        self.end_server()
        self.assertEqual(advice.resources("etl/load"), wanted)
        self.assertEqual(self.exporters(), [])

    def end_server(self):
        import signal
        from test_package import wait_until
        for pid in self.exporters():
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not self.exporters(), "the end of the server")

    def test_after_no_answer_none_is_asked_for_a_while(self):
        self.silent_exporter()
        began = time.monotonic()
        for _ in range(50):
            self.assertIsNone(advice.resources("etl/load"))
            self.assertEqual(advice.attempt_after("etl/load", 3, "r"), 3)
        self.assertLess(time.monotonic() - began, 5 * advice.ASK_SECONDS)

    def test_only_attempts_that_did_not_run_out_of_memory_are_left_out(self):
        for attempt, outcome in ((1, "failed"), (2, "oom_killed")):
            watch = rightsize.Watch("etl/load", attempt=attempt, labels={"run": "r", "task": "7"}).begin()
            watch.end(outcome)
            watch.settle()
        self.assertEqual([advice.attempt_after("etl/load", tries, "r", "7") for tries in (1, 2, 3, 4)], [1, 1, 2, 3])
        self.assertEqual(advice.attempt_after("etl/load", 3, "r", "8"), 3)
        self.assertEqual(advice.attempt_after("etl/load", 3, "other", "7"), 3)

    def test_what_is_advised_takes_the_place_of_what_is_written_and_leaves_the_rest(self):
        self.assertEqual(advice.merged({"cpu": "8", "nvidia.com/gpu": "1"}, {"cpu": None, "memory": "1Gi"}),
                         {"nvidia.com/gpu": "1", "memory": "1Gi"})
        self.assertEqual(advice.merged(None, {"cpu": "1"}), {"cpu": "1"})

    def test_a_job_that_cannot_be_described_has_the_name_of_its_function(self):
        from rightsize_exporter.track import Track

        def fit():
            return 1
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            self.assertEqual(Track("etl/fit", describe=lambda: {}["x"])(fit)(), 1)
        self.ended("etl/fit")
        self.assertEqual(Track(describe=lambda: {"job_name": "etl/named"})(fit)(), 1)
        self.ended("etl/named")

    def test_a_job_in_a_pod_ends_when_the_exporter_of_all_machines_has_its_run(self):
        import socket
        import subprocess
        from unittest import mock

        from case import _server
        from rightsize_exporter.track import Track
        from test_package import wait_until
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        central = subprocess.Popen([os.environ["RIGHTSIZE_EXPORTER"], "serve", f"--web.listen-address=127.0.0.1:{port}",
                                    f"--history.path={self.folder}/central.db", "--web.allow-changes", "--no-jobs.recognise"],
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(central.wait)
        self.addCleanup(central.terminate)
        there = {"RIGHTSIZE_URL": f"http://127.0.0.1:{port}", "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
        # The address is on this machine here, so the module is told that it is not.
        with mock.patch.dict(os.environ, there), mock.patch("rightsize_exporter._http.LOOPBACK", ()):
            wait_until(lambda: _server._answers(_server.central().address), "the exporter of all machines")
            block = Track("etl/pod", describe=lambda: {})
            with block:
                pass
            self.assertIsNotNone(_server.run_of(_server.central(), block.watch.run_id))

    def test_a_job_waits_little_for_a_server_that_does_not_answer(self):
        self.silent_exporter()
        began = time.monotonic()
        with self.assertWarns(RuntimeWarning):
            rightsize.Watch("etl/load").begin()
        self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main()
