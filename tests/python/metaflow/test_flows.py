"""The extension in flows of the real Metaflow. Run by name (tests/python/run.sh metaflow): it needs Metaflow, moto, kubernetes.

    PATH=ENVIRONMENT/bin:$PATH RIGHTSIZE_EXPORTER=PROGRAM test_flows.py [TEST...]
    EXTENSION: folder of the extension, where the environment has no wheel of it
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FLOWS = HERE / "flows"
BUCKET = "bucket"
CENTRAL = "127.0.0.2:9955"  # an address of this machine that is not called local
LOCAL = "127.0.0.1:9957"
S3_PORT = 9956
MIB = 1 << 20
# Asks the client for what a task has left: in a process of its own, as the client keeps the folder of the first flow.
TASKS = """
import json, sys
from metaflow import Flow, namespace
from metaflow.cards import get_cards
namespace(None)
found = []
for run in Flow(sys.argv[1]):
    for task in run[sys.argv[2]]:
        data = {name: artifact.data for name, artifact in ((a.id, a) for a in task) if name in sys.argv[3:]}
        cards = [{"type": card.type, "html": card.get()} for card in get_cards(task)]
        found.append({"run": run.id, "successful": task.successful, "data": data, "cards": cards})
print(json.dumps(found))
"""

# In place of a cluster whose pods run out of memory: as Metaflow says it with its service, and as it does with local metadata.
NO_CLUSTER = """
import json
import sys
from datetime import datetime, timezone
from types import SimpleNamespace as Any
from metaflow.plugins.kubernetes import kubernetes, kubernetes_client

def launch(*args, env, memory, **kwargs):
    assert env["RIGHTSIZE_HELPER"] == "1"
    assert env["METAFLOW_FLOW_FILENAME"] == "tuned.py"
    assert json.loads(env["RIGHTSIZE_METAFLOW"])["applied"]["memory_bytes"] == int(memory) * 1e6, (env, memory)
    # The hooks of @kubernetes send the local metadata away.
    assert sys.modules["__main__"].TunedFlow.start.decorators[0].name == "rightsize"
    if SERVICE:
        raise kubernetes.KubernetesException("Task ran out of memory. Increase the available memory.")
    print("[pod t-1] Task finished with exit code 137.")
    raise ValueError("No completed attempts of the task was found")

def read(name, namespace, _request_timeout):
    assert (name, namespace) == ("t-1", "default")
    now = datetime.now(timezone.utc)
    ended = Any(reason="OOMKilled", started_at=now, finished_at=now)
    return Any(status=Any(container_statuses=[Any(name="start", state=Any(terminated=ended))]),
               spec=Any(containers=[Any(name="start", resources=Any(limits={"memory": "500M"}))]))

kubernetes.Kubernetes.launch_job = launch
kubernetes_client.KubernetesClient = lambda: Any(get=lambda: Any(CoreV1Api=lambda: Any(read_namespaced_pod=read)))
"""
NO_QUEUE = """
from metaflow.plugins.aws.batch import batch

def launch(*args, env, **kwargs):
    assert env["RIGHTSIZE_HELPER"] == "1"
    raise batch.BatchException("OutOfMemoryError: Container killed due to memory usage")

batch.Batch.launch_job = launch
"""
# Makes the queue that a job definition of Metaflow looks for.
QUEUE = """
import boto3, sys
iam, batch, ec2 = (boto3.client(name, endpoint_url=sys.argv[1]) for name in ("iam", "batch", "ec2"))
group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
machines = {"type": "EC2", "minvCpus": 0, "maxvCpus": 4, "desiredvCpus": 0, "instanceTypes": ["m5.large"],
            "subnets": [ec2.describe_subnets()["Subnets"][0]["SubnetId"]], "securityGroupIds": [group],
            "instanceRole": iam.create_instance_profile(InstanceProfileName="machine")["InstanceProfile"]["Arn"]}
