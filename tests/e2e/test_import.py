"""Runs that export prints, and runs of other programs that import reads."""
import http.server
import json
import pathlib
import sys
import threading

import support
from support import python_job

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import prometheus_double  # noqa: E402

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures/import"


def made_up(number, **more):
    return json.dumps({"run_id": f"r{number}", "job_name": "load", "started_at": 1000 + number, "ended_at": 1010 + number,
                       "duration_seconds": 10, "outcome": "succeeded", "columns": {"memory_peak_bytes": {"n": 1, "max": 1e8}}, **more})


class Transfer(support.Case):
    def setUp(self):
        super().setUp()
        self.environment["TZ"] = "UTC"

    def do_import(self, *arguments, history=None, code=0, **options):
        result = self.command("import", f"--history.path={history or self.history}", *map(str, arguments), **options)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return result

    def do_export(self, *arguments, history=None):
        result = self.command("export", f"--history.path={history or self.history}", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def answers(self, history, job_name, *flags):
        """Returns the answers of /runs and /recommend, without the time of the answer."""
        found = []
        for command in ("runs", "recommend"):
            result = self.command(command, f"--history.path={history}", f"--job-name={job_name}", "--no-cloud.discovery",
                                  *flags)
            self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(result.stdout)
            answer.pop("generated_at", None)
            found.append(answer)
        return found


class RoundTrip(Transfer):
    def setUp(self):
        super().setUp()
        work = "x = bytearray(30 << 20)\nfor _ in range(3): sum(range(1000000))"
        for _ in range(3):
            self.assertEqual(self.run_job(python_job(work), "etl/load", ["--request-memory=1Gi"]).returncode, 0)
        self.assertEqual(self.run_job(python_job(work + "\nraise SystemExit(3)"), "etl/load").returncode, 3)
        self.assertEqual(self.run_job(python_job(work), "etl/clean", ["--jobs.namespace=ours", "--input-bytes=5M"]).returncode, 0)

    def test_another_history_gives_the_same_answers(self):
        exported, other = self.folder / "runs.jsonl", self.folder / "other.db"
        self.assertEqual(self.do_export("-o", str(exported)), "")
        self.assertIn("5 runs added, 0 known already, 0 wrong", self.do_import(exported, history=other).stdout)
        self.assertIn("0 runs added, 5 known already, 0 wrong", self.do_import(exported, history=other).stdout)
        for job in (["etl/load"], ["etl/clean", "--namespace=ours"]):
            self.assertEqual(self.answers(self.history, *job), self.answers(other, *job))
        self.assertEqual(exported.read_text(encoding="utf-8"), self.do_export(history=other))

    def test_post_runs_takes_each_line(self):
        lines = self.do_export().splitlines()
        first, self.history = self.history, str(self.folder / "central.db")
        server = self.serve("--web.allow-changes")
        for line in lines:
            answer = server.get("/runs", "POST", line, Content_Type="application/json")
            self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.answers(first, "etl/load"), self.answers(self.history, "etl/load"))

    def test_post_runs_takes_what_get_runs_gives(self):
        first, jobs = self.serve("--web.allow-changes"), ("job_name=etl/load", "job_name=etl/clean&namespace=ours")
        exported, taken = self.do_export(), [first.get(f"/runs?{job}&export=true") for job in jobs]
        plain = first.get("/runs?job_name=etl/load")
        self.assertEqual(first.stop(), 0)
        self.history = str(self.folder / "second.db")
        second = self.serve("--web.allow-changes")
        for answer in taken:
            told = second.get("/runs", "POST", answer.text, Content_Type="application/json")
            self.assertEqual((told.status, [run["known"] for run in told.json["runs"]]), (200, [False] * len(answer.json["runs"])))
        # Without their columns, runs are no evidence.
        told = second.get("/runs", "POST", plain.text, Content_Type="application/json")
        self.assertEqual(told.status, 200)
        self.assertTrue(all("is missing" in run["error"]["message"] for run in told.json["runs"]), told.text)
        self.assertEqual(second.stop(), 0)
        self.assertCountEqual(self.do_export().splitlines(), exported.splitlines())
        files = [self.folder / f"{i}.json" for i in range(len(taken))]
        for file, answer in zip(files, taken):
            file.write_text(answer.text, encoding="utf-8")
        third = self.folder / "third.db"
        self.assertIn("5 runs added, 0 known already, 0 wrong", self.do_import(*files, history=third).stdout)
        self.assertCountEqual(self.do_export(history=third).splitlines(), exported.splitlines())

    def test_a_message_that_was_cut_off_takes_no_run_along(self):
        cut = self.serve().get("/runs?job_name=etl/load&export=true").text.splitlines()[:3]
        self.assertEqual(cut[0], "{")
        file, other = self.folder / "cut.json", self.folder / "other.db"
        file.write_text("\n".join(cut) + "\n" + self.do_export(), encoding="utf-8")
        result = self.command("import", f"--history.path={other}", str(file))
        self.assertEqual(result.returncode, 1)
        self.assertIn("5 runs added, 0 known already, 1 wrong", result.stdout + result.stderr)
        self.assertIn("cut.json:1: the message has no end", result.stderr)

    def test_export_of_some_jobs(self):
        self.assertEqual(len(self.do_export().splitlines()), 5)
        names = {json.loads(line)["job_name"] for line in self.do_export("--job-name=etl/load").splitlines()}
        self.assertEqual(names, {"etl/load"})
        ours = [json.loads(line) for line in self.do_export("--namespace=ours").splitlines()]
        self.assertEqual([(run["job_name"], run["namespace"]) for run in ours], [("etl/clean", "ours")])
        for chosen, said in ("--cluster=eu", "this --job-name"), ("--job-name=etl/laod", "this --job-name"):
            result = self.command("export", f"--history.path={self.history}", chosen)
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertIn("0 runs written", result.stderr)
            self.assertIn(said, result.stderr)

    def test_while_a_server_writes(self):
        exported = self.do_export()
        self.history = str(self.folder / "served.db")
        server = self.serve()
        (self.folder / "runs.jsonl").write_text(exported, encoding="utf-8")
        self.do_import(self.folder / "runs.jsonl")
        self.assertEqual(len(server.get("/runs?job_name=etl/load").json["runs"]), 4)


