"""The parts of the Metaflow extension that need no Metaflow: sizes, plans, and runs as messages to another history."""
import contextlib
import importlib
import json
import os
import socket
import sys
import tempfile
import time
import unittest
from datetime import datetime, timezone
from types import SimpleNamespace
from unittest import mock

from test_package import Case, rightsize  # which puts the package on the path

from metaflow_extensions.rightsize.plugins.rightsize import argo, plan, pods, runs, sizes  # noqa: E402
from rightsize_exporter import _server  # noqa: E402
from rightsize_exporter._http import Refused  # noqa: E402


def of_metaflow():
    """The module of the decorator, with stand-ins for what it imports of Metaflow."""
    class StepDecorator:
        def __init__(self, attributes=None):
            self.attributes = {**self.defaults, **(attributes or {})}
    here = "metaflow_extensions.rightsize.plugins.rightsize"
    with mock.patch.dict(sys.modules):
        for name in ("metaflow", *("metaflow." + name for name in (
                "decorators", "metadata_provider", "mflog", "plugins.environment_decorator", "unbounded_foreach",
                "plugins.cards.card_datastore", "plugins.cards.exception"))):
            sys.modules[name] = mock.MagicMock()
        sys.modules["metaflow.decorators"].StepDecorator = StepDecorator
        sys.modules["metaflow.plugins.environment_decorator"].EnvironmentDecorator = \
            lambda: decorator("environment", vars={})
        sys.modules["metaflow.plugins.environment_decorator"].EnvironmentDecorator.name = "environment"
        return importlib.import_module(f"{here}.decorator")


def decorator(name, **attributes):
    return SimpleNamespace(name=name, attributes=attributes)


class Sizes(unittest.TestCase):
    def test_the_request_is_that_of_the_decorator_that_counts(self):
        for decorators, wanted in (([], (None, None)),
                                   ([decorator("resources", cpu=2, memory="4096")], (2.0, 4096e6)),
                                   ([decorator("resources", cpu=2, memory=1), decorator("kubernetes", cpu="1.5", memory=705)],
                                    (1.5, 705e6)),
                                   ([decorator("batch", cpu="1", memory=512)], (1.0, 512 * 2.0 ** 20)),
                                   ([decorator("resources", cpu=None, memory=None)], (None, None))):
            with self.subTest(decorators=decorators):
                self.assertEqual(tuple(sizes.requested(decorators)), wanted)

    def test_a_size_is_set_in_all_of_them_since_the_larger_counts(self):
        decorators = [decorator("resources", cpu=8, memory=9000), decorator("batch", cpu=1, memory=4096), decorator("retry")]
        sizes.apply(decorators, sizes.Size(0.25, 705_000_001))
        self.assertEqual([deco.attributes for deco in decorators],
                         [{"cpu": "0.25", "memory": "706"}, {"cpu": "0.25", "memory": "673"}, {}])

    def test_bounds_hold_a_size_and_leave_the_unknown_alone(self):
        bounds = sizes.Bounds(min_memory=500, max_memory=1000, max_cpu=4)
        self.assertEqual(bounds.hold(sizes.Size(8, 1e6)), sizes.Size(4, 500e6))
        self.assertEqual(bounds.hold(sizes.Size(0.5, 9e9)), sizes.Size(0.5, 1000e6))
        self.assertEqual(bounds.hold(sizes.Size(None, None)), sizes.Size(None, None))

    def test_each_kill_for_memory_takes_the_next_size_and_then_the_last_one(self):
        part = {"attempts": [{"cpu": 1, "memory_bytes": 1}, {"cpu": 1, "memory_bytes": 2}]}
        self.assertEqual([plan.size_of_attempt(part, kills).memory for kills in range(4)], [1, 2, 2, 2])
        self.assertIsNone(plan.size_of_attempt({}, 1))

    def test_a_local_task_reads_its_part_from_the_environment(self):
        part = {"why": "x", "job_name": "Flow/fit"}
        os.environ[plan.VARIABLE] = json.dumps(part)
        self.addCleanup(os.environ.pop, plan.VARIABLE)
        self.assertEqual(plan.of_task("Flow", "fit"), {"step": part, "messages": [], "is_remote": False})
        self.assertEqual(plan.of_task("Inner", "fit")["step"], {})  # a flow that the task starts
        for other in ("{", "[]"):
            os.environ[plan.VARIABLE] = other
            self.assertEqual(plan.of_task("Flow", "fit")["step"], {})
        del os.environ[plan.VARIABLE]
        self.assertEqual(plan.of_task("Flow", "fit")["step"], {})
        os.environ[plan.VARIABLE] = "{}"


