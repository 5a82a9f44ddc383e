"""The classic sidecar's pod under a kubelet without an API server, which reads it from a file.

run.sh --vm runs it in a virtual machine with only cgroup v2, where an API server would take minutes to start."""
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest

import node
from node import ADDRESS, SLOW, get, wait_until
from sidecar import SidecarCases

KUBELET_PORT = 10255
CLASSIC = pathlib.Path(__file__).resolve().parent / "classic.json"


class Alone(SidecarCases, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        cls.pods = cls.folder / "pods"
        cls.pods.mkdir()
        cls.programs = node.Programs()
        cls.addClassCleanup(cls.programs.end)
        node.isolate()
        node.start_containerd(cls.programs, cls.folder)
        node.start_kubelet(cls.programs, cls.folder, {
            "staticPodPath": str(cls.pods), "readOnlyPort": KUBELET_PORT, "fileCheckFrequency": "1s",
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"}})
        wait_until(lambda: get(f"http://{ADDRESS}:{KUBELET_PORT}/pods"), "the kubelet", SLOW)
        cls.prometheus = node.Prometheus(cls.programs, cls.folder)

    def play(self, name, script, memory, flags):
        template = json.loads(CLASSIC.read_text())["spec"]["template"]
        template["metadata"]["labels"]["app.kubernetes.io/name"] = name
        node.prepare(template["spec"], script, memory, flags)
        file = self.pods / f"{name}.json"
        self.addCleanup(self.delete, name, file)
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
            **template["metadata"], "name": name}}))
        self.scrape(name)

    def delete(self, name, file):
        file.unlink()
        wait_until(lambda: not self.pod(name), "the pod's end", SLOW)

    def pod(self, name):
        pods = json.loads(get(f"http://{ADDRESS}:{KUBELET_PORT}/pods") or "{}").get("items") or []
        return next((p for p in pods if p["metadata"]["labels"].get("app.kubernetes.io/name") == name), None)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    node.main()
