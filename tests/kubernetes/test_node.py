"""The classic sidecar's manifest under a real Kubernetes: API server, controllers, scheduler, kubelet and containerd.

Run by run.sh, as root in mount, network and PID namespaces of its own.
"""
import json
import pathlib
import signal
import sys
import tempfile
import unittest

import yaml

import node
from node import ADDRESS, BINARIES, IMAGE, JOB_IMAGE, MIB, ROOT, SLOW, TOOLS, WORK, get, sh, show, wait_until
from sidecar import ENDED_WELL, PORT, SidecarCases

MANIFESTS = ROOT / "deploy/kubernetes"


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
        (folder / "names").write_text(f"subjectAltName=IP:127.0.0.1,IP:{ADDRESS},IP:10.96.0.1,DNS:localhost,DNS:node")
        for name, subject in self.subjects.items():
            sh("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", f"{name}.key",
               "-out", f"{name}.csr", cwd=folder)
            sh("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
               "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.crt", cwd=folder)

    def kubeconfig(self, name):
        file = self.folder / f"{name}.kubeconfig"
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": f"https://{ADDRESS}:6443",
                                                      "certificate-authority": str(self.folder / "ca.crt")}}],
            "users": [{"name": name, "user": {"client-certificate": str(self.folder / f"{name}.crt"),
                                              "client-key": str(self.folder / f"{name}.key")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}]}))
        return file


class Cluster:
    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
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

    def start_control_plane(self):
        c, begin = self.certificates.folder, self.programs.begin
        begin("etcd", TOOLS / "usr/bin/etcd", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync", "--log-level=warn")
        begin(
            "kube-apiserver", BINARIES / "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
            f"--bind-address={ADDRESS}", f"--advertise-address={ADDRESS}", "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
            f"--client-ca-file={c}/ca.crt", f"--tls-cert-file={c}/server.crt",
            f"--tls-private-key-file={c}/server.key", f"--service-account-key-file={c}/accounts.key",
            f"--service-account-signing-key-file={c}/accounts.key",
            "--service-account-issuer=https://kubernetes.default",
            "--kubelet-preferred-address-types=InternalIP", f"--kubelet-client-certificate={c}/admin.crt",
            f"--kubelet-client-key={c}/admin.key", f"--cert-dir={c}")
        wait_until(lambda: self.answers("get", "--raw", "/readyz"), "the API server", SLOW)
        begin(
            "kube-controller-manager", BINARIES / "kube-controller-manager",
            f"--kubeconfig={self.certificates.kubeconfig('controllers')}", "--use-service-account-credentials",
            f"--service-account-private-key-file={c}/accounts.key", f"--root-ca-file={c}/ca.crt",
            "--leader-elect=false", f"--cert-dir={c}")
        begin("kube-scheduler", BINARIES / "kube-scheduler", "--leader-elect=false", f"--cert-dir={c}",
              f"--kubeconfig={self.certificates.kubeconfig('scheduler')}")
        wait_until(lambda: self.answers("get", "serviceaccount", "default"), "the default service account", SLOW)

    def start_kubelet(self):
        c = self.certificates.folder
        node.start_kubelet(
            self.programs, self.folder,
            {"authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": f"{c}/ca.crt"}},
             "tlsCertFile": f"{c}/kubelet.crt", "tlsPrivateKeyFile": f"{c}/kubelet.key"},
            f"--kubeconfig={self.certificates.kubeconfig('kubelet')}")
        ready = '{.status.conditions[?(@.type=="Ready")].status}'
        wait_until(lambda: self.answers("get", "node", "node", "-o", f"jsonpath={ready}") == "True",
                   "the node to be ready", SLOW)


