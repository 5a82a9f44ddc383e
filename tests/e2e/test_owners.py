"""Jobs of a Kubernetes node are named by the owners of their pods: against a double of the API with TLS, and with processes in
control groups as the kubelet makes them."""
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import threading
import unittest
import uuid

from support import EXPORTER, STEADY, Case, main, wait_until

GROUPS = [pathlib.Path("/sys/fs/cgroup") / folder for folder in ("", "memory", "unified")]
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"],
                   check=True, capture_output=True)


class Api:
    """Answers what objects[path] says: a status, or metadata. Notes who asked for what."""

    def __init__(self, folder, name):
        self.objects, self.asked, self.hold = {}, [], threading.Event()
        self.hold.set()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                api.asked.append((self.path, self.headers["Authorization"], self.headers["Accept"]))
                api.hold.wait()
                found = api.objects.get(self.path, 404)
                status, body = (found, b"{}") if isinstance(found, int) else (200, json.dumps({"metadata": found}).encode())
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"https://127.0.0.1:{api.port}/elsewhere")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that does not trust it
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("openssl"), "makes control groups, and a certificate with openssl")
class Owners(Case):
    def setUp(self):
        super().setUp()
        self.account = self.folder / "account"
        self.account.mkdir()
        certificate(self.folder, "api")
        self.api = Api(self.folder, "api")
        self.addCleanup(self.api.end)
        (self.account / "token").write_text("first-token\n")
        shutil.copy(self.folder / "api.crt", self.account / "ca.crt")
        self.environment |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.api.port)}
        (self.folder / "root/var/log/pods").mkdir(parents=True)
        self.pod("unrelated-0")  # without a pod this machine is no node

    def pod(self, name):
        uid = str(uuid.uuid4())
        (self.folder / f"root/var/log/pods/etl_{name}_{uid}/main").mkdir(parents=True)
        return uid

    def owned(self, pod, uid, kind, version, owner, owner_uid="u"):
        self.api.objects[f"/api/v1/namespaces/etl/pods/{pod}"] = {
            "name": pod, "namespace": "etl", "uid": uid,
            "ownerReferences": [{"apiVersion": version, "kind": kind, "name": owner, "uid": owner_uid, "controller": True}]}

    def process_of(self, uid):
        """A process in the pod's control group, as far as this machine has any. Returns what ends it."""
        groups = []
        for folder in filter(lambda folder: (folder / "cgroup.procs").exists(), GROUPS):
            group = folder / f"rightsize-test-{os.getpid()}" / f"pod{uid}"
            with contextlib.suppress(OSError):
                group.mkdir(parents=True)
                groups.append(group)
        if not groups:
            self.skipTest("no control group may be made here")

        def leave():
            process.stdin.close()
            process.kill()
            process.wait()
            for folder in [folder for group in groups for folder in (group, group.parent)]:
                with contextlib.suppress(OSError):
                    folder.rmdir()

        # A shell enters the group, and then becomes the job. Pods of Jobs have a network of their own.
        enter = "".join(f"echo $$ >{group}/cgroup.procs; " for group in groups)
        process = subprocess.Popen(["sh", "-c", f'{enter}exec unshare --net "$@"', "sh", *STEADY], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(leave)
        return leave

    def node_flags(self):
        return "--jobs.recognise", f"--path.rootfs={self.folder}/root", f"--kubernetes.account={self.account}", "--log.level=debug"

    def node(self, *flags):
        return self.serve(*self.node_flags(), *flags)

    @staticmethod
    def found(server, job_name):
        return server.get(f"/runs?job_name={job_name}").json.get("runs", [])

    def wait_for(self, server, job_name):
        return wait_until(lambda: self.found(server, job_name), f"a run of {job_name}")

    def test_job_has_the_name_of_its_cron_job_or_of_its_prefix(self):
        server = self.node()
        job = "/apis/batch/v1/namespaces/etl/jobs/"
        first = self.pod("try1-x7k2p")
        self.owned("try1-x7k2p", first, "Job", "batch/v1", "try1", "j1")
        self.api.objects[f"{job}try1"] = {"name": "try1", "uid": "j1", "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly-by-owner", "uid": "c1"}]}
        self.process_of(first)
        [run] = self.wait_for(server, "nightly-by-owner")
        self.assertEqual(run["labels"], {"owner": "nightly-by-owner", "kind": "CronJob", "namespace": "etl"})
        # The kubelet renews the token.
        (self.account / "token").write_text("second-token\n")
        second = self.pod("load-by-prefix-tea22-x7k2p")
        self.owned("load-by-prefix-tea22-x7k2p", second, "Job", "batch/v1", "load-by-prefix-tea22", "j2")
        self.api.objects[f"{job}load-by-prefix-tea22"] = {"name": "load-by-prefix-tea22", "uid": "j2",
                                                          "generateName": "load-by-prefix-"}
        self.process_of(second)
        self.wait_for(server, "load-by-prefix")
        self.assertEqual({accept for _, _, accept in self.api.asked}, {METADATA})
        self.assertEqual({path.rpartition("/")[2]: token for path, token, _ in self.api.asked}, {
            "try1-x7k2p": "Bearer first-token", "try1": "Bearer first-token",
            "load-by-prefix-tea22-x7k2p": "Bearer second-token", "load-by-prefix-tea22": "Bearer second-token"})
        self.assertEqual(len(self.api.asked), 4)
        self.assertEqual(server.stop(), 0)
        log = "".join(server.log)
        self.assertEqual(log.count("jobs are named by their owners"), 1)
        self.assertNotIn("-token", log)

    def test_pod_of_a_daemon_set_is_no_job(self):
        server = self.node()
        uid, other = self.pod("agent-by-name-x7k2p"), self.pod("batch-by-name-x7k2p")
        self.owned("agent-by-name-x7k2p", uid, "DaemonSet", "apps/v1", "agent-by-name")
        self.process_of(uid)
        wait_until(lambda: self.api.asked, "the question")
        self.process_of(other)  # its pod is gone from the API
        self.wait_for(server, "batch-by-name")
        self.assertEqual(self.found(server, "agent-by-name"), [])

    def test_name_of_the_pod_stands_in_while_the_api_does_not_tell(self):
        pod = "load-{}-x7k2p"
        for what, status, needs in (("refused", 403, 'needs="get pods"'), ("unknown", 401, 'needs="a token that the API accepts"'),
                                    ("broken", 500, "answers 500"), ("elsewhere", 302, "answers 302")):
            with self.subTest(what):
                name = pod.format(what)
                uid = self.pod(name)
                self.api.asked.clear()
                self.api.objects[f"/api/v1/namespaces/etl/pods/{name}"] = status
                server = self.node()
                leave = self.process_of(uid)
                self.wait_for(server, f"load-{what}")
                leave()
                self.assertEqual(len(self.api.asked), 1)
                self.assertEqual(server.stop(), 0)
                lines = [line for line in server.log if "does not say who owns a pod" in line]
                self.assertEqual(len(lines), 1)
                self.assertIn(needs, lines[0])

    def test_job_is_named_by_what_is_known_while_the_api_does_not_tell_of_it(self):
        for what, status, says in (("refused", 403, 'needs="get jobs.batch" kind=Job status=403'), ("broken", 500, "kind=Job status=500")):
            with self.subTest(what):
                name = f"job-{what}"
                uid = self.pod(f"{name}-f4h8p-x7k2p")
                self.owned(f"{name}-f4h8p-x7k2p", uid, "Job", "batch/v1", f"{name}-f4h8p")
                self.api.objects[f"/apis/batch/v1/namespaces/etl/jobs/{name}-f4h8p"] = status
                server = self.node()
                leave = self.process_of(uid)
                [run] = self.wait_for(server, name)
                self.assertEqual(run["labels"], {"owner": name, "kind": "Job", "namespace": "etl"})
                leave()
                self.assertEqual(server.stop(), 0)
                lines = [line for line in server.log if "does not tell who owns" in line]
                self.assertEqual(len(lines), 1)
                self.assertIn(says, lines[0])

    def test_token_is_shown_to_the_api_of_the_authority_alone(self):
        certificate(self.folder, "other")
        shutil.copy(self.folder / "other.crt", self.account / "ca.crt")
        server = self.node()
        self.process_of(self.pod("load-untrusted-x7k2p"))
        self.wait_for(server, "load-untrusted")
        self.assertEqual(self.api.asked, [])
        self.assertTrue(server.said("does not say who owns a pod.*certificate"))

    def test_authorities_of_the_system_are_none_of_the_api(self):
        """Neither the file nor the folder of those that the system trusts."""
        trusted = self.folder / "trusted"
        trusted.mkdir()
        for name in ("api.crt", "ca-certificates.crt"):
            shutil.copy(self.folder / "api.crt", trusted / name)
        subprocess.run(["openssl", "rehash", trusted], check=True, capture_output=True)
        certificate(self.folder, "other")
        shutil.copy(self.folder / "other.crt", self.account / "ca.crt")
        server = self.start_program(
            ["unshare", "--mount", "/bin/sh", "-c", 'mount --bind "$1" /etc/ssl/certs && shift && exec "$@"', "-", trusted, EXPORTER,
             "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}", "--sample.interval=200ms",
             *self.node_flags()], stdout=subprocess.DEVNULL)
        server.wait_address()
        self.process_of(self.pod("load-trusted-x7k2p"))
        self.wait_for(server, "load-trusted")
        self.assertEqual(self.api.asked, [])
        self.assertTrue(server.said("does not say who owns a pod.*certificate"))

    def test_silent_api_delays_a_name_for_seconds_and_the_end_not_at_all(self):
        self.api.hold.clear()
        server = self.node()
        self.process_of(self.pod("load-silent-x7k2p"))
        wait_until(lambda: self.api.asked, "the question")
        [run] = self.wait_for(server, "load-silent")
        self.assertEqual(run["outcome"], "running")
        self.assertEqual(server.stop(), 0)

    def test_nobody_is_asked_without_a_token_or_a_wish(self):
        for what, flags, token in (("wish", ("--no-kubernetes.api",), True), ("token", (), False)):
            with self.subTest(what):
                if not token:
                    (self.account / "token").unlink()
                server = self.node(*flags)
                self.process_of(self.pod(f"load-no-{what}-x7k2p"))
                self.wait_for(server, f"load-no-{what}")
                self.assertEqual(server.stop(), 0)
                self.assertEqual(self.api.asked, [])
                self.assertNotIn("Kubernetes", "".join(server.log))


if __name__ == "__main__":
    main()
