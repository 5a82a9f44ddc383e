"""rightsize_exporter.airflow with the real Airflow: a run of a DAG by LocalExecutor, and pods as they would be created."""
import contextlib
import importlib.metadata
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HOME = tempfile.TemporaryDirectory(prefix="airflow-")
BIN = pathlib.Path(sys.executable).parent
os.environ.update(AIRFLOW_HOME=HOME.name, AIRFLOW__CORE__LOAD_EXAMPLES="False", KUBECONFIG=f"{HOME.name}/config/kube", PATH=f"{BIN}:{os.environ['PATH']}")
FILES = {"plugins/rightsize.py": "from rightsize_exporter.airflow import RightsizePlugin\n",
         "config/airflow_local_settings.py": "from rightsize_exporter.airflow import pod_mutation_hook\n",
         "config/kube": """
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
current-context: none
""",
         "dags/etl.py": """
import os, signal, time
from datetime import timedelta
try:
    from airflow.sdk import dag, get_current_context, task
    from airflow.sdk.exceptions import AirflowSkipException
except ImportError:
    from airflow.decorators import dag, task
    from airflow.exceptions import AirflowSkipException
    from airflow.operators.python import get_current_context

@dag(dag_id="etl", schedule=None, is_paused_upon_creation=False)
def etl():
    @task
    def load():
        held = bytearray(b"x" * (100 << 20))
        time.sleep(1.5)
        return [1, 2]

    @task
    def each(x):
        time.sleep(0.2)

    @task(retries=1, retry_delay=timedelta(seconds=0))
    def flaky():
        if get_current_context()["ti"].try_number == 1:
            raise ValueError("first")

    @task
    def skipped():
        raise AirflowSkipException("no")

    @task
    def killed():
        time.sleep(0.5)
        if os.environ.get("WITH_KILL"):
            os.kill(os.getpid(), signal.SIGKILL)

    flaky(), skipped(), killed(), each.expand(x=load())

etl()
"""}
for _name, _text in FILES.items():
    (pathlib.Path(HOME.name) / _name).parent.mkdir(exist_ok=True)
    (pathlib.Path(HOME.name) / _name).write_text(_text)

from case import MIB, PACKAGE, Workflows, rightsize, wait_until  # noqa: E402
import test_package  # noqa: E402

AIRFLOW = str(BIN / "airflow")
DAG_SECONDS = 240
IS_OLD = int(importlib.metadata.version("apache-airflow").split(".")[0]) < 3
HEALTH = "/health" if IS_OLD else "/api/v2/monitor/health"
SKIPPED = "Marking task as SKIPPED" if IS_OLD else "new_state=skipped"


def airflow(*words, **environment):
    """Runs a command of Airflow, and returns its output."""
    answer = subprocess.run([AIRFLOW, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                            env={**os.environ, **environment}, timeout=DAG_SECONDS, check=False)
    if answer.returncode:
        raise AssertionError(answer.stdout[-4000:])
    return answer.stdout


def setUpModule():  # pylint: disable=invalid-name
    airflow("db", "migrate", PYTHONPATH=str(PACKAGE))


class Checked(Workflows):
    def check(self):
        (load,) = self.ended("etl/load")
        self.assertEqual(load["outcome"], "succeeded")
        self.assertGreater(load["memory_peak_bytes"], 100 * MIB)
        self.assertEqual({run["labels"]["task"] for run in self.ended("etl/each", 2)}, {"0", "1"})
        self.assertEqual({(run["attempt"], run["outcome"]) for run in self.ended("etl/flaky", 2)},
                         {(1, "failed"), (2, "succeeded")})
        # Airflow 2 tells a listener nothing of a task that skips itself.
        self.assertIn(self.ended("etl/skipped")[0]["outcome"], ["unknown", "succeeded"] if IS_OLD else ["unknown"])


class Runs(Checked):
    def test_each_task_of_a_dag_that_is_tried_out_is_a_run(self):
        airflow("dags", "test", "etl")
        self.check()

    def test_an_exporter_that_does_not_answer_delays_a_task_little_and_a_missing_one_not_at_all(self):
        self.silent_exporter()
        self.assertIn("is not watched", airflow("tasks", "test", "etl", "skipped"))
        del os.environ["RIGHTSIZE_URL"]
        self.assertIn(SKIPPED,
                      airflow("tasks", "test", "etl", "skipped", RIGHTSIZE_EXPORTER="/nowhere", PATH="/usr/bin:/bin"))


def linux():
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def answers(port):
    """True when the API of Airflow works. Until then, each task fails before it runs."""
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}{HEALTH}", timeout=10):
        return True
    return False