class Lines(Transfer):
    def write(self, *lines):
        path = self.folder / "runs.jsonl"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def test_a_wrong_line_has_its_number_and_reason(self):
        path = self.write(made_up(1), "no JSON", made_up(2), made_up(3, exit_code=1e9), made_up(4))
        result = self.do_import(path, code=1)
        self.assertIn("3 runs added, 0 known already, 2 wrong", result.stdout)
        self.assertRegex(result.stderr, rf"{path}:2: .*JSON")
        self.assertRegex(result.stderr, rf"{path}:4: exit_code: accepted is")

    def test_many_wrong_lines_are_counted(self):
        result = self.do_import(self.write(*["{}"] * 500, made_up(1)), code=1)
        self.assertIn("1 run added, 0 known already, 500 wrong", result.stdout)
        self.assertEqual(result.stderr.count("run_id"), 100)
        self.assertIn("only the first 100", result.stderr)

    def test_the_key_of_the_user(self):
        self.do_import(self.write(made_up(1), made_up(2, namespace="theirs")), "--namespace=ours", "--cluster=eu")
        exported = [json.loads(line) for line in self.do_export().splitlines()]
        self.assertEqual([(run["job_name"], run["namespace"], run["cluster"]) for run in exported], [("load", "ours", "eu")] * 2)

    def test_standard_input_and_several_files(self):
        first, second = self.write(made_up(1)), self.folder / "second.jsonl"
        second.write_text(made_up(2), encoding="utf-8")  # without a newline at the end
        self.do_import(first, "--job-name=mine", second)
        with open(first, encoding="utf-8") as file:
            self.do_import("-", stdin=file)
        self.assertEqual([json.loads(line)["job_name"] for line in self.do_export().splitlines()], ["mine", "mine"])

    def test_many_runs_keep_their_order(self):
        self.do_import(self.write(*(made_up(n) for n in range(5000))))
        ids = [json.loads(line)["run_id"] for line in self.do_export().splitlines()]
        self.assertEqual(ids, [f"r{n}" for n in range(5000)])

    def test_bad_usage(self):
        for arguments, said in ((["import"], "FILE is missing"),
                                (["import", "--from=excel", "x"], "accepted is runs, sacct"),
                                (["import", "a", "--from", "sacct", "b", "--job-nam=x"], "did you mean --job-name"),
                                (["import", "a", "--from"], "--from needs a value"),
                                (["export", "x"], "unexpected argument"),
                                (["export", "--job-nam=x"], "did you mean --job-name"),
                                (["import", "--output=x", "y"], "unknown option")):
            result = self.command(*arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(said, result.stderr)
            self.assertIn(f"Try rightsize-exporter {arguments[0]} --help", result.stderr)

    def test_files_that_cannot_be_read(self):
        for path, said in ((self.folder / "none", "No such file"), (self.folder, "is a folder")):
            self.assertIn(said, self.do_import(path, code=1).stderr)
        file = self.write("JobID|State")
        for flags, path, said in (((), file, "name that program with --from"),
                                  ((), "http://user:secret@127.0.0.1:1", "a URL needs --from=prometheus"),
                                  (("--from=prometheus",), file, f"{file} is a file")):
            result = self.do_import(path, *flags, code=1)
            self.assertIn(said, result.stderr)
            self.assertNotIn("secret", result.stderr)
        result = self.command("export", f"--history.path={self.folder / 'none.db'}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none.db", result.stderr)

    def test_a_file_of_export_is_whole(self):
        out = self.folder / "out"
        out.write_text("old", encoding="utf-8")
        self.assertEqual(self.command("export", "-o", str(out), f"--history.path={self.folder / 'none.db'}").returncode, 1)
        self.assertEqual(out.read_text(encoding="utf-8"), "old")
        self.do_import(self.write(made_up(1)))
        self.do_export(f"--output={out}")
        self.assertEqual(json.loads(out.read_text(encoding="utf-8"))["run_id"], "r1")
        self.assertEqual(sorted(path.name for path in self.folder.glob("out*")), ["out"])


class Sources(Transfer):
    def test_a_first_answer(self):
        """From nothing to a recommendation: two commands."""
        for source, name, job, memory in (("sacct", "sacct.txt", "align", 2560), ("nextflow", "nextflow_raw.txt", "SORT", 106),
                                          ("snakemake", "snakemake.tsv", "snakemake/sort_reads", 154)):
            history = self.folder / f"{source}.db"
            self.do_import(f"--from={source}", FIXTURES / name, history=history)
            runs, recommended = self.answers(history, job)
            self.assertEqual({run["memory_source"] for run in runs["runs"]}, {source})
            self.assertGreaterEqual(recommended["resources"]["memory"], memory)
            self.assertLess(recommended["resources"]["memory"], 2 * memory)

    def test_the_source_of_the_peak_is_told(self):
        self.do_import("--from=snakemake", FIXTURES / "snakemake.tsv")
        answer = self.query("recommend", "--job-name=snakemake/sort_reads", "--details", "--no-cloud.discovery")
        self.assertIn("Snakemake sampled", json.dumps(answer))

    def test_a_run_without_an_outcome(self):
        file = FIXTURES / "resource_tracker.json"
        result = self.do_import("--from=resource-tracker", file, code=1)
        self.assertIn("0 runs added, 0 known already, 0 wrong, 1 without an outcome", result.stdout)
        self.assertIn("--outcome=succeeded", result.stderr)
        self.do_import("--from=resource-tracker", "--outcome=succeeded", "--job-name=flow/train", file)
        run = self.only_run("flow/train")
        self.assertEqual((run["memory_source"], run["machine_cpus"]), ("resource-tracker", 2))


class Prometheus(Transfer):
    def setUp(self):
        super().setUp()
        self.double = prometheus_double.Double(FIXTURES / "prometheus.json")
        self.addCleanup(self.double.close)

    def read(self, *arguments, code=0):
        return self.do_import("--from=prometheus", "--window=10m", *arguments, self.double.url, code=code)

    def test_pods_and_groups(self):
        self.assertIn("4 runs added, 0 known already, 0 wrong, 1 not ended", self.read("--outcome=succeeded").stdout)
        self.assertIn("0 runs added, 4 known already", self.read("--outcome=succeeded").stdout)
        runs = [json.loads(line) for line in self.do_export().splitlines()]
        self.assertEqual(sorted((run["job_name"], run.get("namespace"), run["outcome"], run["memory_source"]) for run in runs
                                if run["memory_source"] == "cadvisor"),
                         [("load", "etl", "succeeded", "cadvisor"), ("load", "etl", "succeeded", "cadvisor"),
                          ("train", "ml", "oom_killed", "cadvisor")])
        [group] = [run for run in runs if run["memory_source"] == "process-exporter"]
        self.assertEqual((group["job_name"], group["host"]), ("load", "127.0.0.1:19412"))
        load = next(run for run in runs if run["system_run"] == "load-29924881-abcde")
        self.assertEqual((load["duration_seconds"], load["requested_memory_bytes"]), (20, 1 << 30))
        self.assertAlmostEqual(load["columns"]["memory_peak_bytes"]["max"], 300 << 20, delta=20 << 20)
        self.assertAlmostEqual(load["columns"]["cpu_seconds"]["sum"], 10, delta=1)

    def test_the_token_is_shown(self):
        token = self.folder / "token"
        token.write_text("secret-of-ours\n", encoding="utf-8")
        result = self.read("--outcome=succeeded", f"--token-file={token}")
        self.assertEqual(set(self.double.authorizations), {"Bearer secret-of-ours"})
        self.assertNotIn("secret-of-ours", result.stdout + result.stderr)

    def test_an_empty_window(self):
        self.double.answers.clear()
        self.assertIn("has neither", self.read(code=1).stderr)

    def test_answers_that_are_no_vector(self):
        for answer in ([], {"data": 3}, {"data": {"result": {}}}):
            self.double.answers = {query: answer for query in self.double.asked or [""]}
            if self.double.asked:
                self.assertIn("answered 200", self.read(code=1).stderr)
            else:
                self.read("--outcome=succeeded", code=1)

    def test_an_error_is_told(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(422)
                self.end_headers()
                self.wfile.write(b'{"status": "error", "error": "query processing would load too many samples"}')

            def log_message(self, *arguments):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        result = self.do_import("--from=prometheus", f"http://127.0.0.1:{server.server_address[1]}", code=1)
        self.assertIn("answered 422: query processing would load too many samples", result.stderr)
        self.double.close()
        self.assertEqual(self.read(code=1).returncode, 1)


if __name__ == "__main__":
    support.main()
