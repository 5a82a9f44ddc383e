"""rightsize_exporter.prefect with the real Prefect and its server for one run; the pod that a work pool would start."""
import asyncio
import os
import time
import unittest
from unittest import mock

from case import MIB, Workflows
from prefect import flow, task
from prefect.testing.utilities import prefect_test_harness
from prefect.utilities.templating import apply_values

from rightsize_exporter import advice
from rightsize_exporter import prefect as ours


@task
def part():
    held = bytearray(b"x" * (100 << 20))
    time.sleep(1.5)
    return len(held)


@flow(name="etl")
@ours.track
def load(size: int = 1):
    return size * part()


@flow(retries=1)
@ours.track
def flaky():
    from prefect.runtime import flow_run
    if flow_run.run_count == 1:
        raise ValueError("first")


@flow
@ours.track
async def later():
    await asyncio.sleep(0.1)
    return 3


class Prefect(Workflows):
    @classmethod
    def setUpClass(cls):
        harness = prefect_test_harness(server_startup_timeout=120)
        harness.__enter__()
        cls.addClassCleanup(harness.__exit__, None, None, None)

    def test_each_run_of_a_flow_is_a_run(self):
        self.assertEqual(load(), 100 << 20)
        (run,) = self.ended("etl")
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreater(run["memory_peak_bytes"], 100 * MIB)
        flaky()
        self.assertEqual({(run["attempt"], run["outcome"]) for run in self.ended("flaky", 2)},
                         {(1, "failed"), (2, "succeeded")})
        self.assertEqual(asyncio.run(later()), 3)
        self.ended("later")

    def test_the_job_of_a_deployment_is_that_of_its_name(self):
        with mock.patch.dict(os.environ, {"PREFECT__DEPLOYMENT_NAME": "prod"}):
            asyncio.run(later())
        self.assertTrue(self.ended("later/prod")[0]["labels"]["run"])

    def test_a_flow_runs_outside_of_prefect_and_beside_an_exporter_that_does_not_answer(self):
        self.assertEqual(asyncio.run(later.fn()), 3)
        self.ended("later")
        self.silent_exporter()
        self.assertEqual(asyncio.run(later()), 3)
        self.assertEqual(ours.job_variables("etl/prod", image="etl:1"), {"image": "etl:1"})

    def test_the_variables_give_the_pod_its_size(self):
        self.learn("etl/prod")
        wanted = advice.resources("etl/prod")
        container = {"name": "prefect-job", "image": "{{ image }}", "resources": "{{ resources }}"}
        self.assertEqual(apply_values(container, ours.job_variables("etl/prod", image="etl:1")), {
            "name": "prefect-job", "image": "etl:1", "resources": {
                "requests": wanted["requests"], "limits": {"memory": wanted["limits"]["memory"]}}})
        self.assertEqual(apply_values(container, ours.job_variables("etl/other")), {"name": "prefect-job"})


if __name__ == "__main__":
    unittest.main()
