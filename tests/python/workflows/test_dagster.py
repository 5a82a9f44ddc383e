"""rightsize_exporter.dagster with the real Dagster, and the pods that dagster-k8s would make."""
import time
import unittest

from case import MIB, Workflows

from dagster import DynamicOut, DynamicOutput, RetryPolicy, asset, job, materialize, op
from rightsize_exporter import advice
from rightsize_exporter import dagster as ours


@op
@ours.track
def load(context) -> int:
    """Has a context, which the decorator must hand on."""
    held = bytearray(b"x" * (100 << 20))
    time.sleep(1.5)
    return len(held) if context.run_id else 0


@op(retry_policy=RetryPolicy(max_retries=1))
@ours.track
def flaky(context):
    if context.retry_number == 0:
        raise ValueError("first")


@op(out=DynamicOut())
def parts():
    yield DynamicOutput(1, "a")
    yield DynamicOutput(2, "b")


@op
@ours.track
def each(x: int) -> int:
    return x


@job
def etl():
    load()
    flaky()
    parts().map(each)


@asset
@ours.track
def table() -> int:
    return 1


class Dagster(Workflows):
    def test_each_run_of_a_step_is_a_run(self):
        result = etl.execute_in_process()
        self.assertEqual(result.output_for_node("load"), 100 << 20)
        (run,) = self.ended("etl/load")
        self.assertEqual((run["outcome"], run["labels"]["run"]), ("succeeded", result.run_id))
        self.assertGreater(run["memory_peak_bytes"], 100 * MIB)
        self.assertEqual({(run["attempt"], run["outcome"]) for run in self.ended("etl/flaky", 2)},
                         {(1, "failed"), (2, "succeeded")})
        self.assertEqual({run["labels"]["task"] for run in self.ended("etl/each", 2)}, {"a", "b"})

    def test_an_asset_is_a_step(self):
        self.assertTrue(materialize([table]).success)
        self.assertEqual([run["outcome"] for run in self.ended("__ephemeral_asset_job__/table")], ["succeeded"])

    def test_a_step_runs_outside_of_dagster_and_beside_an_exporter_that_does_not_answer(self):
        self.assertEqual(each(3), 3)
        self.silent_exporter()
        self.assertTrue(materialize([table]).success)

    def test_the_tags_give_the_pod_of_a_step_its_size(self):
        from dagster_k8s.job import K8sConfigMergeBehavior, get_user_defined_k8s_config
        self.assertEqual(ours.tags("etl/load"), {})
        self.learn("etl/load")
        wanted = advice.resources("etl/load")
        sized = op(tags=ours.tags("etl/load", container_config={"image_pull_policy": "Always", "resources": {
            "limits": {"nvidia.com/gpu": "1", "cpu": "8"}}}))(load.compute_fn.decorated_fn)
        config = get_user_defined_k8s_config(sized.tags)
        self.assertEqual(config.container_config, {"image_pull_policy": "Always", "resources": {
            "requests": wanted["requests"], "limits": {"memory": wanted["limits"]["memory"], "nvidia.com/gpu": "1"}}})
        self.assertEqual(config.merge_behavior, K8sConfigMergeBehavior.DEEP)


if __name__ == "__main__":
    unittest.main()
