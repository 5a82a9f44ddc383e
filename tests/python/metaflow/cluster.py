"""@rightsize on a real cluster. Run by name (tests/python/run.sh cluster): pods of Metaflow, S3 by moto, a central exporter.

    ADDRESS: of this machine, as the pods reach it; IMAGE: with Python, boto3 and requests, or where pip works (python:3.11)
    KUBECONFIG as ever; the secret rightsize-test is made and removed in the namespace default, its jobs stay
Three runs make a history, the next one sizes itself, is killed for memory once, and is tried again.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ADDRESS = os.environ["ADDRESS"]
STEPS = {"start": 1, "fit": 3, "join": 1, "grow": 1, "fail": 1, "end": 1}
PEAKS = {"fit": 200, "grow": 200}  # MiB that a step holds, and more is measured
SECRET = "rightsize-test"
S3 = f"http://{ADDRESS}:9956"
KEYS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1"}
# Asks the client for what a run has left.
LEFT = """
import json, sys
from metaflow import Run, namespace
from metaflow.cards import get_cards
namespace(None)
print(json.dumps([{"step": step.id, "cards": [card.get() for card in get_cards(task)],
                   "told": sum(datum.name == "rightsize" for datum in task.metadata),
                   "artifact": task["rightsize"].data if "rightsize" in task else None}
                  for step in Run("PodsFlow/" + sys.argv[1]) for task in step]))
