"""Tests commands without a server: they give the same answers as HTTP, and their help texts help."""
import json
import os
import pathlib
import re
import shlex
import struct
import subprocess
import tempfile
import unittest
import urllib.parse

from support import DEADLINE, EXPORTER, Case, clean_environment, main, python_job

AS_ROOT = os.geteuid() == 0
SOMEBODY = 200000 + os.getpid() % 100000  # a user that owns nothing and runs no other process
NO_OPTIONS = ("help", "manual", "version")
COMMANDS = ("serve", "run", "recommend", "stats", "runs", "jobs")
SHORT_WORK = python_job("import time\nwhile time.process_time() < 0.2: pass")


def without(value, *keys):
    """Returns a JSON value without the parts that change from one question to the next."""
    if isinstance(value, dict):
        return {k: without(v, *keys) for k, v in value.items() if k not in keys}
    return [without(v, *keys) for v in value] if isinstance(value, list) else value


class Answers(Case):
    QUESTIONS = [
        ("jobs", {}), ("runs", {"job_name": "etl/load"}), ("stats", {"job_name": "etl/load"}),
        ("stats", {"job_name": "etl/load", "runs": "1"}),
        ("stats", {"job_name": "etl/load", "format": "resource-tracker"}),
        ("recommend", {"job_name": "etl/load"}), ("recommend", {"job_name": "etl/load", "runs": "2"}),
        ("recommend", {"job_name": "etl/load", "strategy": "baseline"}),
        ("recommend", {"job_name": "etl/load", "strategy": "percentile", "percentile": "0.5", "margin": "0.1"}),
        ("recommend", {"job_name": "etl/load", "risk": "safe", "input_bytes": "1e9", "attempt": "2"}),
    ]

    def setUp(self):
        super().setUp()
        for _ in range(3):
            self.run_job(SHORT_WORK, "etl/load", flags=["--sample.interval=100ms"])
        self.run_job(["false"], "etl/load")

    def test_are_those_of_the_server(self):
        server = self.serve()
        for command, parameters in self.QUESTIONS:
            with self.subTest(command=command, parameters=parameters):
                flags = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
                over_http = server.get(f"/{command}?" + urllib.parse.urlencode(parameters))
                self.assertEqual(over_http.status, 200, over_http.text)
                self.assertTrue(over_http.headers["Content-Type"].startswith("application/json"))
                # Only a server sizes all jobs in advance. The list of a command therefore says not_sized.
                differ = ["generated_at", "age_seconds", *(["apply", "warnings"] if command == "jobs" else [])]
                self.assertEqual(without(self.query(command, *flags), *differ), without(over_http.json, *differ))

    def test_runs_are_newest_first_with_what_was_promised(self):
        runs = self.runs("etl/load")
        self.assertEqual([run["outcome"] for run in runs], ["failed"] + ["succeeded"] * 3)
        for run in runs:
            for key in ("run_id", "started_at", "ended_at", "duration_seconds", "exit_code", "cpu_seconds",
                        "cpu_user_seconds", "cpu_system_seconds", "memory_peak_bytes"):
                self.assertIn(key, run)

    def test_recommend_has_its_shape(self):
        answer = self.query("recommend", "--job-name=etl/load", "--details")
        self.assertEqual(answer["job_name"], "etl/load")
        self.assertEqual(set(answer["resources"]), {"cpu", "memory", "gpu", "vram"})
        self.assertEqual({k: type(v) for k, v in answer["resources"].items()}, dict.fromkeys(answer["resources"], int))
        self.assertEqual(answer["resources"]["cpu"], 1)
        self.assertEqual(answer["strategy"], "auto")
        self.assertGreaterEqual(answer["resources"]["memory"], 16)
        self.assertLess(answer["resources"]["memory"], 128)
        self.assertTrue(answer["summary"].startswith("Request 1 CPU and "), answer["summary"])
        sources = {run["memory_source"] for run in self.runs("etl/load") if run["outcome"] == "succeeded"}
        self.assertEqual(answer["based_on"]["memory_source"], sources.pop() if len(sources) == 1 else "mixed")
        self.assertGreaterEqual(answer["limits"]["memory_bytes"], answer["demand"]["memory_bytes"])
        self.assertLess(0, answer["memory"]["too_small_probability"])
        cores = [row["cores"] for row in answer["cpu"]["at_cores"]]
        self.assertEqual(cores, sorted(set(cores)))
        self.assertLessEqual({1, answer["demand"]["cpu_cores"], answer["resources"]["cpu"]}, set(cores))
        self.assertLessEqual(cores[-1], 4)  # one process, which may have needed twice the CPU time that it got
        self.assertEqual(answer["hindsight"]["this"]["runs"], 2)
        self.assertEqual((answer["based_on"]["runs"], answer["based_on"]["excluded"]), (3, 1))
        self.assertTrue(answer["explain"])
        self.assertGreater(answer["catalogue"]["servers"], 100)
        self.assertGreaterEqual(len(answer["servers"]), 1)
        self.assertLess(0.2, answer["demand"]["duration_seconds"])

    def test_metaflow_is_a_line_to_paste(self):
        """For a small job, @resources would have no effect, because the default of @kubernetes is larger."""
        expected = re.compile(r"# @resources\(memory=(\d+)\) has no effect below 4096 MB\. "
                              r"On AWS Batch, use @batch\(cpu=1, memory=\d+\)\.\n@kubernetes\(cpu=[\d.]+, memory=\1\)\n?")
        result = self.command("recommend", "--job-name=etl/load", "--format=metaflow", f"--history.path={self.history}")
        self.assertRegex(result.stdout, expected)
        self.assertIsNotNone(expected.fullmatch(result.stdout))
        answer = self.serve().get("/recommend?job_name=etl/load&format=metaflow")
        self.assertIsNotNone(expected.fullmatch(answer.text))
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))

    def test_unknown_job_names_those_that_come_closest(self):
        self.run_job(["true"], "etl/store")
        for command in ("stats", "recommend", "runs"):
            with self.subTest(command=command):
                result = self.command(command, "--job-name=etl/laod", f"--history.path={self.history}")
                self.assertEqual(result.returncode, 1)
                self.assertIn("etl/load", result.stdout + result.stderr)

    def test_unknown_job_that_is_like_no_other_says_how_many_there_are(self):
        for name, words in (("etl/load", "the only one"), ("other", "all 2")):
            self.run_job(["true"], name)
            result = self.command("stats", "--job-name=zzzzzzzz", f"--history.path={self.history}")
            self.assertIn(f"the command jobs, lists {words}\n", result.stderr)

    def test_goes_where_o_says_and_replaces_no_device(self):
        self.run_job(["true"])
        question = ["jobs", f"--history.path={self.history}"]
        expected = self.command(*question).stdout
        file, link, fifo = (self.folder / name for name in ("file", "link", "fifo"))
        file.write_text("before")
        link.symlink_to(file)
        os.mkfifo(fifo)
        self.assertEqual(self.command(*question, "-o", str(link)).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(file.read_text(), expected)
        result = self.command(*question, "-o", str(fifo))
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"write {fifo}", result.stderr)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assertEqual(self.command(*question, "-o", str(fifo)).returncode, 0)
        self.assertEqual(os.read(reader, 1 << 16).decode(), expected)
        self.assertTrue(fifo.is_fifo())
        link.unlink()
        # /dev/stdout also leads to /proc/self/fd/1, which leads to a pipe.
        link.symlink_to("/proc/self/fd/1")
        self.assertEqual(self.command(*question, "-o", str(link)).stdout, expected)
        self.assertTrue(link.is_symlink())

    def linked(self, target):
        """Makes a link like /dev/stdout. The real one must not be lost if the test fails."""
        link = self.folder / f"link{len(list(self.folder.iterdir()))}"
        link.symlink_to(target)
        return link

    def test_a_report_to_stdout_comes_behind_what_the_job_wrote(self):
        out, link = self.folder / "out", self.linked("/proc/self/fd/1")
        with out.open("w") as stdout:
            subprocess.run([EXPORTER, *self.wrapper_arguments(["echo", "job output"], flags=["--quiet", f"--report={link}"])],
                           stdout=stdout, env=self.environment, timeout=DEADLINE, check=True)
        self.assertTrue(out.read_text().startswith("job output\n<!DOCTYPE html>"), out.read_text()[:100])
        self.assertTrue(link.is_symlink())

    def test_o_goes_on_where_a_descriptor_stands(self):
        question = [EXPORTER, "jobs", f"--history.path={self.history}"]
        self.run_job(["true"])
        expected = self.command(*question[1:]).stdout
        log = self.folder / "log"
        for stream, number in (("stdout", 1), ("stderr", 2)):
            for path in (self.linked(f"/proc/self/fd/{number}"), self.linked(f"/proc/thread-self/fd/{number}"),
                         self.linked(self.linked(f"/dev/fd/{number}")), log):
                log.write_text("before\n")
                with self.subTest(stream=stream, path=path), log.open("a") as file:
                    subprocess.run([*question, "-o", path], env=self.environment, timeout=DEADLINE, check=True,
                                   **{stream: file})
                    self.assertEqual(log.read_text(), "before\n" + expected)
                    self.assertEqual(path.is_symlink(), path != log)

    def test_what_has_no_name_is_written_to_all_the_same(self):
        self.run_job(["true"])
        question = ["jobs", f"--history.path={self.history}"]
        link = self.linked("/proc/self/fd/1")
        with tempfile.TemporaryFile("w+") as file:
            subprocess.run([EXPORTER, *question, "-o", link], stdout=file, env=self.environment, timeout=DEADLINE, check=True)
            file.seek(0)
            self.assertEqual(file.read(), self.command(*question).stdout)
        self.assertTrue(link.is_symlink())

    def test_what_the_program_opened_itself_is_not_written_to(self):
        self.run_job(["true"])
        before = self.command("jobs", f"--history.path={self.history}").stdout
        for number in range(3, 20):
            link = self.linked(f"/proc/self/fd/{number}")
            self.assertEqual(self.command("jobs", f"--history.path={self.history}", "-o", str(link)).returncode, 1)
            self.assertTrue(link.is_symlink())
        self.assertEqual(self.command("jobs", f"--history.path={self.history}").stdout, before)

    def test_a_link_to_nothing_gets_its_target_and_stays(self):
        self.run_job(["true"])
        question = ["jobs", f"--history.path={self.history}"]
        target = self.folder / "target"
        link = self.linked(self.linked("target"))
        self.assertEqual(self.command(*question, "-o", str(link)).returncode, 0)
        self.assertEqual(target.read_text(), self.command(*question).stdout)
        self.assertTrue(link.is_symlink())
        around = self.folder / "around"
        around.symlink_to(around)
        for lost in (around, self.linked(self.folder / "no folder" / "file"), self.linked(self.folder)):
            result = self.command(*question, "-o", str(lost))
            self.assertEqual(result.returncode, 1)
            self.assertNotEqual(result.stderr, "")
            self.assertTrue(lost.is_symlink())

    def test_a_file_keeps_its_permissions(self):
        self.run_job(["true"])
        file = self.folder / "file"
        for mode in (0o600, 0o640, 0o666):
            file.write_text("before")
            file.chmod(mode)
            self.assertEqual(self.command("jobs", f"--history.path={self.history}", "-o", str(file)).returncode, 0)
            self.assertEqual(file.stat().st_mode & 0o7777, mode)
            self.assertNotEqual(file.read_text(), "before")

    @unittest.skipUnless(AS_ROOT, "only root may become somebody else")
    def test_a_file_keeps_its_owner(self):
        self.run_job(["true"])
        question = ["jobs", f"--history.path={self.history}", "-o"]
        file = self.folder / "file"
        file.write_text("before")
        os.chown(file, SOMEBODY, SOMEBODY)
        self.assertEqual(self.command(*question, str(file)).returncode, 0)
        self.assertEqual((file.stat().st_uid, file.stat().st_gid), (SOMEBODY, SOMEBODY))
        self.assertNotEqual(file.read_text(), "before")
        # A user who may write the file, but not give one away, writes into the existing file.
        os.chown(file, 0, 0)
        for path in (self.folder, pathlib.Path(self.history)):
            path.chmod(0o777)
        for mode, of_folder, code in ((0o666, 0o777, 0), (0o666, 0o755, 0), (0o644, 0o777, 1)):
            with self.subTest(mode=mode, of_folder=of_folder):
                self.folder.chmod(of_folder)
                file.write_text("before" * 1000)
                file.chmod(mode)
                result = subprocess.run([EXPORTER, *question, file], capture_output=True, text=True, timeout=DEADLINE, check=False,
                                        env=self.environment, user=SOMEBODY, group=SOMEBODY, extra_groups=[])
                self.assertEqual(result.returncode, code, result)
                if code:
                    self.assertIn(f"write {file}", result.stderr)
                self.assertEqual((file.read_text() == "before" * 1000, file.stat().st_uid), (bool(code), 0))
                self.assertNotIn("beforebefore", "" if code else file.read_text())
                self.assertEqual(list(self.folder.glob("file.part*")), [])

    @unittest.skipUnless(AS_ROOT, "only root may mount")
    def test_a_file_that_is_mounted_is_written(self):
        self.run_job(["true"])
        file, mounted = self.folder / "file", self.folder / "mounted"
        script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
        for command, expected in (("jobs", '"job"'), ("export", '"run_id"')):
            with self.subTest(command):
                for path in (file, mounted):
                    path.write_text("before" * 1000)
                result = subprocess.run(["unshare", "--mount", "/bin/sh", "-c", script, "-", file, mounted, EXPORTER, command,
                                         f"--history.path={self.history}", "-o", mounted], capture_output=True, text=True,
                                        timeout=DEADLINE, check=False, env=self.environment)
                self.assertEqual(result.returncode, 0, result)
                self.assertIn(expected, file.read_text())
                self.assertNotIn("before", file.read_text())
                self.assertEqual(mounted.read_text(), "before" * 1000)
                self.assertEqual(list(self.folder.glob("mounted.part*")), [])

    def test_a_file_keeps_its_access_list(self):
        """The entries are the owner, another user, no group, and a user whom the mask would admit if it were a mode:
        acl(5), linux/posix_acl_xattr.h."""
        self.run_job(["true"])
        file = self.folder / "file"
        file.write_text("before")
        entries = ((1, 6, -1), (2, 6, SOMEBODY), (4, 0, -1), (0x10, 6, -1), (0x20, 0, -1))
        acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
        try:
            os.setxattr(file, "system.posix_acl_access", acl)
        except OSError as e:
            self.skipTest(f"no access lists here: {e}")
        self.assertEqual(self.command("jobs", f"--history.path={self.history}", "-o", str(file)).returncode, 0)
        self.assertNotEqual(file.read_text(), "before")
        self.assertEqual(os.getxattr(file, "system.posix_acl_access"), acl)
        self.assertEqual(file.stat().st_mode & 0o7777, 0o660)

    def test_a_history_that_is_not_there_is_named(self):
        result = self.command("runs", "--job-name=job", f"--history.path={self.folder}/none.db")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"{self.folder}/none.db", result.stdout + result.stderr)