role = iam.create_role(RoleName="service", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
made = batch.create_compute_environment(computeEnvironmentName="machines", type="MANAGED", state="ENABLED", serviceRole=role,
                                        computeResources=machines)["computeEnvironmentArn"]
batch.create_job_queue(jobQueueName="queue", state="ENABLED", priority=1,
                       computeEnvironmentOrder=[{"order": 1, "computeEnvironment": made}])
"""


def wait_for(answer, what, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            result = answer()
            if result:
                return result
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


class Flows(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-flows-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for flow in FLOWS.glob("*.py"):
            shutil.copy(flow, self.folder)
        kept = ("PATH", "HOME", "LANG", "RIGHTSIZE_EXPORTER")
        self.environment = {**{name: os.environ[name] for name in kept if name in os.environ}, "METAFLOW_USER": "nobody",
                            "METAFLOW_HOME": str(self.folder), "RIGHTSIZE_HISTORY_PATH": str(self.folder / "history.db"),
                            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.environ.get("EXTENSION", "")}

    def call(self, *words, fine=True, **environment):
        done = subprocess.run(words, cwd=self.folder, env={**self.environment, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)
        if fine is not None:
            self.assertEqual(done.returncode == 0, fine, done.stdout + done.stderr)
        return done

    def flow(self, name, *words, **options):
        done = self.call("python", f"{name}.py", *words, **options)
        self.assertFalse("[@rightsize]" in done.stdout + done.stderr, done.stderr[-2000:])
        return done.stdout

    def tasks(self, flow, step, *artifacts):
        """Returns the tasks of all runs, the newest first."""
        return json.loads(self.call("python", "-c", TASKS, flow, step, *artifacts).stdout)

    def program(self, *words):
        done = self.call(os.environ["RIGHTSIZE_EXPORTER"], *words, f"--history.path={self.folder / 'history.db'}")
        return json.loads(done.stdout)

    def runs(self, job_name):
        """Returns the runs of the history, the newest first, when all have ended."""
        def ended():
            runs = self.program("runs", f"--job-name={job_name}", "--limit=100", "--details")["runs"]
            return runs if all(run["outcome"] != "running" for run in runs) else None
        return wait_for(ended, f"the end of the runs of {job_name}")

    def rows(self, flow, **environment):
        return {row["step"]: row for row in json.loads(self.flow(flow, "rightsize", "--json", **environment))}


class Watching(Flows):
    def test_a_step_has_a_card_an_artifact_and_a_row(self):
        self.flow("minimal", "run")
        task, = self.tasks("MinimalFlow", "work", "rightsize", "resource_tracker_data")
        kept = task["data"]["rightsize"]
        self.assertEqual((kept["job_name"], kept["outcome"], kept["attempt"]), ("MinimalFlow/work", "succeeded", 1))
        self.assertGreater(kept["stats"]["memory_peak_bytes"], 300 * MIB)
        self.assertEqual(kept["stats"]["processes_max"], 1)
        self.assertIn("memory", kept["recommendation"])
        self.assertGreater(kept["cost"]["per_run"], 0)
        self.assertNotIn("resource_tracker_data", task["data"])
        card, = task["cards"]
        self.assertEqual(card["type"], "rightsize")
        for text in ("<svg", "work", kept["run_id"], 'METAFLOW_RELOAD_TOKEN="final"'):
            self.assertTrue(text in card["html"], text)
        self.assertEqual(self.runs("MinimalFlow/work")[0]["run_id"], kept["run_id"])
        row = self.rows("minimal")["work"]
        self.assertEqual((row["runs"], row["requested"]), (1, {"cpu": None, "memory_bytes": None}))
        self.assertGreater(row["recommended"]["memory_bytes"], 300 * MIB)
        print(self.flow("minimal", "rightsize"))

    def test_the_name_and_the_artifact_of_resource_tracker(self):
        for _ in range(2):
            self.flow("minimal", "run", TRACK="1")
        newest = self.tasks("MinimalFlow", "work", "resource_tracker_data")[0]["data"]["resource_tracker_data"]
        self.assertEqual(set(newest), {"step_failed", "tracker", "historical_stats"})
        self.assertEqual(set(newest["tracker"]), {"metadata", "server_info", "cloud_info", "process_metrics", "system_metrics"})
        self.assertEqual((newest["step_failed"], len(newest["historical_stats"])), (False, 1))
        self.assertIsInstance(newest["tracker"]["process_metrics"], list)

    def test_a_whole_flow_is_watched_without_a_change(self):
        source = (self.folder / "minimal.py").read_text()
        (self.folder / "minimal.py").write_text(source.replace("    @watched\n", ""))
        self.flow("minimal", "run", "--with", "rightsize:live=0")
        for step in ("start", "work", "end"):
            task, = self.tasks("MinimalFlow", step, "rightsize")
            self.assertEqual((task["data"]["rightsize"]["job_name"], len(task["cards"])), (f"MinimalFlow/{step}", 1))

    def test_the_card_is_live_and_the_step_is_not_charged_for_it(self):
        flow = subprocess.Popen(["python", "minimal.py", "run"], cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        page = wait_for(lambda: next((path for path in self.folder.rglob("cards/rightsize-*.html")), None), "a card")
        self.assertTrue("render-seq-" in page.read_text())
        flow.wait()
        self.assertTrue('"final"' in page.read_text())

    def test_the_tasks_of_a_foreach_share_a_history(self):
        self.flow("wide", "run", "--max-workers=4")
        tasks = self.tasks("WideFlow", "fit", "rightsize")
        self.assertEqual((len(tasks), len(self.runs("WideFlow/fit"))), (20, 20))
        self.assertEqual({len(task["cards"]) for task in tasks}, {1})
        self.assertEqual(self.rows("wide")["fit"]["runs"], 20)

    def test_nodes_of_parallel_are_runs_of_their_own(self):
        self.flow("nodes", "run")
        runs = self.runs("NodesFlow/multi")
        self.assertEqual([run["outcome"] for run in runs], ["succeeded"] * 3)
        for run in runs:
            self.assertLess(run["memory_peak_bytes"], 200 * MIB)
            self.assertEqual(run["processes_max"], 1)

    def test_a_server_that_finds_steps_by_itself_has_one_run_of_a_task(self):
        server = subprocess.Popen([os.environ["RIGHTSIZE_EXPORTER"], "serve", f"--web.listen-address={LOCAL}", "--web.allow-changes",
                                   f"--history.path={self.folder / 'history.db'}"], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        self.flow("minimal", "run", RIGHTSIZE_URL=f"http://{LOCAL}")
        self.assertEqual(len(self.runs("MinimalFlow/work")), 1)
        jobs = [job["job_name"] for job in self.program("jobs")["jobs"]]
        self.assertEqual([name for name in jobs if name.endswith("/work")], ["MinimalFlow/work"])

    def test_the_exporter_cannot_be_had_and_the_flow_runs(self):
        done = self.call("python", "minimal.py", "run", RIGHTSIZE_EXPORTER="/bin/false")
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "[@" in line]
        self.assertEqual((len(lines), "not watched" in lines[1]), (2, True), lines)  # where it starts, and in the task
        self.assertTrue("The step was not watched" in self.tasks("MinimalFlow", "work")[0]["cards"][0]["html"])
        done = self.call("python", "minimal.py", "rightsize", fine=False, RIGHTSIZE_URL="http://[")
        self.assertEqual(done.stderr.splitlines()[-1], "Error: http://[ is no address of an exporter: Invalid IPv6 URL")

    def test_a_step_without_a_place_for_its_history_is_watched(self):
        self.environment["TMPDIR"] = str(self.folder / "tmp")
        (self.folder / "tmp").mkdir()
        self.flow("minimal", "run", RIGHTSIZE_HISTORY_PATH="/proc/no/history.db")
        task, = self.tasks("MinimalFlow", "work", "rightsize")
        self.assertEqual((task["data"]["rightsize"]["outcome"], len(task["cards"])), ("succeeded", 1))
        wait_for(lambda: not list((self.folder / "tmp").glob("rightsize-*")), "the end of all that was made")


class Ending(Flows):
    def test_tasks_end_as_they_do_and_have_a_card(self):
        self.flow("ends", "run", "--fail=True", fine=False)
        first, second = reversed(self.runs("EndsFlow/killed"))
        self.assertEqual([(run["outcome"], run["exit_signal"], run["attempt"]) for run in (first, second)],
                         [("failed", signal.SIGKILL, 1), ("succeeded", None, 2)])
        killed, = self.tasks("EndsFlow", "killed")
        self.assertEqual(len(killed["cards"]), 2)
        for card, run in zip(sorted(killed["cards"], key=lambda card: second["run_id"] in card["html"]), (first, second)):
            self.assertTrue('RELOAD_TOKEN="final"' in card["html"] and run["run_id"] in card["html"])
        for step in ("caught", "late", "end"):
            with self.subTest(step=step):
                task, = self.tasks("EndsFlow", step, "rightsize")
                self.assertEqual((len(task["cards"]), task["data"]["rightsize"]["outcome"]),
                                 (1, "DeadlineExceeded" if step == "late" else "failed"))
                run, = self.runs(f"EndsFlow/{step}")
                self.assertEqual(run["outcome"], "failed")
        self.assertEqual(self.runs("EndsFlow/late")[0]["end_reason"], "DeadlineExceeded")

    def test_the_last_attempt_that_is_killed_has_a_last_card(self):
        flow = self.folder / "ends.py"
        flow.write_text(flow.read_text().replace("times=1", "times=0"))
        self.flow("ends", "run", fine=False)
        card, = self.tasks("EndsFlow", "killed")[0]["cards"]
        run, = self.runs("EndsFlow/killed")
        self.assertTrue('RELOAD_TOKEN="final"' in card["html"] and run["run_id"] in card["html"])


class Tuning(Flows):
    def test_a_task_that_is_killed_for_memory_gets_more(self):
        for _ in range(4):
            self.flow("memory", "run")
        self.flow("memory", "run", "--mib=400")
        newest, *_ = self.tasks("MemoryFlow", "start", "rightsize")
        kept = newest["data"]["rightsize"]
        self.assertGreater(kept["attempt"], 1)
        self.assertGreater(kept["applied"]["memory_bytes"], 400 * MIB)
        self.assertLess(kept["applied"]["memory_bytes"], 4096e6)
        self.assertIn("ran out of memory", kept["why"])
        self.assertTrue(kept["why"] in "".join(card["html"] for card in newest["cards"]))
        print(kept["why"])

    def know(self, job_name, mib):
        """Puts three runs into the history, which no other load of this machine makes unsafe to apply."""
        now = time.time()
        lines = [json.dumps({
            "run_id": f"{number}" * 32, "job_name": job_name, "started_at": now - 100 * number, "ended_at": now - 100 * number + 60,
            "duration_seconds": 60, "outcome": "succeeded", "samples": 60, "columns": {
                "cpu_seconds": {"n": 60, "sum": 30}, "memory_peak_bytes": {"n": 60, "max": mib * MIB},
                **{name: {"n": 60, "mean": most / 2, "min": 0, "max": most, "p50": most / 2, "p95": most, "p99": most}
                   for name, most in (("cpu_cores", 0.6), ("memory_bytes", mib * MIB))}}}) for number in (3, 2, 1)]
        (self.folder / "runs.jsonl").write_text("\n".join(lines))
        self.call(os.environ["RIGHTSIZE_EXPORTER"], "import", "runs.jsonl", f"--history.path={self.folder / 'history.db'}")

    def test_a_pod_that_was_killed_for_memory_gets_more(self):
        self.know("TunedFlow/start", 250)
        self.s3()
        flow = self.folder / "tuned.py"
        source = flow.read_text()
        for service in (True, False):
            with self.subTest(service=service):
                stub = NO_CLUSTER.replace("SERVICE", str(service))
                flow.write_text(source.replace("class TunedFlow", f"{stub}\n\nclass TunedFlow"))
                done = self.call("python", "tuned.py", "--datastore=s3", "run", "--with=kubernetes",
                                 "--with=retry:times=2,minutes_between_retries=0", fine=False, METAFLOW_DEBUG_SUBCOMMAND="1")
                self.assertNotIn("[@rightsize]", done.stdout + done.stderr)
                asked = [int(number) for number in re.findall(r"--memory (\d+)", done.stdout + done.stderr)]
                self.assertEqual((len(asked), sorted(set(asked))), (3, asked), asked)
                self.assertLess(asked[0], 600)
                print(asked)
        killed = [run for run in self.runs("TunedFlow/start") if run["outcome"] == "oom_killed"]
        self.assertEqual([(run["attempt"], run["memory_limit_bytes"], run["labels"]["step"]) for run in killed],
                         [(attempt, 500e6, "start") for attempt in (3, 2, 1)])
        self.assertEqual([run["requested_memory_bytes"] / 1e6 for run in reversed(killed)], asked)
        cards = self.call("python", "-c", "import boto3, os\n"
                          f"c = boto3.client('s3', endpoint_url='{self.environment['METAFLOW_S3_ENDPOINT_URL']}')\n"
                          f"for o in c.list_objects_v2(Bucket='{BUCKET}', Prefix='metaflow/mf.cards')['Contents']:\n"
                          f"    print(c.get_object(Bucket='{BUCKET}', Key=o['Key'])['Body'].read().decode())").stdout
        self.assertEqual(cards.count("ran out of memory at its limit of 500 MB"), 3)

    def test_other_deployments_have_the_sizes(self):
        for _ in range(3):
            self.flow("tuned", "run")
        wanted = self.rows("tuned")["start"]["recommended"]
        self.s3()
        self.environment.update(METAFLOW_BATCH_JOB_QUEUE="queue", METAFLOW_SFN_IAM_ROLE="arn:aws:iam::1:role/x",
                                METAFLOW_ECS_S3_ACCESS_IAM_ROLE="arn:aws:iam::1:role/x", METAFLOW_SFN_DYNAMO_DB_TABLE="table",
                                METAFLOW_EVENTS_SFN_ACCESS_IAM_ROLE="arn:aws:iam::1:role/x",
                                AWS_ENDPOINT_URL=self.environment["METAFLOW_S3_ENDPOINT_URL"])
        self.call("python", "-c", QUEUE, self.environment["AWS_ENDPOINT_URL"])
        made = self.flow("tuned", "--datastore=s3", "--with=batch:memory=9000,cpu=3", "step-functions", "create", "--only-json")
        overrides = json.loads(made[made.index("{"):])["States"]["start"]["Parameters"]["ContainerOverrides"]
        size = {one["Type"]: float(one["Value"]) for one in overrides["ResourceRequirements"]}
        print("step-functions", size)
        self.assertLess(size["MEMORY"], 600)
        self.assertLess(size["VCPU"], 3)
        self.assertIn({"Name": "RIGHTSIZE_HELPER", "Value": "1"}, overrides["Environment"])
        self.flow("tuned", "--datastore=s3", "airflow", "create", "dag.py")
        dag = (self.folder / "dag.py").read_text()
        self.assertIn(f"'memory': '{wanted['memory_bytes'] / 1e6:.0f}M'", dag)
        self.assertNotIn("8192M", dag)
        flow = self.folder / "tuned.py"
        flow.write_text(flow.read_text().replace("class TunedFlow", f"{NO_QUEUE}\n\nclass TunedFlow"))
        done = self.call("python", "tuned.py", "--datastore=s3", "run", "--with=batch", "--with=retry:times=2,minutes_between_retries=0",
                         fine=False, METAFLOW_DEBUG_SUBCOMMAND="1")
        asked = [int(number) for number in re.findall(r"--memory (\d+)", done.stdout + done.stderr)]
        print("batch", asked)
        self.assertEqual((len(asked), sorted(set(asked)), asked[0]), (3, asked, size["MEMORY"]), done.stdout[-3000:])

    def test_a_history_elsewhere_reaches_every_task(self):
        central = subprocess.Popen([os.environ["RIGHTSIZE_EXPORTER"], "serve", f"--web.listen-address={CENTRAL}", "--web.allow-changes",
                                    f"--history.path={self.folder / 'central.db'}", "--no-jobs.recognise"], stderr=subprocess.DEVNULL)
        self.addCleanup(central.wait)
        self.addCleanup(central.terminate)
        url = {"RIGHTSIZE_URL": f"http://{CENTRAL}"}
        for number in range(4):
            self.flow("tuned", "run", **url, RIGHTSIZE_HISTORY_PATH=str(self.folder / str(number) / "history.db"))
            if number < 3:
                shutil.rmtree(self.folder / ".metaflow")
        row = wait_for(lambda: self.rows("tuned", **url, RIGHTSIZE_HISTORY_PATH=str(self.folder / "other" / "history.db"))["start"], "a row")
        self.assertGreaterEqual(row["runs"], 3)
        self.assertIsNotNone(self.tasks("TunedFlow", "start", "rightsize")[0]["data"]["rightsize"]["applied"])

    def test_a_deployment_has_the_sizes_and_its_pods_the_history(self):
        for _ in range(3):
            self.flow("tuned", "run")
        # The runs come from the metadata of the tasks from here on.
        self.environment["RIGHTSIZE_HISTORY_PATH"] = str(self.folder / "other" / "history.db")
        self.s3()
        made = self.flow("tuned", "--datastore=s3", "argo-workflows", "create", "--only-json")
        workflow = json.loads(made[made.index("{"):])
        containers = {template["name"]: template["container"] for template in workflow["spec"]["templates"] if "container" in template}
        requests = {name: containers[name]["resources"]["requests"] for name in ("start", "end")}
        print(json.dumps(requests))
        self.assertEqual(requests["end"]["memory"], "150M")
        self.assertLess(int(requests["start"]["memory"].rstrip("M")), 600)
        self.assertLess(float(requests["start"]["cpu"]), 4)
        made = self.flow("tuned", "--datastore=s3", "--with=retry:times=2", "argo-workflows", "create", "--only-json")
        patches = {template["name"]: template.get("podSpecPatch")
                   for template in json.loads(made[made.index("{"):])["spec"]["templates"]}
        print(patches["start"])
        first = requests["start"]["memory"].rstrip("M")
        self.assertRegex(patches["start"], r'"requests": {"memory": "{{=\[' + first + r', \d+, \d+, \d+]\[asInt\(retries\)')
        self.assertIsNone(patches["end"])  # its bound leaves no room
        node = subprocess.Popen([os.environ["RIGHTSIZE_EXPORTER"], "serve", f"--web.listen-address={LOCAL}",
                                 f"--history.path={self.folder / 'node.db'}"], stderr=subprocess.DEVNULL)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        card = self.pod(containers["start"])
        self.assertIsNone(node.poll())
        node.terminate()
        node.wait()
        jobs = json.loads(self.call(os.environ["RIGHTSIZE_EXPORTER"], "jobs", f"--history.path={self.folder / 'node.db'}").stdout)["jobs"]
        self.assertEqual([job["job_name"] for job in jobs if job["job_name"].endswith("/start")], [])
        self.assertTrue("in place of 4 CPU, 8192 MB" in card, card[:2000])
        self.assertEqual(len(json.loads(self.call(os.environ["RIGHTSIZE_EXPORTER"], "runs", "--job-name=TunedFlow/start",
                                                  f"--history.path={self.folder / 'pod' / 'pod.db'}").stdout)["runs"]), 4)

    def test_the_code_package_of_any_flow_works_without_the_wheel(self):
        flow = self.folder / "minimal.py"
        for has_program in (True, False):
            with self.subTest(has_program=has_program):
                self.flow("minimal", "package", "save", "code.tgz")
                names = self.call("tar", "-tzf", "code.tgz").stdout
                for name, wanted in (("watch.py", True), ("bin/rightsize-exporter", has_program), ("metaflow_plan.json", has_program)):
                    self.assertEqual(f"rightsize_exporter/{name}" in names, wanted, name)
            flow.write_text(flow.read_text().replace("    @watched\n", ""))

    def s3(self):
        server = subprocess.Popen(["moto_server", "-H", "127.0.0.1", "-p", str(S3_PORT)], env=self.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        url = f"http://127.0.0.1:{S3_PORT}"
        self.environment.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="y", AWS_DEFAULT_REGION="us-east-1",
                                METAFLOW_S3_ENDPOINT_URL=url, METAFLOW_DATASTORE_SYSROOT_S3=f"s3://{BUCKET}/metaflow",
                                METAFLOW_DATATOOLS_S3ROOT=f"s3://{BUCKET}/data")
        make = f"import boto3; boto3.client('s3', endpoint_url='{url}').create_bucket(Bucket='{BUCKET}')"
        wait_for(lambda: subprocess.run(["python", "-c", make], env=self.environment, stderr=subprocess.DEVNULL,
                                        check=True) and True, "moto")

    def pod(self, container):
        """Runs the command of a container as a pod would, with what is in its code package alone, and returns its card."""
        bare, pod = self.folder / "bare", self.folder / "pod"
        pod.mkdir()
        subprocess.run([sys.executable, "-m", "venv", bare], check=True)
        subprocess.run([bare / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "boto3", "requests"], check=True)

        def put(text):
            return re.sub(r"\{\{[a-zA-Z.]+\}\}", "tuned-x1", text).replace("/tmp/mf-input-paths", f"{pod}/input-paths")
        environment = {one["name"]: put(one["value"]) for one in container["env"] if isinstance(one.get("value"), str)}
        environment.update({f"METAFLOW_KUBERNETES_{name}": "x" for name in (
            "POD_NAME", "POD_NAMESPACE", "POD_ID", "SERVICE_ACCOUNT_NAME", "NODE_IP", "NAMESPACE")})
        environment.update({name: value for name, value in self.environment.items() if name.startswith("AWS_")},
                           PATH=f"{bare}/bin:/usr/bin:/bin", HOME=str(pod), TMPDIR=str(pod), METAFLOW_SKIP_INSTALL_DEPENDENCIES="1",
                           RIGHTSIZE_HISTORY_PATH=str(pod / "pod.db"))
        # It fails at the end, where it writes to a folder that Argo mounts.
        subprocess.run([put(word) for word in container["command"]], env=environment, cwd=pod, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        read = (f"import boto3; c = boto3.client('s3', endpoint_url='http://127.0.0.1:{S3_PORT}')\n"
                f"keys = [o['Key'] for o in c.list_objects_v2(Bucket='{BUCKET}', Prefix='metaflow/mf.cards')['Contents']]\n"
                f"key, = [key for key in keys if key.endswith('.html')]\n"
                f"print(c.get_object(Bucket='{BUCKET}', Key=key)['Body'].read().decode())")
        return self.call("python", "-c", read).stdout


if __name__ == "__main__":
    unittest.main()