"""


def environment(folder):
    return {**os.environ, **KEYS, "METAFLOW_USER": "nobody", "METAFLOW_HOME": str(folder), "METAFLOW_DEFAULT_METADATA": "local",
            "METAFLOW_DEFAULT_DATASTORE": "s3", "METAFLOW_S3_ENDPOINT_URL": S3,
            "METAFLOW_DATASTORE_SYSROOT_S3": "s3://bucket/metaflow", "METAFLOW_DATATOOLS_S3ROOT": "s3://bucket/data",
            "METAFLOW_KUBERNETES_NAMESPACE": "default", "METAFLOW_KUBERNETES_SECRETS": SECRET,
            # Without this quality of service, Metaflow gives its pods no limit, and the killed one would take the whole node.
            "METAFLOW_KUBERNETES_QOS": "Guaranteed", "METAFLOW_KUBERNETES_MEMORY": "1000", "METAFLOW_KUBERNETES_CPU": "2",
            "METAFLOW_KUBERNETES_CONTAINER_IMAGE": os.environ.get("IMAGE", "python:3.11"),
            "METAFLOW_KUBERNETES_IMAGE_PULL_POLICY": "IfNotPresent",
            "RIGHTSIZE_URL": f"http://{ADDRESS}:9955", "RIGHTSIZE_HISTORY_PATH": str(folder / "here" / "history.db")}


class Cluster:
    def __init__(self, folder):
        self.folder, self.environment = folder, environment(folder)

    def call(self, *words, **more):
        done = subprocess.run(words, cwd=self.folder, env={**self.environment, **more}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout[-4000:]}"
        assert "[@rightsize]" not in done.stdout, done.stdout
        return done.stdout

    def flow(self, *words, **more):
        began = time.time()
        text = self.call("python", "pods.py", "run", "--with", "kubernetes", *words, **more)
        run = text.split("run-id ")[1].split(")")[0]
        print(f"run {run}: {time.time() - began:.0f} s")
        return run

    def runs(self, step):
        answer = self.call("rightsize-exporter", "runs", f"--job-name=PodsFlow/{step}", "--limit=100", "--details",
                           f"--history.path={self.folder / 'central.db'}")
        return json.loads(answer)["runs"]

    def pods(self, run):
        """The size of each attempt of a run, as the pods have it: step, attempt, MB requested, MB at most, reason of the end."""
        from kubernetes import client, config
        from kubernetes.utils import parse_quantity
        config.load_kube_config()
        found = []
        for pod in client.CoreV1Api().list_namespaced_pod("default").items:
            notes, resources = pod.metadata.annotations or {}, pod.spec.containers[0].resources
            if notes.get("metaflow/run_id") == run:
                sizes = [float(parse_quantity(part["memory"])) / 1e6 for part in (resources.requests, resources.limits)]
                found.append((notes["metaflow/step_name"], int(notes["metaflow/attempt"]), *sizes,
                              pod.status.container_statuses[0].state.terminated.reason))
        return sorted(found)


def check_left(cluster, run):
    """Each task has its record, its artifact and its last cards."""
    left = json.loads(cluster.call("python", "-c", LEFT, run))
    assert {step: sum(task["step"] == step for task in left) for step in STEPS} == STEPS
    for task in left:
        kept = task["artifact"]
        assert kept["job_name"] == f"PodsFlow/{task['step']}" and task["told"], task["step"]
        assert kept["outcome"] == ("failed" if task["step"] == "fail" else "succeeded")
        assert task["cards"] and all('RELOAD_TOKEN="final"' in card for card in task["cards"]), task["step"]
    return {task["step"]: task for task in left}


def check_history(cluster, flows):
    for step, number in STEPS.items():
        runs = [run for run in cluster.runs(step) if run["outcome"] != "oom_killed"]
        assert len(runs) == number * flows, (step, len(runs))
        for run in runs:
            assert run["memory_peak_bytes"] > PEAKS.get(step, 0) / 2 * 2 ** 20, run
        print(step, [run["memory_peak_bytes"] >> 20 for run in runs], "MiB")


def check_tuned(cluster):
    """A run that sizes itself: down, up after a kill; and one with a small request: up."""
    run = cluster.flow("--with", "rightsize:tune=True", "--kill=True")
    pods = cluster.pods(run)
    print(*pods, sep="\n")
    task = check_left(cluster, run)["grow"]
    first, second = (pod for pod in pods if pod[0] == "grow")
    assert first[4] == "OOMKilled" and first[2] == first[3] < 1000 and second[2] > 1.2 * first[2], (first, second)
    assert all(pod[2] < 1000 for pod in pods if pod[0] == "fit")
    assert abs(task["artifact"]["applied"]["memory_bytes"] / 1e6 - second[2]) < 1, task["artifact"]
    assert sum("ran out of memory at its limit" in card for card in task["cards"]) == 1
    killed = [run for run in cluster.runs("grow") if run["outcome"] == "oom_killed"]
    assert [(one["attempt"], one["memory_limit_bytes"] / 1e6) for one in killed] == [(1, first[3])], killed
    run = cluster.flow("--with", "rightsize:tune=True", "--with", "retry:times=2,minutes_between_retries=0",
                       METAFLOW_KUBERNETES_MEMORY="350")
    pods = cluster.pods(run)
    print(*pods, sep="\n")
    assert all(pod[2] > 400 for pod in pods if pod[0] == "fit")


def check_deployment(cluster):
    made = cluster.call("python", "pods.py", "--with", "kubernetes", "--with", "rightsize:tune=True", "argo-workflows", "create",
                        "--only-json")
    templates = json.loads(made[made.index("{"):])["spec"]["templates"]
    sizes = {one["name"]: one["container"]["resources"]["requests"]["memory"] for one in templates if "container" in one}
    print("argo-workflows", sizes)
    assert float(sizes["fit"].rstrip("M")) < 1000


def main():
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-cluster-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        shutil.copy(HERE / "flows" / "pods.py", folder)
        cluster = Cluster(folder)
        for words in (["moto_server", "-H", ADDRESS, "-p", "9956"],
                      ["rightsize-exporter", "serve", f"--web.listen-address={ADDRESS}:9955", "--web.allow-changes",
                       "--no-jobs.recognise", "--log.level=warn", f"--history.path={folder / 'central.db'}"]):
            server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.terminate)
        time.sleep(5)
        cluster.call("python", "-c", f"import boto3; boto3.client('s3', endpoint_url='{S3}').create_bucket(Bucket='bucket')")
        values = {**KEYS, **({"METAFLOW_SKIP_INSTALL_DEPENDENCIES": "1"} if "IMAGE" in os.environ else {})}
        cluster.call("kubectl", "create", "secret", "generic", SECRET, *(f"--from-literal={key}={value}" for key, value in values.items()))
        stack.callback(cluster.call, "kubectl", "delete", "secret", SECRET)
        for _ in range(3):
            check_left(cluster, cluster.flow("--with", "rightsize"))
        check_history(cluster, 3)
        check_tuned(cluster)
        check_deployment(cluster)
    print("all is as it should be")


if __name__ == "__main__":
    sys.exit(main())
