"""A node of Kubernetes for tests: containerd, the kubelet, their own network, and queries to its pods. The test is root
in its own mount, network and PID namespaces, or in a virtual machine. Ports and folders such as /run belong to the test
alone, and all processes that it starts end with it."""
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse
import urllib.request

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("e2e", "pod")]
from group import Group  # noqa: E402,F401
from support import main, wait_until  # noqa: E402,F401

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES, TOOLS = pathlib.Path(os.environ["KUBERNETES_BIN"]), pathlib.Path(os.environ["KUBERNETES_TOOLS"])
IMAGE, JOB_IMAGE, PAUSE = os.environ["RIGHTSIZE_IMAGE"], os.environ["JOB_IMAGE"], os.environ["PAUSE"]
IMAGES, LOGS = os.environ["KUBERNETES_IMAGES"], pathlib.Path(os.environ["KUBERNETES_LOGS"])
ADDRESS, BRIDGE = "10.88.5.1", "rightsize0"
SLOW = int(os.environ.get("SLOW", "300"))  # for a machine that is busy or emulated
SCRAPE_INTERVAL = os.environ.get("SCRAPE_INTERVAL", "1s")  # time limit of an answer
MIB = 1 << 20

# Two busy processes, of which one keeps 60 MiB. They run long enough for several scrapes, even if our container starts
# late.
WORK_SECONDS = os.environ.get("WORK_SECONDS", "40")
WORK = f"""timeout {WORK_SECONDS} dd if=/dev/zero of=/dev/null bs=60M 2>/dev/null &
timeout {WORK_SECONDS} sh -c 'while :; do :; done' &
wait; true"""
# A child needs more memory than the job may have, and the job reports this. Or the job itself is killed.
HUNGRY = "sleep 10; dd if=/dev/zero of=/dev/null bs=300M count=1; exit 137"
KILLED = "sleep 10; exec dd if=/dev/zero of=/dev/null bs=300M count=1"

# Settings that the kubelet makes for the whole machine go into copies.
MACHINE_SETTINGS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
                    "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes")

NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [{
    "type": "bridge", "bridge": BRIDGE, "isGateway": True,
    "ipam": {"type": "host-local", "dataDir": "/run/pod-addresses", "ranges": [[{"subnet": "10.88.5.0/24"}]],
             "routes": [{"dst": "0.0.0.0/0"}]}}]}

CONTAINERD = """version = 2
root = "{folder}/containerd"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
"""


def sh(*command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stderr}{done.stdout}")
    return done.stdout


