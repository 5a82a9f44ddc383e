"""Jobs of one name in several namespaces and clusters are different jobs, and the token of a namespace shows and takes only
its own."""
import json
import os
import time
import unittest

import support
from web_configured import basic, bcrypt

QUICK = ["true"]

# Bytes of a token's file that the exporter reads (exporter/client/bearer_token.h, without the NUL).
TOKEN_READ = 8191


def run_of(space, run_id, cluster=None, **more):
    now = time.time()
    run = {"run_id": run_id, "job_name": "load", "started_at": now - 10, "ended_at": now, "duration_seconds": 10,
           "outcome": "succeeded", "columns": {}, **more}
    return dict(run, **({"namespace": space} if space else {}), **({"cluster": cluster} if cluster else {}))


class Namespaces(support.Case):
    def of(self, space, *more):
        return self.query("runs", "--job-name=load", *([f"--namespace={space}"] if space else []), *more)

    def test_jobs_of_one_name_are_different_jobs(self):
        for flags in ([], ["--jobs.namespace=etl"], ["--jobs.namespace=ml", "--jobs.cluster=eu"]):
            self.run_job(QUICK, "load", flags)
        self.assertNotIn("namespace", self.of(None))
        self.assertEqual(self.of("etl")["namespace"], "etl")
        ours = self.of("ml", "--cluster=eu")
        self.assertEqual((ours["job_name"], ours["namespace"], ours["cluster"]), ("load", "ml", "eu"))
        for answer in (self.of(None), self.of("etl"), ours):
            self.assertEqual(len(answer["runs"]), 1)
        server = self.serve()
        for labels in ({}, {"namespace": "etl"}, {"namespace": "ml", "cluster": "eu"}):
            support.wait_until(lambda l=labels: server.job_value("rightsize_job_runs_total", "load", outcome="succeeded", **l) == 1,
                               f"the metric with {labels}")
        self.assertIn("load (namespace ml, cluster eu)", server.get("/report?job_name=load&namespace=ml&cluster=eu").text)
        self.assertEqual(len(server.get("/jobs").json["jobs"]), 3)
        self.assertEqual([j.get("namespace") for j in server.get("/jobs?search=etl").json["jobs"]], ["etl"])

    def test_the_pod_of_a_wrapper_gives_the_namespace(self):
        environment = dict(self.environment, POD_NAMESPACE="etl")
        self.run_job(QUICK, "load", env=environment)
        self.run_job(QUICK, "load", ["--no-jobs.pod-namespace"], env=environment)
        self.run_job(QUICK, "load", ["--jobs.namespace=ml"], env=environment)
        for space in (None, "etl", "ml"):
            self.assertEqual(len(self.of(space)["runs"]), 1)

    def test_the_only_job_of_a_name_needs_no_namespace(self):
        self.run_job(QUICK, "load", ["--jobs.namespace=etl"])
        self.run_job(QUICK, "loader")
        self.assertEqual(self.query("recommend", "--job-name=load")["namespace"], "etl")
        server = self.serve()
        for path in ("/recommend", "/stats", "/runs", "/servers", "/report"):
            self.assertEqual(server.get(f"{path}?job_name=load").status, 200, path)
        self.assertEqual(server.get("/runs?job_name=load").json["namespace"], "etl")
        # The job without a namespace is meant as soon as it is there.
        self.run_job(QUICK, "load")
        self.assertNotIn("namespace", server.get("/runs?job_name=load").json)
        self.assertNotIn("namespace", self.query("stats", "--job-name=load"))

    def test_the_only_cluster_of_a_namespace_needs_no_name(self):
        self.run_job(QUICK, "load", ["--jobs.namespace=etl", "--jobs.cluster=eu"])
        self.run_job(QUICK, "load", ["--jobs.namespace=etl2"])
        self.assertEqual(self.of("etl")["cluster"], "eu")
        self.run_job(QUICK, "load", ["--jobs.namespace=etl", "--jobs.cluster=us"])
        result = self.command("runs", "--job-name=load", "--namespace=etl", f"--history.path={self.history}")
        self.assertIn("load (namespace etl, cluster eu)", result.stderr)
        self.assertIn("load (namespace etl, cluster us)", result.stderr)
        self.assertNotIn("etl2", result.stderr)

    def test_a_name_of_several_namespaces_is_said(self):
        for space in ("etl", "ml"):
            self.run_job(QUICK, "load", [f"--jobs.namespace={space}"])
        result = self.command("recommend", "--job-name=load", f"--history.path={self.history}")
        self.assertIn("load (namespace etl)", result.stderr)
        self.assertIn("load (namespace ml)", result.stderr)
        self.assertIn("give the namespace", result.stderr)
        result = self.command("recommend", "--namespace=etl", f"--history.path={self.history}")
        self.assertIn("--job-name is missing", result.stderr)

    def test_a_run_is_handed_on_with_its_namespace(self):
        central = self.start("serve", "--web.listen-address=127.0.0.1:0", "--no-jobs.recognise", "--web.allow-changes",
                             f"--history.path={self.folder}/central.db")
        central.wait_address()
        self.run_job(QUICK, "load", ["--jobs.namespace=etl", "--jobs.cluster=eu", f"--forward.url=http://127.0.0.1:{central.port}"])
        told = central.get("/runs?job_name=load&namespace=etl&cluster=eu").json
        self.assertEqual(told["runs"], self.of("etl", "--cluster=eu")["runs"])

    def test_an_older_sender_tells_the_namespace_in_labels(self):
        server = self.serve("--web.allow-changes")
        run = run_of(None, "old", labels='{"app": "load", "namespace": "etl"}')
        self.assertEqual(server.get("/runs", "POST", json.dumps(run), Content_Type="application/json").status, 201)
        self.assertEqual(server.get("/runs?job_name=load&namespace=etl").json["runs"][0]["run_id"], "old")


