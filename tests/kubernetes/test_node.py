"""The classic sidecar's manifest under a real Kubernetes: API server, controllers, scheduler, kubelet and containerd.

Run by run.sh, as root in mount, network and PID namespaces of its own: ports and folders such as /run belong to this
test alone, and whatever it starts ends with it.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import support  # noqa: E402
from support import wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARIES, TOOLS = pathlib.Path(os.environ["KUBERNETES_BIN"]), pathlib.Path(os.environ["KUBERNETES_TOOLS"])
IMAGE, BASE, PAUSE = os.environ["RIGHTSIZE_IMAGE"], os.environ["BASE"], os.environ["PAUSE"]
IMAGES = os.environ["KUBERNETES_IMAGES"]
NODE, BRIDGE = "10.88.5.1", "rightsize0"
SLOW = 300  # a machine that does much else at the same time
MIB = 1 << 20

# Two busy processes, and 60 MiB; long enough for several scrapes after Prometheus has found the pod.
WORK = """perl -e '$x = "a" x (60 << 20); $t = time + 40; 1 while time < $t' &
perl -e '$t = time + 40; 1 while time < $t' &
wait"""

# What the kubelet sets for the whole machine goes into copies.
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


class Certificates:
    """One authority, and a certificate for each part of Kubernetes."""

    subjects = {"server": "/CN=kube-apiserver", "admin": "/O=system:masters/CN=admin",
                "controllers": "/CN=system:kube-controller-manager", "scheduler": "/CN=system:kube-scheduler",
                "kubelet": "/O=system:nodes/CN=system:node:node"}

    def __init__(self, folder):
        self.folder = folder
        sh("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test-ca",
           "-keyout", "ca.key", "-out", "ca.crt", cwd=folder)
        sh("openssl", "genrsa", "-out", "accounts.key", "2048", cwd=folder)
        (folder / "names").write_text(f"subjectAltName=IP:127.0.0.1,IP:{NODE},IP:10.96.0.1,DNS:localhost,DNS:node")
        for name, subject in self.subjects.items():
            sh("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", f"{name}.key",
               "-out", f"{name}.csr", cwd=folder)
            sh("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
               "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.crt", cwd=folder)

    def kubeconfig(self, name):
        file = self.folder / f"{name}.kubeconfig"
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": f"https://{NODE}:6443",
                                                      "certificate-authority": str(self.folder / "ca.crt")}}],
            "users": [{"name": name, "user": {"client-certificate": str(self.folder / f"{name}.crt"),
                                              "client-key": str(self.folder / f"{name}.key")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}]}))
        return file


class Cluster:
    def __init__(self, folder, begin):
        """begin(name, *command) starts a program that ends with the test."""
        self.folder, self.begin = folder, begin
        self.certificates = Certificates(folder)
        self.admin = self.certificates.kubeconfig("admin")

    def kubectl(self, *arguments, **options):
        return sh(TOOLS / "usr/bin/kubectl", f"--kubeconfig={self.admin}", *arguments, **options)

    def answers(self, *arguments):
        try:
            return self.kubectl(*arguments)
        except AssertionError:
            return None

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def isolate(self):
        """Folders and network that programs insist on, private to this test."""
        sh("mount", "--make-rprivate", "/")
        sh("mount", "-t", "tmpfs", "tmpfs", "/run")
        sh("mount", "-t", "tmpfs", "tmpfs", "/var/log")
        for setting in MACHINE_SETTINGS:
            file = pathlib.Path("/proc/sys", setting)
            if file.exists():
                copy = pathlib.Path("/run", setting.replace("/", "_"))
                copy.write_text(file.read_text())
                sh("mount", "--bind", copy, file)
        # The kubelet hands volumes to containers by mounts that spread; only as far as this namespace.
        sh("mount", "--make-rshared", "/")
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", BRIDGE, "type", "bridge")
        sh("ip", "address", "add", f"{NODE}/24", "dev", BRIDGE)
        sh("ip", "link", "set", BRIDGE, "up")

    def start_control_plane(self):
        c = self.certificates.folder
        self.begin("etcd", TOOLS / "usr/bin/etcd", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync",
                   "--log-level=warn")
        self.begin(
            "kube-apiserver", BINARIES / "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
            f"--bind-address={NODE}", f"--advertise-address={NODE}", "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
            f"--client-ca-file={c}/ca.crt", f"--tls-cert-file={c}/server.crt",
            f"--tls-private-key-file={c}/server.key", f"--service-account-key-file={c}/accounts.key",
            f"--service-account-signing-key-file={c}/accounts.key",
            "--service-account-issuer=https://kubernetes.default",
            "--kubelet-preferred-address-types=InternalIP", f"--kubelet-client-certificate={c}/admin.crt",
            f"--kubelet-client-key={c}/admin.key", f"--cert-dir={c}")
        wait_until(lambda: self.answers("get", "--raw", "/readyz"), "the API server", SLOW)
        self.begin(
            "kube-controller-manager", BINARIES / "kube-controller-manager",
            f"--kubeconfig={self.certificates.kubeconfig('controllers')}", "--use-service-account-credentials",
            f"--service-account-private-key-file={c}/accounts.key", f"--root-ca-file={c}/ca.crt",
            "--leader-elect=false", f"--cert-dir={c}")
        self.begin("kube-scheduler", BINARIES / "kube-scheduler", "--leader-elect=false", f"--cert-dir={c}",
                   f"--kubeconfig={self.certificates.kubeconfig('scheduler')}")
        wait_until(lambda: self.answers("get", "serviceaccount", "default"), "the default service account", SLOW)

    def start_containerd(self):
        (self.folder / "cni").mkdir()
        (self.folder / "cni/pods.conflist").write_text(json.dumps(NETWORK))
        (self.folder / "containerd.toml").write_text(CONTAINERD.format(folder=self.folder, pause=PAUSE))
        path = f"{TOOLS}/usr/bin:{os.environ['PATH']}"
        self.begin("containerd", "env", f"PATH={path}", TOOLS / "usr/bin/containerd", "-c",
                   self.folder / "containerd.toml")
        wait_until(lambda: subprocess.run([TOOLS / "usr/bin/ctr", "version"], check=False,
                                          capture_output=True).returncode == 0, "containerd", SLOW)
        sh(TOOLS / "usr/bin/ctr", "--namespace", "k8s.io", "images", "import", IMAGES)

    def start_kubelet(self):
        c = self.certificates.folder
        configuration = self.folder / "kubelet.yaml"
        configuration.write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "cgroupDriver": "cgroupfs", "address": NODE, "healthzPort": 0, "failSwapOn": False, "oomScoreAdj": 0,
            "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": f"{c}/ca.crt"}},
            "tlsCertFile": f"{c}/kubelet.crt", "tlsPrivateKeyFile": f"{c}/kubelet.key",
            "enforceNodeAllocatable": [], "evictionHard": {"memory.available": "1Mi"},
            "imageGCHighThresholdPercent": 100, "makeIPTablesUtilChains": False, "resolvConf": "",
            "volumePluginDir": f"{self.folder}/plugins"}))
        socket = "unix:///run/containerd/containerd.sock"
        self.begin("kubelet", BINARIES / "kubelet", f"--config={configuration}",
                   f"--kubeconfig={self.certificates.kubeconfig('kubelet')}", f"--root-dir={self.folder}/kubelet",
                   "--hostname-override=node", f"--node-ip={NODE}", "--container-runtime=remote",
                   f"--container-runtime-endpoint={socket}")
        ready = '{.status.conditions[?(@.type=="Ready")].status}'
        wait_until(lambda: self.answers("get", "node", "node", "-o", f"jsonpath={ready}") == "True",
                   "the node to be ready", SLOW)


class Node(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.folder.chmod(0o755)
        self.logs = pathlib.Path(os.environ["KUBERNETES_LOGS"])
        self.cluster = Cluster(self.folder, self.begin)
        self.cluster.isolate()
        self.cluster.start_containerd()
        self.cluster.start_control_plane()
        self.cluster.start_kubelet()

    def begin(self, name, *command):
        with open(self.logs / f"{name}.log", "wb") as log:
            process = subprocess.Popen(["nice", "-n", "5", *command], stdout=log, stderr=log)
        self.addCleanup(self.end, name, process)

    def end(self, name, process):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def classic(self):
        """deploy/kubernetes/sidecar/classic.yaml with images that are here, and a job of ours."""
        job = json.loads(self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f",
                                              ROOT / "deploy/kubernetes/sidecar/classic.yaml"))
        pod = job["spec"]["template"]["spec"]
        main, sidecar = pod["containers"]
        main.update(image=BASE, imagePullPolicy="Never", command=["/bin/sh", "-c", WORK])
        sidecar.update(image=IMAGE, imagePullPolicy="Never")
        # There is no central exporter here to forward to.
        sidecar["args"] = [a for a in sidecar["args"] if not a.startswith("--forward.")]
        self.addCleanup(self.delete, job["metadata"]["name"])
        return job

    def delete(self, name):
        """While the node still runs, so that nothing of the pod stays behind."""
        self.cluster.answers("delete", "job", name, "--cascade=foreground", "--grace-period=1", "--timeout=60s")
        wait_until(lambda: not self.cluster.get("pods")["items"], "the pod's end", SLOW)

    def prometheus(self, address):
        config = self.folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "pods", "static_configs": [{"targets": [f"{address}:9877"]}]}]}))
        self.begin("prometheus", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb",
                   "--web.listen-address=127.0.0.1:9090")

    def pod_address(self):
        pods = self.cluster.get("pods")["items"]
        return pods[0]["status"].get("podIP") if pods else None

    def ask(self, query):
        url = f"http://127.0.0.1:9090/api/v1/query?query={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                result = json.load(answer)["data"]["result"]
        except OSError:
            return None
        return float(result[0]["value"][1]) if result else None

    def test_the_job_arrives_in_prometheus_and_completes(self):
        job = self.classic()
        self.cluster.kubectl("create", "-f", "-", input=json.dumps(job))
        self.prometheus(wait_until(self.pod_address, "the pod's address", SLOW))
        named = 'job_name="load"'
        queries = (  # what, query, at least, at most
            ("CPU time, s", f"max_over_time(rightsize_job_cpu_seconds_total{{{named}}}[10m])", 2, 60),
            ("memory peak, MiB", f"max_over_time(rightsize_job_memory_peak_bytes{{{named}}}[10m]) / {MIB}", 60, 128),
            ("memory limit, MiB", f"max_over_time(rightsize_job_memory_limit_bytes{{{named}}}[10m]) / {MIB}", 128, 128),
            ("CPU limit, cores", f"max_over_time(rightsize_job_cpu_limit_cores{{{named}}}[10m])", 1, 1),
        )
        print(file=sys.stderr)
        for what, query, least, most in queries:
            value = wait_until(lambda q=query, n=least: (v := self.ask(q)) is not None and v >= n and v, query, SLOW)
            self.assertLessEqual(value, most, what)
            print(f"  {what:20}{value:8.3f}  {query}", file=sys.stderr)

        def completed():
            status = self.cluster.get("job", job["metadata"]["name"])["status"]
            self.assertNotIn("failed", status)
            return status.get("succeeded")
        self.assertEqual(wait_until(completed, "the Job to complete", SLOW), 1)
        pod = self.cluster.get("pods", "-l", f"job-name={job['metadata']['name']}")["items"][0]
        self.assertEqual(pod["status"]["phase"], "Succeeded")
        ended = {s["name"]: s["state"]["terminated"] for s in pod["status"]["containerStatuses"]}
        for name, state in ended.items():
            print(f"  {name:20}{state['reason']} {state['exitCode']}, {state['startedAt']} to {state['finishedAt']}",
                  file=sys.stderr)
            self.assertEqual(state["exitCode"], 0, name)
        self.assertGreaterEqual(ended["rightsize"]["finishedAt"], ended["main"]["finishedAt"])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    support.main()