def get(url):
    """Returns the body of an answer; None while there is none."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read().decode()
    except OSError:
        return None


def show(title, rows):
    print(f"\n{title}", file=sys.stderr)
    for row in rows:
        print("  " + "  ".join(str(cell) for cell in row), file=sys.stderr)


class Programs:
    """The started programs, which end with the test."""

    def __init__(self):
        self.running = []

    def begin(self, name, *command):
        with open(LOGS / f"{name}.log", "wb") as log:
            self.running.append(subprocess.Popen(["nice", "-n", "5", *command], stdout=log, stderr=log))

    def end(self):
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def isolate():
    """Makes the folders and the network that programs require, private to this test."""
    sh("mount", "--make-rprivate", "/")
    sh("mount", "-t", "tmpfs", "tmpfs", "/run")
    sh("mount", "-t", "tmpfs", "tmpfs", "/var/log")
    for setting in MACHINE_SETTINGS:
        file = pathlib.Path("/proc/sys", setting)
        if file.exists():
            copy = pathlib.Path("/run", setting.replace("/", "_"))
            copy.write_text(file.read_text())
            sh("mount", "--bind", copy, file)
    # The kubelet passes volumes to containers by shared mounts, which are shared only within this namespace.
    sh("mount", "--make-rshared", "/")
    sh("ip", "link", "set", "lo", "up")
    sh("ip", "link", "add", BRIDGE, "type", "bridge")
    sh("ip", "address", "add", f"{ADDRESS}/24", "dev", BRIDGE)
    sh("ip", "link", "set", BRIDGE, "up")


def start_containerd(programs, folder):
    (folder / "cni").mkdir()
    (folder / "cni/pods.conflist").write_text(json.dumps(NETWORK))
    (folder / "containerd.toml").write_text(CONTAINERD.format(folder=folder, pause=PAUSE))
    path = f"{TOOLS}/usr/bin:{os.environ['PATH']}"
    programs.begin("containerd", "env", f"PATH={path}", TOOLS / "usr/bin/containerd", "-c", folder / "containerd.toml")
    wait_until(lambda: subprocess.run([TOOLS / "usr/bin/ctr", "version"], check=False,
                                      capture_output=True).returncode == 0, "containerd", SLOW)
    sh(TOOLS / "usr/bin/ctr", "--namespace", "k8s.io", "images", "import", IMAGES)


def start_kubelet(programs, folder, configuration, *flags):
    file = folder / "kubelet.yaml"
    file.write_text(json.dumps({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "cgroupDriver": "cgroupfs", "address": ADDRESS, "healthzPort": 0, "failSwapOn": False, "oomScoreAdj": 0,
        "enforceNodeAllocatable": [], "evictionHard": {"memory.available": "1Mi"},
        "imageGCHighThresholdPercent": 100, "makeIPTablesUtilChains": False, "resolvConf": "",
        "volumePluginDir": f"{folder}/plugins", **configuration}))
    programs.begin("kubelet", BINARIES / "kubelet", f"--config={file}", f"--root-dir={folder}/kubelet",
                   "--hostname-override=node", f"--node-ip={ADDRESS}", "--container-runtime=remote",
                   "--container-runtime-endpoint=unix:///run/containerd/containerd.sock", *flags)


def prepare(pod, script, memory, flags):
    """Returns the spec of the classic sidecar's pod, with local images and another job."""
    main, sidecar = ({c["name"]: c for c in pod["containers"]}[name] for name in ("main", "rightsize"))
    main.update(image=JOB_IMAGE, imagePullPolicy="Never", command=["/bin/sh", "-c", script])
    main["resources"] = {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"cpu": "100m", "memory": memory}}
    sidecar.update(image=IMAGE, imagePullPolicy="Never")
    keep_runs_here(pod, sidecar)
    # The test decides whether it ends with the job. Prometheus must scrape the last values.
    sidecar["args"] = [a for a in sidecar["args"] if a != "--exit-with-job"] + ["--web.linger=30s"] + flags


def keep_runs_here(pod, exporter):
    """There is no central exporter for forwarded runs, and no secret with its token."""
    exporter["args"] = [a for a in exporter["args"] if not a.startswith("--forward.")]
    exporter["volumeMounts"] = [m for m in exporter["volumeMounts"] if m["name"] != "token"]
    pod["volumes"] = [v for v in pod["volumes"] if v["name"] != "token"]


class Prometheus:
    """Scrapes the targets that the last call of targets() set."""

    def __init__(self, programs, folder):
        self.file = folder / "targets.json"
        configuration = folder / "prometheus.yml"
        configuration.write_text(json.dumps({
            "global": {"scrape_interval": SCRAPE_INTERVAL, "scrape_timeout": SCRAPE_INTERVAL},
            "scrape_configs": [{"job_name": "pods", "file_sd_configs": [{"files": [str(self.file)]}]}]}))
        self.targets()
        programs.begin("prometheus", "prometheus", f"--config.file={configuration}",
                       f"--storage.tsdb.path={folder}/tsdb", "--web.listen-address=127.0.0.1:9090")

    def targets(self, *addresses):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps([{"targets": addresses}]))
        new.rename(self.file)

    def results(self, query):
        body = get(f"http://127.0.0.1:9090/api/v1/query?query={urllib.parse.quote(query)}")
        return json.loads(body)["data"]["result"] if body else []

    def ask(self, query):
        result = self.results(query)
        return float(result[0]["value"][1]) if result else None