class Tokens(support.Case):
    """The token of a namespace allows some requests and no others."""

    def central(self, *flags):
        tokens = self.folder / "tokens"
        tokens.mkdir()
        for space in ("etl", "ml"):
            (tokens / space).write_text(f"token of {space}\n")
        (tokens / ".hidden").write_text("hidden\n")
        config = self.folder / "web.yml"
        config.write_text(f"basic_auth_users:\n  carol: {bcrypt('carol123', 4)}\n")
        central = self.serve(f"--web.namespace-tokens={tokens}", f"--web.config.file={config}", *flags)
        self.assertEqual(self.post(central, "etl", run_of(None, "a"))[0], 201)
        self.assertEqual(self.post(central, "ml", run_of("ml", "b", outcome="interrupted"))[0], 201)
        return central

    def post(self, central, space, run):
        answer = central.get("/runs", "POST", json.dumps(run), Content_Type="application/json",
                             Authorization=f"Bearer token of {space}")
        return answer.status, answer.json

    def test_it_takes_runs_of_its_namespace_and_nothing_else(self):
        central = self.central()
        carol = basic("carol", "carol123")
        self.assertEqual(central.get("/runs?job_name=load&namespace=etl", Authorization=carol).json["runs"][0]["run_id"], "a")
        status, said = self.post(central, "etl", run_of("ml", "c"))
        self.assertEqual(status, 400)
        self.assertIn("accepted is etl, the namespace of this token, not ml", said["error"]["message"])
        status, said = self.post(central, "etl", [run_of("ml", "c"), run_of(None, "d")])
        self.assertEqual(status, 200)
        self.assertIn("error", said["runs"][0])
        self.assertFalse(said["runs"][1]["known"])
        # The run of another namespace, whose id became known, is not corrected.
        self.post(central, "etl", run_of(None, "b"))
        self.assertEqual(central.get("/runs?job_name=load&namespace=ml", Authorization=carol).json["runs"][0]["outcome"], "interrupted")
        self.assertEqual(self.post(central, "ml", run_of(None, "b"))[0], 201)
        for token in ("nobody", "hidden"):
            self.assertIn(self.post(central, token, run_of(None, "e"))[0], (401, 403))
        answer = central.get("/jobs", "POST", json.dumps({"job_name": "x", "pid": 1}), Content_Type="application/json",
                             Authorization="Bearer token of etl")
        self.assertEqual((answer.status, answer.json["error"]["code"]), (403, "not_allowed"))

    def test_it_reads_nothing_unless_told_so(self):
        central = self.central()
        for path in ("/jobs", "/metrics", "/runs?job_name=load"):
            self.assertEqual(central.get(path, Authorization="Bearer token of etl").status, 401, path)

    def test_it_reads_only_its_namespace(self):
        central = self.central("--web.namespace-tokens.read")

        def get(path, space="etl"):
            return central.get(path, Authorization=f"Bearer token of {space}")
        self.assertEqual([j["namespace"] for j in get("/jobs").json["jobs"]], ["etl"])
        self.assertEqual(get("/jobs").json["total"], 1)
        self.assertEqual([j["namespace"] for j in get("/overview", "ml").json["jobs"]], ["ml"])
        self.assertEqual([r["run_id"] for r in get("/runs?job_name=load").json["runs"]], ["a"])
        self.assertEqual(get("/runs?job_name=load&namespace=ml").status, 403)
        self.assertEqual(get("/report?run=b").status, 404)
        self.assertEqual(get("/report?run=a").status, 200)
        self.assertEqual(get("/series?run=b").status, 404)
        self.assertNotIn("ml", get("/runs?job_name=lord").text)
        for path in ("/metrics", "/events?run=a"):
            self.assertEqual(get(path).status, 403, path)
        self.assertEqual(get("/-/healthy").status, 200)
        self.assertEqual(get("/jobs", "nobody").status, 401)
        self.assertEqual(len(central.get("/jobs", Authorization=basic("carol", "carol123")).json["jobs"]), 2)

    def test_it_needs_no_name_of_the_only_cluster(self):
        central = self.central("--web.namespace-tokens.read")
        self.post(central, "ml", run_of("ml", "c", "eu", job_name="train"))
        answer = central.get("/runs?job_name=train", Authorization="Bearer token of ml")
        self.assertEqual((answer.status, answer.json.get("cluster")), (200, "eu"))
        self.assertEqual(central.get("/runs?job_name=train", Authorization="Bearer token of etl").status, 404)

    def changing(self, space, reads):
        """Makes the file of a token one that has the token for so many reads, and is empty after them."""
        file = self.folder / "tokens" / space
        file.unlink()
        os.mkfifo(file)
        pipe = os.open(file, os.O_RDWR)
        self.addCleanup(os.close, pipe)
        os.write(pipe, f"token of {space}\n".encode().ljust(TOKEN_READ, b"x") * reads)

    def test_a_token_that_changes_meanwhile_opens_nothing_more(self):
        central = self.central("--web.namespace-tokens.read")
        for reads in range(1, 4):
            self.changing("etl", reads)
            self.assertNotIn("ml", central.get("/jobs", Authorization="Bearer token of etl").text, f"{reads} reads")
            self.changing("etl", reads)
            self.assertIn(central.get("/-/reload", "POST", Authorization="Bearer token of etl").status, (401, 403), f"{reads} reads")

    def test_tokens_that_cannot_be_read_are_told(self):
        central = self.central("--web.namespace-tokens.read")
        (self.folder / "tokens" / "ml").write_text("")
        self.assertEqual(central.get("/jobs", Authorization="Bearer token of etl").status, 401)
        central.says("tokens of namespaces are refused until all are right")
        (self.folder / "tokens" / "ml").write_text("token of etl\n")
        self.assertEqual(central.get("/jobs", Authorization="Bearer token of etl").status, 401)
        (self.folder / "tokens" / "ml").write_text("token of ml\n")
        self.assertEqual(central.get("/jobs", Authorization="Bearer token of etl").status, 200)

    def test_without_users_only_tokens_read(self):
        tokens = self.folder / "tokens"
        tokens.mkdir()
        (tokens / "etl").write_text("token of etl\n")
        central = self.serve(f"--web.namespace-tokens={tokens}", "--web.namespace-tokens.read")
        for path in ("/jobs", "/overview", "/metrics", "/events"):
            self.assertEqual(central.get(path).status, 401, path)
        self.assertEqual(central.get("/-/healthy").status, 200)
        self.assertEqual(central.get("/").status, 200)
        self.post(central, "etl", run_of(None, "a"))
        self.assertEqual(len(central.get("/jobs", Authorization="Bearer token of etl").json["jobs"]), 1)
        (tokens / "etl").write_text("another\n")
        self.assertEqual(central.get("/jobs", Authorization="Bearer token of etl").status, 401)


if __name__ == "__main__":
    unittest.main(verbosity=2)
