"""The sidecar in real pods, as podman plays them from Kubernetes' own manifests; run by run.sh, which makes the images.

Each pod has one PID namespace, a job with limits, and the exporter with a read-only root and no capability that the
test does not give it. A real Prometheus is queried for the results."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import support  # noqa: E402
from group import Group  # noqa: E402
from support import wait_until  # noqa: E402

IMAGE, BASE = os.environ["RIGHTSIZE_IMAGE"], os.environ["BASE"]
MIB = 1 << 20
GRACE_SECONDS = 60  # as in the manifests

# Two busy processes, and 60 MiB.
WORK = """perl -e '$n = 60 << 20; $x = "a"; $x x= $n; $t = time + %(seconds)d; 1 while time < $t' &
perl -e '$t = time + %(seconds)d; 1 while time < $t' &
wait"""
# A child of the job needs more memory than the job may have, and the job reports this. Or the job itself needs it.
HUNGRY = """perl -e 'sleep 3; $n = 300 << 20; $x = "a"; $x x= $n'; exit 137"""
KILLED = """exec perl -e 'sleep 3; $n = 300 << 20; $x = "a"; $x x= $n'"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def podman(*arguments, **options):
    done = subprocess.run(["podman", *arguments], check=False, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"podman {' '.join(arguments)}: {done.stderr}")
    return done.stdout


class Pod:
    """A job and its sidecar. The arguments are the fields of the manifest that tests change."""

    def __init__(self, name, script, port, flags=(), job=None, sidecar=None, cpu="500m", memory="128Mi", more=()):
        self.name, self.port = name, port
        confined = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
        self.manifest = {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
            "spec": {
                "shareProcessNamespace": True, "restartPolicy": "Never", "terminationGracePeriodSeconds": GRACE_SECONDS,
                "containers": [{
                    "name": "rightsize", "image": IMAGE, "imagePullPolicy": "Never",
                    "args": ["serve", "--jobs.pod", "--sample.interval=500ms", "--no-catalogue.refresh", *flags],
                    "ports": [{"containerPort": 9877, "hostPort": port, "hostIP": "127.0.0.1"}],
                    "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                            {"name": "RIGHTSIZE_JOB_NAME", "value": f"pods/{name}"}],
                    "resources": {"limits": {"cpu": "200m", "memory": "64Mi"}},
                    "securityContext": {**confined, **(sidecar or NOBODY)},
                    "volumeMounts": [{"name": "state", "mountPath": "/var/lib/rightsize-exporter"}],
                }, {
                    "name": "job", "image": BASE, "imagePullPolicy": "Never",
                    "command": ["/bin/sh", "-c", script],
                    "resources": {"limits": {"cpu": cpu, "memory": memory}},
                    "securityContext": {**confined, **(job or NOBODY)},
                }],
                "volumes": [{"name": "state", "emptyDir": {}}],
            },
        }
        # Other containers are like the job's, except for their commands.
        self.manifest["spec"]["containers"] += [
            {**self.manifest["spec"]["containers"][1], "name": other, "command": command}
            for other, command in more]

    def container(self, name):
        return f"{self.name}-{name}"

    def play(self, folder):
        self.file = folder / f"{self.name}.yaml"
        self.file.write_text(json.dumps(self.manifest))
        podman("kube", "play", str(self.file))

    def down(self):
        with contextlib.suppress(AssertionError):
            podman("kube", "down", str(self.file))

    def state(self, name):
        return json.loads(podman("inspect", self.container(name)))[0]["State"]

    def group(self, name):
        return Group(self.state(name)["Pid"])

    def log(self):
        done = subprocess.run(["podman", "logs", self.container("rightsize")], capture_output=True, text=True, check=False)
        return done.stderr + done.stdout

    def metrics(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                return support.samples(answer.read().decode())
        except OSError:
            return {}

    def value(self, name, **labels):
        return self.metrics().get((name, frozenset({"job_name": f"pods/{self.name}", **labels}.items())))


class PodCase(support.Case):
    def play(self, *arguments, started=True, **options):
        pod = Pod(*arguments, port=free_port(), **options)
        # An emptyDir of podman belongs to root, and podman ignores fsGroup. The volume is therefore a folder of the
        # sidecar's user.
        state = self.folder / f"{pod.name}-state"
        state.mkdir(mode=0o700)
        os.chown(state, pod.manifest["spec"]["containers"][0]["securityContext"]["runAsUser"], -1)
        self.folder.chmod(0o755)
        pod.manifest["spec"]["volumes"] = [{"name": "state", "hostPath": {"path": str(state), "type": "Directory"}}]
        self.addCleanup(pod.down)
        if started:
            pod.play(self.folder)
        return pod

    def prometheus(self, *pods):
        port, config = free_port(), self.folder / "prometheus.yml"
        targets = [{"targets": [f"127.0.0.1:{pod.port}" for pod in pods]}]
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "pods", "static_configs": targets}]}))
        process = support.Process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb", "--log.level=warn",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL)
        self.addCleanup(process.stop)
        self.prometheus_url = f"http://127.0.0.1:{port}"

    def results(self, query):
        url = f"{self.prometheus_url}/api/v1/query?query={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def ask(self, query):
        """Returns the value of a query that has one; None = no answer."""
        result = self.results(query)
        return float(result[0]["value"][1]) if result else None

    def central(self):
        server = self.start("serve", f"--web.listen-address=0.0.0.0:{free_port()}", "--no-jobs.recognise",
                            f"--history.path={self.history}", "--web.allow-changes",
                            "--web.allowed-host=host.containers.internal")
        match = wait_until(lambda: server.said(r"listening.*?address=[^:]+:(\d+)"), "the address on stderr")
        server.host, server.port = "127.0.0.1", int(match[1])
        return server