class Url(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop(plan.VARIABLE, None)

    def of_flow(self, url):
        """The plan that is made with this RIGHTSIZE_URL."""
        os.environ["RIGHTSIZE_URL"] = url
        flow = mock.MagicMock()
        flow.name = f"Url{url}"
        with mock.patch.object(sizes, "exporters", lambda: [None]):
            return plan.of_flow(flow)

    def test_only_the_address_of_a_central_exporter_goes_to_other_machines(self):
        for url, wanted in (("http://central:9877", True), ("https://central/x", True), ("central", True), ("", False),
                            ("http://localhost:9877", False), ("127.0.0.1:9877", False), ("unix:/run/r.sock", False),
                            ("/run/r.sock", False), ("https://me:secret@central", False), ("https://:secret@central", False)):
            self.assertEqual(self.of_flow(url)["url"], url if wanted else None, url)
            self.assertNotIn("secret", json.dumps(self.of_flow(url)).replace(f"Url{url}", ""))
        with self.assertRaises(OSError):
            self.of_flow("http://[central")
        self.assertEqual(self.of_flow("http://[central")["steps"], {})

    def test_a_pod_takes_no_address_of_the_machine_that_made_its_plan(self):
        for url, wanted in (("http://central", "http://central"), ("unix:/run/r.sock", None), ("http://[::1]:9877", None),
                            (None, None)):
            with open(os.path.join(self.folder.name, plan.FILE), "w", encoding="utf-8") as file:
                json.dump({"url": url, "messages": [], "steps": {}}, file)
            with mock.patch.object(plan.rightsize_exporter, "__file__", os.path.join(self.folder.name, "__init__.py")):
                self.assertEqual(plan.of_task("Flow", "fit")["url"], wanted)


class Central(Case):
    def test_a_silent_one_keeps_the_scheduler_a_second_in_a_minute(self):
        with socket.socket() as server, mock.patch.object(sizes._Central, "_silent_until", 0.0):
            server.bind(("127.0.0.2", 0))
            server.listen(64)
            os.environ["RIGHTSIZE_URL"] = f"http://127.0.0.2:{server.getsockname()[1]}"
            self.addCleanup(os.environ.pop, "RIGHTSIZE_URL")
            with mock.patch.object(_server, "shared", lambda: None):
                central, _ = sizes.exporters()
            began = time.monotonic()
            for _ in range(3):
                self.assertIsNone(sizes.ask([central], "/recommend", job_name="Flow/fit"))
                plan.tell(sizes.exporters()[0], [{"run_id": "a"}])
            self.assertLess(time.monotonic() - began, 3)
            with mock.patch.object(sizes.time, "monotonic", lambda: began + 100):
                self.assertRaises(socket.timeout, central.get, "/jobs")  # which was asked again

    def test_the_sizes_of_all_attempts_are_of_the_source_that_said_safe(self):
        def source(memory, fails_after=99):
            asked = []

            def get(_, attempt=None, **__):
                asked.append(attempt)
                if len(asked) > fails_after:
                    raise OSError
                return f"memory={memory}".encode() if attempt else json.dumps(
                    {"apply": {"safe": True}, "based_on": {"runs": memory}}).encode()
            return SimpleNamespace(get=get)
        deco = SimpleNamespace(tune=True, bounds=sizes.Bounds())
        part = plan._step([source(5, fails_after=3), source(9)], "Flow", "fit", [decorator("resources", cpu=1, memory=1)], deco)
        self.assertEqual([size["memory_bytes"] for size in part["attempts"]], [5e6, 5e6])
        self.assertIn("5 runs", part["why"])


class Argo(unittest.TestCase):
    """The expressions were evaluated with the code of Argo Workflows 3.4 and 3.7, too."""

    @staticmethod
    def completed(attempts, **more):
        template = {"metadata": {"annotations": {argo.STEP: "fit"}}, "retryStrategy": {"limit": 2},
                    "container": {"resources": {"requests": {"memory": "705M", "cpu": "1"}}}, **more}
        argo.complete(template, {"fit": {"attempts": [{"cpu": 1, "memory_bytes": memory} for memory in attempts]}})
        return template.get("podSpecPatch")

    def test_each_retry_gets_the_memory_of_its_attempt_and_the_last_one_stays(self):
        patch = json.loads(self.completed([705e6, 1.41e9, 2_820_000_001]))
        self.assertEqual(patch["containers"], [{"name": "main", "resources": {"requests": {
            "memory": "{{=[705, 1410, 2821][asInt(retries) < 2 ? asInt(retries) : 2]}}M"}}}])

    def test_a_limit_grows_as_well_and_what_else_is_patched_stays(self):
        patch = json.loads(self.completed([1e6, 2e6], podSpecPatch='{"imagePullSecrets": []}', container={
            "resources": {"requests": {"memory": "1M"}, "limits": {"memory": "1M"}}}))
        self.assertEqual(patch["imagePullSecrets"], [])
        resources = patch["containers"][0]["resources"]
        self.assertEqual(resources["limits"], resources["requests"])

    def test_without_retries_or_sizes_nothing_is_patched(self):
        for attempts in ([], [705e6], [705e6, 705e6], [705e6, None]):
            self.assertIsNone(self.completed(attempts), attempts)
        template = {"container": {"resources": {"requests": {"memory": "705M"}}},
                    "metadata": {"annotations": {argo.STEP: "fit"}}}
        argo.complete(template, {"fit": {"attempts": [{"cpu": 1, "memory_bytes": 1e6}, {"cpu": 1, "memory_bytes": 2e6}]}})
        self.assertNotIn("podSpecPatch", template)
        argo.complete({"dag": {}}, {})


class Messages(Case):
    def test_a_run_that_is_told_to_another_history_is_advised_from_as_in_its_own(self):
        told = []
        for _ in range(3):
            with rightsize.track("Flow/fit", memory="1Gi") as watch:
                held = bytearray(100 << 20)
                del held
            record = watch.settle()
            told.append(runs.message(watch.job_name, record, list(watch.samples())))
        advice = watch.recommendation()
        other = _server.private(folder=str(self.folder / "other"))
        plan.tell(other, told)
        plan.tell(other, told)  # once more changes nothing
        known = other.get_json("/runs", job_name="Flow/fit")["runs"]
        self.assertEqual({run["run_id"] for run in known}, {run["run_id"] for run in told})
        for run in known:
            own = next(message for message in told if message["run_id"] == run["run_id"])
            self.assertEqual((run["memory_peak_bytes"], run["outcome"], run["requested_memory_bytes"]),
                             (own["columns"]["memory_peak_bytes"]["max"], "succeeded", 1 << 30))
        self.assertEqual(other.get_json("/recommend", job_name="Flow/fit")["resources"]["memory"], advice["resources"]["memory"])
        ladder = sizes.ladder(other, "Flow/fit", "kubernetes")
        self.assertEqual(len(ladder), sizes.ATTEMPTS)
        self.assertEqual(sorted(size.memory for size in ladder), [size.memory for size in ladder])
        self.assertGreater(ladder[1].memory, ladder[0].memory)
        self.assertEqual(sizes.ladder(other, "Flow/other", "kubernetes"), [])

    def test_a_pod_that_was_killed_for_memory_raises_the_next_request(self):
        other = _server.private(folder=str(self.folder / "other"))
        now = time.time()
        kill = {"started_at": now - 60, "ended_at": now, "memory_limit_bytes": 400_000_000}
        plan.tell(other, [runs.killed("Flow/fit", "f" * 32, 1, {"task": "6"}, {"cpu": 0.5, "memory_bytes": 300e6}, kill)])
        run, = other.get_json("/runs", job_name="Flow/fit")["runs"]
        self.assertEqual([run.get(key) for key in ("outcome", "attempt", "memory_limit_bytes",
                                                   "requested_memory_bytes", "memory_peak_bytes", "labels")],
                         ["oom_killed", 1, 400_000_000, 300_000_000, None, {"task": "6"}])
        self.assertGreater(other.get_json("/recommend", job_name="Flow/fit")["demand"]["memory_bytes"], 400e6)


@contextlib.contextmanager
def cluster(answers):
    """Pods are read from these answers."""
    client = mock.MagicMock()
    read = client.KubernetesClient().get().CoreV1Api().read_namespaced_pod
    read.side_effect = answers
    with mock.patch.dict(sys.modules, {"metaflow.plugins.kubernetes.kubernetes_client": client}):
        yield read


class Pods(unittest.TestCase):
    @staticmethod
    def kill(*containers):
        """containers: of a pod of the step fit_all: its name, the reason of its end or None, and its limits."""
        def state(reason):
            return SimpleNamespace(terminated=reason and SimpleNamespace(
                reason=reason, started_at=datetime.fromtimestamp(5, timezone.utc),
                finished_at=datetime.fromtimestamp(9, timezone.utc)))
        utils = SimpleNamespace(parse_quantity={"1G": 1e9, "2G": 2e9}.get)
        with mock.patch.dict(sys.modules, {"kubernetes": SimpleNamespace(utils=utils), "kubernetes.utils": utils}):
            return pods.kill_of(SimpleNamespace(
                status=SimpleNamespace(container_statuses=[SimpleNamespace(name=name, state=state(reason))
                                                           for name, reason, _ in containers]),
                spec=SimpleNamespace(containers=[SimpleNamespace(name=name, resources=SimpleNamespace(limits=limits))
                                                 for name, _, limits in reversed(containers)])), "fit_all")

    def test_a_kill_for_memory_has_its_limit_where_there_is_one(self):
        known = {"started_at": 5, "ended_at": 9}
        self.assertEqual(self.kill(("fit-all", "OOMKilled", {"memory": "1G"})), {**known, "memory_limit_bytes": 10 ** 9})
        self.assertEqual(self.kill(("fit-all", "OOMKilled", None)), {**known, "memory_limit_bytes": None})

    def test_a_container_beside_the_one_of_the_task_does_not_count(self):
        proxy = ("istio-proxy", None, {"memory": "2G"})
        known = {"started_at": 5, "ended_at": 9, "memory_limit_bytes": 10 ** 9}
        for name in ("fit-all", "renamed"):
            self.assertEqual(self.kill(proxy, (name, "OOMKilled", {"memory": "1G"})), known, name)
        self.assertIsNone(self.kill(("istio-proxy", "OOMKilled", {"memory": "2G"}), ("fit-all", "Error", {"memory": "1G"})))

    def test_a_pod_that_was_deleted_has_the_same_exit_code_and_no_kill(self):
        self.assertIsNone(self.kill(("fit-all", "Error", {"memory": "1G"})))
        self.assertIsNone(self.kill(("fit-all", None, {})))
        self.assertIsNone(pods.read(b"Task finished with exit code 137.", None))

    def test_a_cluster_that_does_not_answer_keeps_the_scheduler_a_few_seconds(self):
        with cluster(TimeoutError) as read:
            self.assertRaises(TimeoutError, pods.read, b"[pod t-1-a] exit code 137", None)
        read.assert_called_once_with("t-1-a", "default", _request_timeout=(3, 5))


class Scheduler(unittest.TestCase):
    """The process that starts the tasks of a flow, after one was killed."""

    LOGS = b"[pod t-1-a] Task finished with exit code 137."

    def setUp(self):
        self.module = of_metaflow()
        self.said, self.cards, self.known = [], [], []
        self.deco = self.module.RightsizeDecorator({"tune": True})
        self.kubernetes = decorator("kubernetes", cpu="1", memory="100", namespace=None)
        flow = SimpleNamespace(name="Flow", fit=SimpleNamespace(decorators=[self.kubernetes]))
        store = mock.MagicMock()
        store.get_task_datastore().load_logs.return_value = [("", self.LOGS)]
        self.deco._flow, self.deco._step, self.deco._run_id, self.deco._flow_datastore = flow, "fit", "1", store
        self.deco._logger = lambda text, **_: self.said.append(text)
        self.deco._part = {"why": "Set.", "requested": {"cpu": 1, "memory_bytes": 100e6},
                           "attempts": [{"cpu": 1, "memory_bytes": memory} for memory in (100e6, 200e6, 400e6)]}
        exporters = mock.patch.object(sizes, "exporters", lambda: self.known)
        exporters.start()
        self.addCleanup(exporters.stop)
        cards = mock.patch.object(self.module, "Card", self.card)
        cards.start()
        self.addCleanup(cards.stop)

    def card(self, *_):
        return SimpleNamespace(stored=lambda: None, save=lambda page, final: self.cards.append(page))

    def launched(self, attempt):
        """Returns the arguments with which the task of this attempt is started."""
        args = SimpleNamespace(task=SimpleNamespace(task_id="7"), command_options={"memory": "100"}, env={})
        self.deco.runtime_step_cli(args, attempt, 3, None)
        return args

    def test_a_card_that_cannot_be_saved_takes_no_memory_from_the_next_attempt(self):
        self.launched(0)
        run = {"run_id": "a", "outcome": "oom_killed", "exit_signal": 9, "attempt": 1, "labels": {"run": "1", "task": "7"}}
        source = mock.Mock()
        source.get = lambda route, **_: json.dumps({"runs": [run]}).encode() if route == "/runs" else b"<main >"
        self.known = [source]
        with mock.patch.object(self.module, "Card", side_effect=PermissionError("no bucket")):
            self.assertEqual(self.launched(1).command_options["memory"], "200")
        self.assertEqual(len(self.said), 1, self.said)
        self.assertIn("no bucket", self.said[0])
        self.launched(1)
        self.assertEqual(len(self.said), 1, self.said)

    def test_only_a_pod_that_the_cluster_took_away_gets_no_more_memory(self):
        def pod(reason=None, conditions=None, deleted=None):
            return SimpleNamespace(metadata=SimpleNamespace(deletion_timestamp=deleted), spec=None,
                                   status=SimpleNamespace(reason=reason, conditions=conditions, container_statuses=None))
        disrupted = SimpleNamespace(type="DisruptionTarget", status="True")
        ready = SimpleNamespace(type="Ready", status="True")
        for found, memory in ((pod("Evicted"), "100"), (pod(conditions=[ready, disrupted]), "100"),
                              (pod(deleted=datetime.now(timezone.utc)), "100"),
                              (pod(conditions=[ready]), "200"), (OSError("gone"), "200")):
            with self.subTest(pod=found), cluster([found]):
                self.setUp()
                self.assertEqual(self.launched(1).command_options["memory"], memory)

    def test_a_kill_that_the_central_exporter_refuses_is_told_to_the_others_and_in_the_card_once(self):
        told = []

        def source(name, refuses):
            def ask(_, route, messages, *__):
                told.append((name, route, messages[0]["run_id"], messages[0]["requested_memory_bytes"]))
                if refuses:
                    raise Refused(401, "not_allowed", "no token")
            return SimpleNamespace(address=SimpleNamespace(ask=ask), get=mock.Mock(side_effect=OSError))
        self.known = [source("central", True), source("here", False)]
        ended = SimpleNamespace(reason="OOMKilled", started_at=datetime.now(timezone.utc),
                                finished_at=datetime.now(timezone.utc))
        pod = SimpleNamespace(status=SimpleNamespace(container_statuses=[
            SimpleNamespace(name="fit", state=SimpleNamespace(terminated=ended))]), spec=SimpleNamespace(containers=[]))
        with cluster([pod, OSError("gone")]) as read, mock.patch.object(self.module, "card_uuid", lambda *_: "a" * 32):
            self.launched(0)
            self.assertEqual(self.launched(1).command_options["memory"], "200")
            self.deco._finish_killed(1)
            self.deco._was_out_of_memory("7", 0)
        self.assertEqual(told, [(name, "/runs", "a" * 32, 100e6) for name in ("central", "here")])
        self.assertEqual((len(self.cards), read.call_count, self.said), (1, 1, []))

    def test_only_the_pod_of_the_step_gets_the_plan_of_this_process(self):
        env = self.launched(0).env
        self.assertEqual(json.loads(env[plan.VARIABLE])["applied"]["memory_bytes"], 100e6)
        with mock.patch.dict(os.environ, env):
            for job, is_given in (("Flow/fit", True), ("Flow/other", False), ("Inner/fit", False)):
                decorators = [self.kubernetes]
                self.module._claim_remote_tasks(decorators, job)
                self.assertEqual(plan.VARIABLE in decorators[1].attributes["vars"], is_given, job)
                self.assertIn("RIGHTSIZE_HELPER", decorators[1].attributes["vars"])
            self.assertEqual(os.environ[plan.VARIABLE], env[plan.VARIABLE])


if __name__ == "__main__":
    unittest.main()