class Node(SidecarCases, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        folder.chmod(0o755)
        programs = node.Programs()
        cls.addClassCleanup(programs.end)
        cls.cluster = Cluster(folder, programs)
        node.isolate()
        node.start_containerd(programs, folder)
        cls.cluster.start_control_plane()
        cls.cluster.start_kubelet()
        cls.prometheus = node.Prometheus(programs, folder)

    def play(self, name, script, memory, flags):
        """Runs deploy/kubernetes/sidecar/classic.yaml with local images and a job of the test."""
        job = yaml.safe_load((MANIFESTS / "sidecar/classic.yaml").read_text())
        job["metadata"]["name"] = name
        job["spec"]["backoffLimit"] = 0
        job["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"] = name
        node.prepare(job["spec"]["template"]["spec"], script, memory, flags)
        self.addCleanup(self.delete, name)
        self.cluster.kubectl("create", "-f", "-", input=json.dumps(job))
        self.scrape(name)

    def delete(self, name):
        """Deletes the pod while the node still runs, so that nothing of the pod remains."""
        self.cluster.answers("delete", "job", name, "--cascade=foreground", "--grace-period=1", "--timeout=60s")
        wait_until(lambda: not self.cluster.get("pods")["items"], "the pod's end", SLOW)

    def pod(self, name):
        pods = self.cluster.get("pods", "-l", f"job-name={name}")["items"]
        return pods[0] if pods else None

    def test_the_job_arrives_in_prometheus_and_the_pod_completes(self):
        super().test_the_job_arrives_in_prometheus_and_the_pod_completes()
        wait_until(lambda: self.cluster.get("job", "load")["status"].get("succeeded") == 1, "the Job to complete", SLOW)
        self.assertEqual(self.pod("load")["status"]["phase"], "Succeeded")

    def test_the_api_server_takes_the_manifests(self):
        """The API server accepts all manifests except the native sidecar and the monitors, whose kinds it lacks."""
        self.cluster.kubectl("create", "namespace", "rightsize")
        for file in sorted(f for folder in ("central", "daemonset", "networkpolicy", "overlays/owners")
                           for f in (MANIFESTS / folder).glob("[!k]*.yaml")):
            self.cluster.kubectl("apply", "--dry-run=server", "--namespace=rightsize", "-f", file)
        self.cluster.kubectl("apply", "--dry-run=server", "-f", MANIFESTS / "sidecar/classic.yaml")

    def only(self, selector):
        pods = self.cluster.get("pods", "-l", selector)["items"]
        return pods[0] if pods else None

    def start_exporter_of_the_node(self):
        """deploy/kubernetes/daemonset/daemonset.yaml, with a history that goes with the test."""
        account, daemons = yaml.safe_load_all((MANIFESTS / "daemonset/daemonset.yaml").read_text())
        pod = daemons["spec"]["template"]["spec"]
        pod["containers"][0].update(image=IMAGE, imagePullPolicy="Never")
        node.keep_runs_here(pod, pod["containers"][0])
        pod["volumes"] = [{"name": v["name"], "emptyDir": {}} if v["name"] == "state" else v for v in pod["volumes"]]
        for thing in (account, daemons):
            self.create(thing)
        component = "app.kubernetes.io/component=node"
        wait_until(lambda: (p := self.only(component)) and all(c["ready"] for c in p["status"].get(
            "containerStatuses", [{"ready": False}])) and p, "the exporter of the node to be ready", SLOW)
        address = f"{self.only(component)['status']['podIP']}:{PORT}"
        self.prometheus.targets(address)
        return address

    def create(self, thing):
        self.addCleanup(self.cluster.answers, "delete", thing["kind"].lower(), thing["metadata"]["name"],
                        "--grace-period=1", "--timeout=60s")
        self.cluster.kubectl("create", "-f", "-", input=json.dumps(thing))

    def pod_spec(self, **container):
        return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{
            "name": "main", "image": JOB_IMAGE, "imagePullPolicy": "Never", "command": ["/bin/sh", "-c", WORK],
            "securityContext": {"runAsUser": 1000},
            "resources": {"limits": {"cpu": "100m", "memory": "128Mi"}}, **container}]}

    def test_the_exporter_of_the_node_knows_a_job_that_names_itself(self):
        self.start_exporter_of_the_node()
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "labels": {"app": "plain"}},
                     "spec": self.pod_spec(env=[{"name": "RIGHTSIZE_JOB_NAME", "value": "plain/job"}])})
        rows = []
        for what, metric, unit, least, most in (
                ("CPU time, s", "cpu_seconds_total", 1, 0.5, 60), ("memory peak, MiB", "memory_peak_bytes", MIB, 60, 128),
                ("memory limit, MiB", "memory_limit_bytes", MIB, 128, 128),
                ("CPU limit, cores", "cpu_limit_cores", 1, 0.1, 0.1),
                ("throttled periods", "cpu_throttled_periods_total", 1, 1, 9000),
                ("disk read, bytes", "disk_read_bytes_total", 1, 0, 1 << 30),
                ("unreadable", "unreadable_processes", 1, 0, 0)):
            query = f'max_over_time(rightsize_job_{metric}{{job_name="plain/job"}}[1h])'
            value = self.value(query, least * unit) / unit
            self.assertLessEqual(value, most, what)
            rows.append((f"{what:20}{value:9.3f}  {query}",))
        show("the exporter of the node", rows)

    def test_the_exporter_of_the_node_names_plain_jobs_by_their_pods(self):
        """Pods of a Job, an indexed Job and a CronJob's Job, with an ordinary program; a pod of a Deployment is no job."""
        address = self.start_exporter_of_the_node()
        template = {"metadata": {"labels": {"app": "plain"}}, "spec": self.pod_spec()}
        indexed = {"completionMode": "Indexed", "completions": 1, "parallelism": 1}
        for name, more in (("import-eu", {}), ("sweep", indexed), ("nightly-29401234", {})):
            self.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
                **more, "backoffLimit": 0, "template": template}})
        self.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "selector": {"matchLabels": {"app": "plain"}},
            "template": {**template, "spec": {**template["spec"], "restartPolicy": "Always"}}}})
        runs = []
        for job in ("import-eu", "nightly", "sweep"):
            def ended(job=job):
                of_job = json.loads(get(f"http://{address}/runs?job_name={job}&namespace=default") or '{"runs": []}')["runs"]
                return of_job if of_job and of_job[0]["outcome"] != "running" else None
            runs += wait_until(ended, f"the run of {job} to end", SLOW)
        show("named by their pods", [(r["outcome"], r["duration_seconds"], r["memory_peak_bytes"]) for r in runs])
        jobs = json.loads(get(f"http://{address}/jobs"))["jobs"]
        self.assertEqual({j["job_name"]: j["runs"] for j in jobs}, {"import-eu": 1, "nightly": 1, "sweep": 1})
        for run in runs:
            self.assertEqual(run["outcome"], ENDED_WELL)
            self.assertEqual(run["memory_limit_bytes"], 128 * MIB)
            self.assertGreater(run["memory_peak_bytes"], 60 * MIB)
            self.assertGreater(run["duration_seconds"], 5)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    node.main()