def seconds_of(text):
    """Returns the seconds of a time in ISO 8601. Python reads no nanoseconds."""
    return datetime.datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*", r"\1", text).replace("Z", "+00:00")).timestamp()


def show(title, rows):
    print(f"\n{title}", file=sys.stderr)
    for row in rows:
        print("  " + "  ".join(str(cell) for cell in row), file=sys.stderr)


class Sidecar(PodCase):
    def test_the_job_arrives_in_prometheus_and_its_run_at_the_central_exporter(self):
        central = self.central()
        seconds, limit = 16, 0.05
        began = time.time()
        # The quota is far below the CPU time that a busy machine leaves, so the job is throttled anywhere.
        work = self.play("work", WORK % {"seconds": seconds}, cpu="50m", flags=[
            "--exit-with-job", "--web.linger=10s", f"--forward.url=http://host.containers.internal:{central.port}"])
        self.prometheus(work)
        job = work.group("job")
        wait_until(lambda: (work.value("rightsize_job_cpu_seconds_total") or 0) > 0.2, "some CPU time of the job")
        wait_until(lambda: job.account()["throttled periods"] > 3, "the kernel to hold the job back")
        pages, kernel = work.group("rightsize").working_set(), job.account()
        wait_until(lambda: work.state("rightsize")["Status"] == "exited", "the sidecar's end after the job")
        self.assertEqual(work.state("rightsize")["ExitCode"], 0, work.log())
        # The job's group is older than the job. The process that starts the container is throttled in it, too.
        took = seconds_of(work.state("job")["FinishedAt"]) - began
        queries = {
            "CPU time, s": ("rightsize_job_cpu_seconds_total", 1, kernel["CPU time, s"], limit * took + 0.5),
            "throttled periods": (
                "rightsize_job_cpu_throttled_periods_total", 1, kernel["throttled periods"], 10 * took),
            "throttled, s": (
                "rightsize_job_cpu_throttled_seconds_total", 1, kernel["throttled, s"], os.cpu_count() * took),
            "memory peak, MiB": ("rightsize_job_memory_peak_bytes", MIB, 60, 128),
            "memory limit, MiB": ("rightsize_job_memory_limit_bytes", MIB, 128, 128),
            "CPU limit, cores": ("rightsize_job_cpu_limit_cores", 1, limit, limit),
        }
        rows = []
        for name, (metric, unit, least, most) in queries.items():
            query = f'max_over_time({metric}{{job_name="pods/work"}}[5m])'
            value = self.ask(query)
            self.assertIsNotNone(value, query)
            value /= unit
            self.assertTrue(least <= value <= most, f"{name}: {value} is not between {least} and {most}")
            rows.append((name, round(value, 3), query, f"(kernel, earlier: {kernel[name]:.3f})" if name in kernel else ""))
        resident = "max_over_time(process_resident_memory_bytes[5m])"
        rows.append(("sidecar, resident MiB", round(self.ask(resident) / MIB, 1), resident))
        rows.append(("sidecar, working set MiB", round(pages / MIB, 1), "its cgroup's usage - inactive_file"))
        show("Prometheus", rows)
        run = central.get("/runs?job_name=pods/work").json["runs"][0]
        self.assertGreaterEqual(run["cpu_seconds"], kernel["CPU time, s"])
        self.assertGreaterEqual(run["memory_peak_bytes"], 60 * MIB)
        self.assertEqual(run["memory_limit_bytes"], 128 * MIB)
        answer = central.get("/recommend?job_name=pods/work").json
        show("central exporter", [(key, run[key]) for key in (
            "outcome", "duration_seconds", "cpu_seconds", "memory_peak_bytes", "memory_limit_bytes", "host")] +
             [("recommended", answer.get("resources"))])

    def killed_for_memory(self, name, script):
        pod = self.play(name, script, memory="64Mi", flags=["--web.linger=1h"])
        self.prometheus(pod)
        rows = []
        for query, value in ((f'rightsize_job_oom_kills_total{{job_name="pods/{name}"}}', 1),
                             (f'rightsize_job_runs_total{{job_name="pods/{name}",outcome="oom_killed"}}', 1),
                             (f'rightsize_job_memory_limit_bytes{{job_name="pods/{name}"}}', 64 * MIB)):
            query = f"max_over_time({query}[5m])"
            wait_until(lambda q=query: self.ask(q), query)
            rows.append((query, self.ask(query)))
            self.assertEqual(self.ask(query), value, query)
        with urllib.request.urlopen(f"http://127.0.0.1:{pod.port}/runs?job_name=pods/{name}&details=1", timeout=10) as answer:
            run = json.load(answer)["runs"][0]
        rows.append(("the run", {k: run[k] for k in ("outcome", "exit_code", "exit_signal", "memory_limit_bytes",
                                                     "memory_peak_bytes")}))
        show(f"killed for memory: {script}", rows)
        self.assertEqual(run["outcome"], "oom_killed")
        self.assertEqual(run["memory_limit_bytes"], 64 * MIB)

    def test_the_kill_of_a_child_for_memory_is_the_runs_outcome(self):
        self.killed_for_memory("hungry", HUNGRY)

    def test_the_kill_of_the_container_for_memory_is_the_runs_outcome(self):
        self.killed_for_memory("killed", KILLED)

    def test_each_container_is_a_job_of_its_own_when_wanted(self):
        pod = self.play("each", "sleep 1000 & sleep 1000", flags=["--jobs.per-container"],
                        more=[("busy", ["perl", "-e", "while (1) { }"])])
        rows = []
        for container, program in (("job", "sh"), ("busy", "perl")):
            def cpu(name=f"pods/each/{program}"):
                return pod.value("rightsize_job_cpu_seconds_total", job_name=name)
            group = pod.group(container)
            # A job that does nothing has less than a clock tick.
            wait_until(lambda c=cpu, g=group: (v := c()) is not None and abs(v - g.account()["CPU time, s"]) < 0.5,
                       f"the CPU time of {container}")
            if container == "busy":
                wait_until(lambda c=cpu: c() > 1, "a second of the busy container")
            value, kernel = cpu(), group.account()["CPU time, s"]
            self.assertLessEqual(value, kernel + 1e-6)  # sums of doubles
            rows.append((f"pods/each/{program}", f"{value:.2f} s", f"kernel, later: {kernel:.2f} s"))
        names = {dict(labels)["job_name"] for metric, labels in pod.metrics() if metric == "rightsize_job_cpu_seconds_total"}
        self.assertEqual(names, {"pods/each/sh", "pods/each/perl"})
        self.assertLess(pod.value("rightsize_job_cpu_seconds_total", job_name="pods/each/sh"), 0.5)
        show("--jobs.per-container", rows)

    def test_prometheus_scrapes_it_within_seconds_of_its_start(self):
        pod = self.play("quick", "sleep 60", started=False)
        self.prometheus(pod)
        wait_until(lambda: self.ask("up") == 0, "a scrape before there is a pod")
        pod.play(self.folder)
        wait_until(lambda: self.ask("up") == 1, "the first scrape that succeeds")
        first = min(at for at, up in self.results("up[1m]")[0]["values"] if up == "1")
        log = pod.log()
        began = seconds_of(pod.state("rightsize")["StartedAt"])
        listening = seconds_of(next(line for line in log.splitlines() if "listening" in line).split()[0][3:])
        show("from the container's start", [("socket, s", round(listening - began, 3)),
                                            ("scraped every second, s", round(first - began, 3))])
        self.assertLess(first - began, 10)

    def test_sigterm_closes_the_run_and_hands_it_on(self):
        central = self.central()
        for i, flags in enumerate(([], ["--exit-with-job"])):
            pod = self.play(f"ended-{i}", WORK % {"seconds": 600}, flags=[
                *flags, f"--forward.url=http://host.containers.internal:{central.port}"])
            wait_until(lambda p=pod: (p.value("rightsize_job_cpu_seconds_total") or 0) > 0.2, "some CPU time of the job")
            started = time.monotonic()
            podman("stop", "--time", str(GRACE_SECONDS), pod.container("rightsize"))
            took = time.monotonic() - started
            self.assertLess(took, 20)
            # A process that takes longer than the grace period is killed.
            self.assertEqual(pod.state("rightsize")["ExitCode"], 0, pod.log())
            self.assertEqual(pod.state("job")["Status"], "running")
            run = central.get(f"/runs?job_name=pods/{pod.name}").json["runs"][0]
            self.assertEqual(run["outcome"], "interrupted")
            self.assertGreater(run["cpu_seconds"], 0.2)
            show("SIGTERM while the job goes on", [(*flags, run["outcome"], f"{took:.1f} s")])
            pod.down()


