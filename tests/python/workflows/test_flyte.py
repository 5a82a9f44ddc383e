"""rightsize_exporter.flyte with the real flytekit: tasks on this machine, and what would be registered."""
import os
import time
import unittest
from collections import OrderedDict
from unittest import mock

from case import MIB, Workflows
from flytekit import task, workflow
from flytekit.configuration import Image, ImageConfig, SerializationSettings
from flytekit.tools.translator import get_serializable

from rightsize_exporter import advice
from rightsize_exporter import flyte as ours


@task
@ours.track
def load(size: int) -> int:
    held = bytearray(b"x" * size)
    time.sleep(1.5)
    return len(held)


@task
@ours.track
def broken(size: int) -> int:
    return 1 // size


@workflow
def etl() -> int:
    return load(size=100 << 20)


class Flyte(Workflows):
    def test_each_run_of_a_task_is_a_run(self):
        self.assertEqual(etl(), 100 << 20)
        (run,) = self.ended("load")
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreater(run["memory_peak_bytes"], 100 * MIB)
        with self.assertRaises(Exception):
            broken(size=0)
        self.assertEqual([run["outcome"] for run in self.ended("broken")], ["failed"])

    def test_in_a_pod_the_job_is_that_of_the_workflow_and_the_task(self):
        with mock.patch.dict(os.environ, {"FLYTE_INTERNAL_EXECUTION_WORKFLOW": "project:domain:etl.etl",
                                          "FLYTE_INTERNAL_TASK_NAME": "etl.load", "FLYTE_INTERNAL_EXECUTION_ID": "f1",
                                          "FLYTE_ATTEMPT_NUMBER": "1"}):
            load(size=1)
        (run,) = self.ended("etl.etl/etl.load")
        self.assertEqual((run["attempt"], run["labels"]), (2, {"run": "f1"}))

    def test_an_exporter_that_does_not_answer_changes_no_task(self):
        self.silent_exporter()
        self.assertEqual(load(size=1), 1)
        self.assertIsNone(self.registered())

    @staticmethod
    def registered():
        """The resources of the node, as Flyte's server would get them."""
        @workflow
        def sized() -> int:
            return ours.sized(load(size=1), "etl.etl/etl.load")
        image = Image(name="default", fqn="image", tag="1")
        settings = SerializationSettings(project="p", domain="d", version="1", image_config=ImageConfig(image))
        return get_serializable(OrderedDict(), settings, sized).template.nodes[0].task_node.overrides.resources

    def test_a_node_gets_what_is_advised_when_the_workflow_is_registered(self):
        self.learn("etl.etl/etl.load")
        wanted = advice.resources("etl.etl/etl.load", cpu_limit=True)
        found = self.registered()
        self.assertEqual({one.value for one in found.requests}, set(wanted["requests"].values()))
        self.assertEqual({one.value for one in found.limits}, set(wanted["limits"].values()))
        self.assertEqual(len(found.limits), 2)

    def test_a_sized_task_runs_on_this_machine(self):
        self.learn("etl.etl/etl.load")

        @workflow
        def sized() -> int:
            return ours.sized(load(size=7), "etl.etl/etl.load")
        self.assertEqual(sized(), 7)


if __name__ == "__main__":
    unittest.main()