class WrongUse(Case):
    WRONG = [
        (["--no-such-flag"], ["--no-such-flag", "--help"]),
        (["serve", "--no-such-flag"], ["--no-such-flag"]),
        (["no-such-command"], ["no-such-command", "--help"]),
        (["recomend"], ["recomend; did you mean recommend?", "--help"]),
        *((words, ["there is no command recomend; did you mean recommend?", "--help"])
          for words in (["help", "recomend"], ["recomend", "--help"], ["recomend", "-h"])),
        (["help", "nonsense"], ["there is no command nonsense\n"]),
        (["serve", "--sample.interval=1ms"], ["sample.interval", "1ms", "0.1"]),
        (["serve", "--sample.interval=soon"], ["sample.interval", "soon", "500ms"]),
        (["serve", "--log.level=loud"], ["log.level", "loud", "debug", "error"]),
        (["serve", "--history.runs-per-job=0"], ["history.runs-per-job", "0", "1"]),
        (["serve", "--history.max-size=1X"], ["history.max-size", "1X", "512M"]),
        (["serve", "--collector.nothing"], ["nothing", "memory"]),
        (["serve", "--history.path"], ["history.path"]),
        (["run", "--job-name=job"], ["COMMAND"]),
        (["run", "--job-name=job", "--"], ["COMMAND"]),
        (["run", "--job-name=job", "--unknown", "true"], ["--unknown", "write -- in front of the command"]),
        (["run", "--job-name=job", "--strict", "--attempt=0", "--", "true"], ["--attempt=0", "1 to 1000", "--strict"]),
        (["stats"], ["job-name"]),
        (["stats", "--job-name=job", "--runs=many"], ["runs", "many"]),
        (["recommend", "--job-name=job", "--colour=red"], ["colour"]),
        (["recommend", "--job-name=job", "--risk=none"], ["--risk", "none", "balanced, economy or safe"]),
        (["recommend", "--job-name=job", "--percentile=95"], ["--percentile", "95", "0.01 to 1"]),
        (["recommend", "--job-name=job", "--attempt=0"], ["--attempt", "1 to 10"]),
        (["recommend", "--job-name=job", "--input-bytes=much"], ["--input-bytes", "much", "a number"]),
        *(([command, "a/mem", "--job-name=a/mem"], ['"a/mem" is not a flag: did you mean --job-name=a/mem?', "--help"])
          for command in ("recommend", "servers", "benchmarks", "stats", "runs", "series", "csv", "report")),
        (["recommend", "--job-name=a/mem", "b"], ['"b" is not a flag', "--help"]),
        (["recommend", "--job-name=a/mem", "--", "b"], ['"b" is not a flag']),
        (["recommend", "--log.level=error", "b", "--job-name=a/mem"], ['"b" is not a flag']),
        *(([command, "a/mem"], ['"a/mem" is not a flag: give --NAME VALUE'])
          for command in ("jobs", "overview", "server")),
        (["catalogue", "info", "b"], ['unexpected argument "b"']),
        (["serve", "b"], ['serve: unexpected argument "b"', "Try rightsize-exporter serve --help"]),
        (["--log.level=error", "recommend", "--job-name=a"], ["give the command recommend in front of its options"]),
        (["rules", "capture", "b"], ['unexpected argument "b"', "Try rightsize-exporter rules --help"]),
        (["rules", "check", "f.yml"], ['unexpected argument "f.yml": did you mean --jobs.rules=f.yml?']),
        *((["rules", *words], [said, "accepted is test, check or capture", "Try rightsize-exporter rules --help"])
          for words, said in (([], "a word is missing"), (["nothing"], '"nothing"'))),
        (["rules", "check"], ["--jobs.rules=FILE is missing"]),
        *((["manual", *words], [said, "metrics, options", "zsh or fish", "Try rightsize-exporter manual --help"])
          for words, said in (([], "a word is missing"), (["nothing"], '"nothing"'))),
        *(([*words, "xx"], ['unexpected argument "xx"'])
          for words in (["help", "recommend"], ["help", "catalogue"], ["help", "all"], ["manual", "bash"], ["version"])),
        (["help", "--nothing"], ['unexpected argument "--nothing"']),
        (["recommend", "--job-name=a", "--explain=xx"], ["--explain takes no value"]),
        (["recommend", "--job-name=a", "--explain", "--explain"], ["--explain was given more than once"]),
        (["recommend", "--job-name=a", "--format=json", "--format=text"], ["--format was given more than once"]),
        (["recommend", "--job-name=a", "--format=slurm", "--explain"], ["--explain: format slurm does not use it, text does"]),
        (["recommend", "--job-name=a", "--format=xml"], ["--format=xml: accepted is json, text, yaml, metaflow"]),
        (["recommend", "--job-name=a", "--percentile=0.9"],
         ["--percentile: strategy auto does not use it", "Try rightsize-exporter recommend --help"]),
        (["recommend", "--job-name=a", "--gpu-memory=16Gi"], ["--gpu-memory: format json does not use it", "  ray\n"]),
        (["recommend", "--job-name=a", "--format=airflow", "--container=A"], ['--container: "A" is not the name']),
        (["servers", "--vendor=nobody"], ['--vendor: "nobody" is not in the catalogue', "Try rightsize-exporter servers --help"]),
        (["servers", "--vcpus-min=5", "--vcpus-max=3"], ["--vcpus-min: 5 is more than --vcpus-max, 3"]),
        (["servers", "--objective=benchmark"], ["--objective: ", " needs --benchmark, "]),
        (["servers", "--max-cost=1"], ["--max-cost needs --duration"]),
        (["recommend", "--job-name=a\nb"], ['--job-name: "a?b" is not accepted']),
        (["recommend", "--no\nname"], ['"no?name" is not a parameter here']),
        (["serve", "a\x1b[2Jb"], ['"a?[2Jb"']),
        *((["serve", f"--web.telemetry-path={path}"], ["--web.telemetry-path", path, "nothing else is at"])
          for path in ("/stats", "/web/app.js", "/-/healthy")),
    ]

    def test_exits_with_2_and_says_what_is_accepted(self):
        for arguments, words in self.WRONG:
            with self.subTest(arguments=arguments):
                result = self.command(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                for word in words:
                    self.assertIn(word, result.stderr)

    def test_wrong_environment_is_named(self):
        self.environment = clean_environment(RIGHTSIZE_SAMPLE_INTERVAL="never")
        result = self.command("serve")
        self.assertEqual(result.returncode, 2)
        self.assertIn("never", result.stderr)


class Help(Case):
    def words(self):
        """The commands that the help of the program names, and the verbs of those that have some: {"rules": {"test", ...}}."""
        listed = re.findall(r"(?m)^  rightsize-exporter \[?(\w+)\]? ?([a-z|]*)", self.command("--help").stdout)
        words = {word: set() for word, _ in listed}
        for word, verbs in listed:
            words[word] |= set(filter(None, verbs.split("|")))
        return words

    def test_each_command_explains_itself(self):
        for command in COMMANDS:
            for flag in ("--help", "-h"):
                with self.subTest(command=command, flag=flag):
                    result = self.command(command, flag)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertIn(f"rightsize-exporter {command}".replace(" serve", " [serve]"), result.stdout)
                    self.assertIn("--history.path", result.stdout)
                    self.assertTrue(all(len(line) <= 120 for line in result.stdout.splitlines()))

    def test_help_shows_what_most_people_need_and_all_on_request(self):
        for command, rare in (("serve", "--path.procfs"), ("run", "--run.cgroup"), ("recommend", "--exclude")):
            short, full = self.command(command, "--help").stdout, self.command(command, "--help=all").stdout
            self.assertNotIn(rare, short)
            self.assertIn(rare, full)
            self.assertRegex(short, r"\n\d+ more options: --help=all\n$")
            self.assertNotIn("more options", full)
            self.assertLess(len(short.splitlines()), 75)
            self.assertIn("\nExamples:\n", short)
            self.assertEqual(self.command("help", command).stdout, short)

    def test_help_shows_at_most_ten_options_of_each_command(self):
        flag = re.compile(r"(?m)^  (?:-o FILE, )?--([\w.-]+).*?(\(required\))?$")
        for command in self.words():
            with self.subTest(command=command):
                short, full = self.command("help", command).stdout, self.command("help", command, "--help=all").stdout
                if command in NO_OPTIONS:
                    self.assertEqual((short, re.findall("(?m)^  -", full)), (full, []))
                    continue
                shown, every = (dict(flag.findall(text)) for text in (short, full))
                self.assertLessEqual(len(shown), 10)
                self.assertEqual(len(shown), len(re.findall("(?m)^  -", short)))
                self.assertLess(set(shown), set(every))
                self.assertEqual({name for name, required in every.items() if required} - set(shown), set())
                left_out = [name for name in every if name not in shown and not name.startswith(("collector.", "no-collector."))]
                self.assertIn(f"\n{len(left_out)} more options: --help=all\n", short)

    def test_commands_without_options_explain_themselves(self):
        for command, words in (("help", COMMANDS), ("manual", ("bash", "man-routes")), ("version", ())):
            text = self.command("help", command).stdout
            self.assertRegex(text, rf"^rightsize-exporter {command}\b")
            for word in words:
                self.assertRegex(text, rf"\b{word}\b")
            for flags in (["--help"], ["-h"], ["--help=all"]):
                self.assertEqual(self.command(command, *flags).stdout, self.command(*flags).stdout if command == "help" else text)
            self.assertIn(f"\n.TP\n\\fB{command}\\fR\n", self.command("manual", "man").stdout)
        self.assertEqual(self.command("help", "all").stdout, self.command("--help=all").stdout)
        self.assertIn("--help=all lists all", self.command("--help").stdout)

    def test_formats_of_recommend_are_all_in_its_help(self):
        for flag in ("--help", "--help=all"):
            text = " ".join(self.command("recommend", flag).stdout.split())
            self.assertIn("--format=VALUE (default text on a terminal, else json) ", text)
            self.assertIn(": json, text, yaml, metaflow,", text)

    def test_reasons_are_text_in_a_pipe_too(self):
        self.run_job(SHORT_WORK, "etl/load")
        question = ["recommend", "--job-name=etl/load", "--explain", f"--history.path={self.history}"]
        text = self.command(*question).stdout
        self.assertTrue(text.startswith("Request "), text)
        self.assertEqual(self.command(*question, "--format=text").stdout, text)
        self.assertTrue(json.loads(self.command(*question, "--format=json").stdout)["explain"])

    def test_all_without_a_command_has_the_options_of_the_server(self):
        short, full = self.command("--help").stdout, self.command("--help=all").stdout
        self.assertTrue(full.startswith(short))
        self.assertNotIn("--path.procfs", short)
        options = self.command("serve", "--help=all").stdout
        self.assertTrue(full.endswith(options[options.index("  --web.listen-address"):options.index("\nExamples:")]))

    def test_examples_are_commands_of_this_program(self):
        """Each example is parsed. It may only fail because the files that it names do not exist."""
        man = self.command("manual", "man").stdout
        self.assertIn(".SH EXAMPLES", man)
        for command, verbs in self.words().items():
            text = self.command("help", command).stdout
            text = text[text.index("\nExamples:\n"):]
            for verb in verbs or {""}:
                self.assertIn(f"\n  rightsize-exporter {command} {verb}".rstrip(), text)
            for line in re.findall(r"(?m)^  (rightsize-exporter .*)\n {6}", text):
                arguments = shlex.split(line)[1:]
                self.assertIn(".TP\n\\fB" + line.replace("-", "\\-"), man)
                if arguments[0] in ("serve", "run") or arguments[:2] in (["rules", "capture"], ["catalogue", "update"]):
                    continue
                flags = [] if arguments[0] in NO_OPTIONS else [f"--history.path={self.folder}/none.db"]
                if arguments[0] == "catalogue":
                    flags.append(f"--catalogue.cache={self.folder}/catalogue.db")
                result = self.command(*arguments, *flags)
                self.assertIn(result.returncode, (0, 1), result.stderr)

    def test_without_a_command_lists_the_commands(self):
        for arguments in (["--help"], ["-h"], ["help"], ["help", "help"], ["help", "--help"]):
            result = self.command(*arguments)
            self.assertEqual(result.returncode, 0)
            for command in COMMANDS:
                self.assertIn(command, result.stdout)

    def test_version_names_program_and_number(self):
        result = self.command("--version")
        self.assertEqual(result.returncode, 0)
        for arguments in (["version"], ["-V"], ["recommend", "-V"], ["run", "--version"], ["run", "-V", "--", "true"],
                          ["--log.level=info", "--version"]):
            self.assertEqual(self.command(*arguments).stdout, result.stdout, arguments)
        self.assertRegex(result.stdout, r"^rightsize-exporter, version \d+\.\d+\.\d+ \(branch: \S+, revision: \S+\)\n")

    def test_flags_win_over_the_environment(self):
        self.environment = clean_environment(RIGHTSIZE_HISTORY_PATH="/nowhere/history.db", HOME=str(self.folder))
        self.run_job(["true"])
        self.assertEqual(self.only_run()["outcome"], "succeeded")

    def test_environment_wins_over_the_default(self):
        self.environment = clean_environment(RIGHTSIZE_HISTORY_PATH=self.history, HOME=str(self.folder))
        self.assertEqual(self.command("run", "--job-name=job", "--", "true").returncode, 0)
        self.assertEqual(len(json.loads(self.command("runs", "--job-name=job").stdout)["runs"]), 1)


if __name__ == "__main__":
    main()