READABLE = {
    "CPU time": "rightsize_job_cpu_seconds_total",
    "memory, RSS": "rightsize_job_memory_rss_bytes",
    "peak of a process": "rightsize_job_memory_peak_process_bytes",
    "memory, PSS": "rightsize_job_memory_pss_bytes",
    "disk": "rightsize_job_disk_read_bytes_total",
    "descriptors": "rightsize_job_open_fds",
    "memory limit": "rightsize_job_memory_limit_bytes",
    "CPU limit": "rightsize_job_cpu_limit_cores",
    "throttling": "rightsize_job_cpu_throttled_seconds_total",
}
# The number of descriptors is the size of a folder, which Linux 6.2 and later show to all users.
ALWAYS = {"CPU time", "memory, RSS", "peak of a process", "descriptors"}
ALL = set(READABLE)
NOBODY = {"runAsUser": 65532, "runAsGroup": 65532, "capabilities": {"drop": ["ALL"]}}
ROOT = {"runAsUser": 0, "capabilities": {"drop": ["ALL"]}}
PTRACE = {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}
BOTH = {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE", "DAC_READ_SEARCH"]}}
# The same capabilities as in the DaemonSet.
BECOMES = {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE", "DAC_READ_SEARCH", "SETUID", "SETGID", "CHOWN"]}}
GROUP = {"runAsUser": 65532, "runAsGroup": 0, "capabilities": {"drop": ["ALL"]}}
OTHER = {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}}


class Rights(PodCase):
    """The numbers of a job that a sidecar can read, by the rights of both: the table of deploy/manual/kubernetes.md."""

    modes = (
        ("other user, no capability", NOBODY, OTHER, ALWAYS),
        ("same user, other group", NOBODY, GROUP, ALWAYS),
        ("same user and group", NOBODY, NOBODY, ALL),
        ("root, no capability; job of another user", ROOT, OTHER, ALWAYS),
        ("root with SYS_PTRACE", PTRACE, OTHER, ALL - {"disk"}),  # only its owner may open /proc/PID/io
        ("root with SYS_PTRACE, DAC_READ_SEARCH", BOTH, OTHER, ALL),
        ("who root with these goes on as", BECOMES, OTHER, ALL, "--security.user=64877"),
    )

    def test_each_mode_reads_what_the_table_says(self):
        rows, wrong = [("mode", *READABLE, "unreadable")], []
        for i, (mode, sidecar, job, expected, *flags) in enumerate(self.modes):
            pod = self.play(f"rights-{i}", "sleep 1000", sidecar=sidecar, job=job, flags=flags)
            wait_until(lambda p=pod: p.value("rightsize_job_cpu_seconds_total") is not None, mode)
            # The second reading has all numbers that need two readings.
            time_of = ("rightsize_snapshot_timestamp_seconds", frozenset())
            first = pod.metrics()[time_of]
            wait_until(lambda p=pod, f=first: p.metrics()[time_of] > f + 1, "a later reading")
            seen = {what for what, name in READABLE.items() if pod.value(name) is not None}
            unreadable = pod.value("rightsize_job_unreadable_processes")
            rows.append((mode, *("yes" if what in seen else "-" for what in READABLE), unreadable))
            if seen != expected:
                wrong.append(f"{mode}: {sorted(seen ^ expected)}")
            lacks = expected != ALL
            if (unreadable > 0) != lacks:
                wrong.append(f"{mode}: {unreadable} unreadable")
            said = pod.log().count("capabilities SYS_PTRACE and DAC_READ_SEARCH")
            if said != lacks:
                wrong.append(f"{mode}: said {said} times which right is missing: {pod.log()}")
            pod.down()
        show("rights", rows)
        self.assertEqual(wrong, [])


class Arm64(support.Case):
    def test_the_program_for_arm64_runs(self):
        """Runs emulated, if an image was built with --platform linux/arm64 as IMAGE-arm64."""
        image = f"{IMAGE}-arm64"
        if subprocess.run(["podman", "image", "exists", image], check=False).returncode:
            self.skipTest(f"there is no {image}")
        done = subprocess.run(
            ["podman", "run", "--rm", "--network", "none", "--platform", "linux/arm64", "-v",
             "/usr/bin/qemu-aarch64-static:/qemu:ro", "--entrypoint", "/qemu", image, "/usr/bin/rightsize-exporter",
             "--version"], capture_output=True, text=True, check=False)
        self.assertIn("linux/aarch64", done.stdout + done.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    support.main()
