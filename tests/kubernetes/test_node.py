"""The classic sidecar's manifest under a real Kubernetes: API server, controllers, scheduler, kubelet and containerd.

Run by run.sh, as root in mount, network and PID namespaces of its own.
"""
import json
import pathlib
import signal
import sys
import tempfile
import unittest

import node
from node import ADDRESS, BINARIES, ROOT, SLOW, TOOLS, sh, wait_until
from sidecar import SidecarCases


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
        """deploy/kubernetes/sidecar/classic.yaml with images that are here, and a job of ours."""
        job = json.loads(self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f",
                                              ROOT / "deploy/kubernetes/sidecar/classic.yaml"))
        job["metadata"]["name"] = name
        job["spec"]["backoffLimit"] = 0
        job["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"] = name
        node.prepare(job["spec"]["template"]["spec"], script, memory, flags)
        self.addCleanup(self.delete, name)
        self.cluster.kubectl("create", "-f", "-", input=json.dumps(job))
        self.scrape(name)

    def delete(self, name):
        """While the node still runs, so that nothing of the pod stays behind."""
        self.cluster.answers("delete", "job", name, "--cascade=foreground", "--grace-period=1", "--timeout=60s")
        wait_until(lambda: not self.cluster.get("pods")["items"], "the pod's end", SLOW)

    def pod(self, name):
        pods = self.cluster.get("pods", "-l", f"job-name={name}")["items"]
        return pods[0] if pods else None

    def test_the_job_arrives_in_prometheus_and_the_pod_completes(self):
        super().test_the_job_arrives_in_prometheus_and_the_pod_completes()
        wait_until(lambda: self.cluster.get("job", "load")["status"].get("succeeded") == 1, "the Job to complete", SLOW)
        self.assertEqual(self.pod("load")["status"]["phase"], "Succeeded")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    node.main()