class Executor(Checked):
    def test_each_task_that_the_local_executor_runs_is_a_run(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            number = free.getsockname()[1]
        port = str(number)
        environment = {**os.environ, "AIRFLOW__CORE__EXECUTOR": "SequentialExecutor" if IS_OLD else "LocalExecutor",
                       "AIRFLOW__WEBSERVER__WEB_SERVER_PORT": port, "AIRFLOW__API__PORT": port, "WITH_KILL": "1",
                       "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
                       "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}", "AIRFLOW__API__WORKERS": "1",
                       # A loaded machine needs more than 5 s for an answer. The task would fail before it runs.
                       "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60", "AIRFLOW__CORE__PARALLELISM": "2"}
        log = self.folder / "standalone.log"
        with open(log, "wb") as file:
            server = subprocess.Popen([AIRFLOW, "standalone"], stdout=file, stderr=file, env=environment, start_new_session=True)
        self.addCleanup(server.wait, 60)
        self.addCleanup(os.killpg, server.pid, signal.SIGTERM)
        self.addCleanup(setattr, test_package, "DEADLINE", test_package.DEADLINE)
        test_package.DEADLINE = DAG_SECONDS
        wait_until(lambda: b"etl" in subprocess.run([AIRFLOW, "dags", "list"], stdout=subprocess.PIPE, env=environment,
                                                    check=False).stdout, "the DAG")
        # Another test may have made the DAG known long before.
        wait_until(lambda: answers(number), "the API of Airflow")
        airflow("dags", "unpause", "etl", **environment)
        airflow("dags", "trigger", "etl", **environment)
        self.check()
        (killed,) = self.ended("etl/killed")
        # Airflow reaps the process. Linux says how it ended from 6.15 on (PIDFD_GET_INFO), and earlier only while it is there.
        seen = [("failed", signal.SIGKILL)] + [("unknown", None)] * (linux() < (6, 15))
        self.assertIn((killed["outcome"], killed["exit_signal"]), seen)


class Pods(Workflows):
    """Nothing here needs a cluster: these are the objects that Airflow hands to its client."""

    @classmethod
    def setUpClass(cls):
        import airflow.settings  # reads config/airflow_local_settings.py

    @staticmethod
    def of_executor(task_id="load", tries=1, run_id="manual__1", override=None):
        """The pod that the Kubernetes executor makes for a task."""
        from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator
        from kubernetes.client import models as k8s
        template = k8s.V1Pod(metadata=k8s.V1ObjectMeta(), spec=k8s.V1PodSpec(containers=[k8s.V1Container(
            name="base", resources=k8s.V1ResourceRequirements(requests={"memory": "64Gi", "cpu": "8"},
                                                              limits={"cpu": "8", "nvidia.com/gpu": "1"})),
            k8s.V1Container(name="sidecar")]))
        return PodGenerator.construct_pod(
            dag_id="etl", task_id=task_id, pod_id="pod", try_number=tries, kube_image="image", date=None, args=["true"],
            pod_override_object=override, base_worker_pod=template, namespace="n", scheduler_job_id="1", run_id=run_id,
            with_mutation_hook=True)

    @staticmethod
    def of_operator(tries=1):
        """The pod that KubernetesPodOperator makes."""
        from types import SimpleNamespace

        from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
        from kubernetes.client import models as k8s
        operator = KubernetesPodOperator(task_id="load", name="load", image="image", cmds=["true"], container_resources=(
            k8s.V1ResourceRequirements(requests={"memory": "64Gi"})))
        ti = SimpleNamespace(dag_id="etl", task_id="load", run_id="manual__1", map_index=-1, try_number=tries)
        return operator, operator.build_pod_request_obj({"ti": ti, "run_id": "manual__1", "dag": SimpleNamespace(),
                                                         "task": operator}, **({} if IS_OLD else {"dry_run": True}))

    def test_the_pods_of_the_executor_and_of_the_operator_get_what_is_advised(self):
        from rightsize_exporter import advice
        self.learn("etl/load")
        wanted = advice.resources("etl/load")
        pod = self.of_executor()
        base, sidecar = pod.spec.containers
        self.assertEqual(base.resources.requests, wanted["requests"])
        self.assertEqual(base.resources.limits, {"memory": wanted["limits"]["memory"], "nvidia.com/gpu": "1"})
        self.assertIsNone(sidecar.resources)
        self.assertEqual(self.of_operator()[1].spec.containers[0].resources.requests, wanted["requests"])

    def test_a_try_after_a_kill_for_memory_gets_more_and_after_another_failure_the_same(self):
        from rightsize_exporter import advice
        self.learn("etl/load")
        first, second = (advice.resources("etl/load", attempt)["requests"]["memory"] for attempt in (1, 2))
        self.assertNotEqual(first, second)

        def memory(**words):
            return self.of_executor(**words).spec.containers[0].resources.requests["memory"]
        self.assertEqual(memory(tries=2), second)  # its exporter may have been killed with it
        watch = rightsize.Watch("etl/load", attempt=1, labels={"run": "manual__1"}).begin()
        watch.end("failed")
        watch.settle()
        self.assertEqual(memory(tries=2), first)
        self.assertEqual(memory(tries=2, run_id="manual__2"), second)

    def test_what_is_unknown_or_not_safe_changes_nothing(self):
        self.learn("etl/load", number=2)
        for task_id in ("load", "other"):
            self.assertEqual(self.of_executor(task_id).spec.containers[0].resources.requests, {"memory": "64Gi", "cpu": "8"})
        self.silent_exporter()
        self.assertEqual(self.of_executor().spec.containers[0].resources.requests["memory"], "64Gi")

    def test_the_task_that_waits_for_a_pod_is_no_run_of_the_job(self):
        from rightsize_exporter import airflow as ours
        operator, _ = self.of_operator()
        self.assertTrue(ours._works_elsewhere(operator))
        self.assertFalse(ours._works_elsewhere(object()))


if __name__ == "__main__":
    unittest.main()
