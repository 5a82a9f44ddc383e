"""run: the job does not notice that it is watched, and its usage is recorded."""
import contextlib
import os
import pathlib
import pty
import re
import resource
import shlex
import signal
import socket
import sqlite3
import subprocess

from support import DEADLINE, EXPORTER, Case, children_of, clean_environment, main, python_job, wait_until

# Prints the name of the first signal that comes, and exits with 7.
REPORT_SIGNAL = python_job("""
import signal, sys
wanted = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("ready", flush=True)
print(signal.Signals(signal.sigwait(wanted)).name, flush=True)
sys.exit(7)
""")
# The start conditions that a process can see.
SURROUNDINGS = python_job("""
import os, resource, signal
print(os.getcwd(), os.umask(0), os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE))
print(sorted(fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")))
for line in open("/proc/self/status"):
    if line.startswith(("SigBlk", "SigIgn", "Groups", "NoNewPrivs", "Cpus_allowed_list")):
        print(line.strip())
print(sorted(os.environ.items()))
""")


class ExitCode(Case):
    def test_is_the_one_of_the_job(self):
        for code in (0, 1, 42, 255):
            with self.subTest(code=code):
                self.assertEqual(self.run_job(["sh", "-c", f"exit {code}"]).returncode, code)
        self.assertEqual([(r["outcome"], r["exit_code"]) for r in reversed(self.runs())],
                         [("succeeded", 0), ("failed", 1), ("failed", 42), ("failed", 255)])

    def test_is_128_and_the_signal_that_ended_the_job(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number=number):
                self.assertEqual(self.run_job(["sh", "-c", f"kill -{number} $$"]).returncode, 128 + number)
                run = self.runs()[0]
                self.assertEqual((run["outcome"], run["exit_code"], run["exit_signal"]), ("failed", None, number))

    def test_says_when_there_is_no_such_command(self):
        result = self.run_job(["no-such-command-here"])
        self.assertEqual(result.returncode, 127)
        self.assertIn(b"no-such-command-here", result.stderr)

    def test_says_when_a_file_cannot_be_executed(self):
        file = self.folder / "not-executable"
        file.write_text("#!/bin/sh\n")
        result = self.run_job([str(file)])
        self.assertEqual(result.returncode, 126)
        self.assertIn(str(file).encode(), result.stderr)

    def test_is_known_where_the_caller_ignores_that_children_end(self):
        result = self.run_job(["sh", "-c", "exit 3"], preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((result.returncode, self.only_run()["exit_code"]), (3, 3))

    def test_does_not_depend_on_who_reads_the_summary(self):
        reader, writer = os.pipe()
        os.close(reader)
        arguments = self.wrapper_arguments(["sh", "-c", "exit 3"])
        wrapper = subprocess.run([EXPORTER, *arguments], env=self.environment, stderr=writer, timeout=DEADLINE)
        os.close(writer)
        self.assertEqual((wrapper.returncode, self.only_run()["exit_code"]), (3, 3))


class Streams(Case):
    def test_pass_binary_data_untouched(self):
        data = os.urandom(1 << 20) + bytes(range(256))
        result = self.run_job(["cat"], flags=["--quiet"], stdin=None, input=data)
        self.assertEqual((result.stdout == data, result.stderr), (True, b""))

    def test_stderr_of_a_quiet_run_is_the_job_s_alone(self):
        result = self.run_job(["sh", "-c", r"printf '\000\377not text' >&2"], flags=["--quiet"])
        self.assertEqual((result.stdout, result.stderr), (b"", b"\0\xffnot text"))

    def test_stay_closed_when_they_were(self):
        for fd in (0, 1, 2):
            with self.subTest(fd=fd):
                check = f"if [ -e /proc/self/fd/{fd} ]; then exit 1; fi"
                result = self.run_job(["sh", "-c", check], flags=["--quiet"], preexec_fn=lambda: os.close(fd))
                self.assertEqual(result.returncode, 0)

    def test_a_reader_that_went_away_ends_the_job_and_not_the_record(self):
        wrapper = self.start_run(["sh", "-c", "while echo line; do :; done"], flags=["--quiet"],
                                 stdout=subprocess.PIPE)
        wrapper.process.stdout.readline()
        wrapper.process.stdout.close()
        wrapper.process.stdout = None
        self.assertEqual(wrapper.wait(), 128 + signal.SIGPIPE)
        self.assertEqual(self.only_run()["exit_signal"], signal.SIGPIPE)

    def test_a_full_pipe_that_is_read_at_the_end_does_not_hold_up_the_end(self):
        """The caller waits for the end before it reads the output."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        os.set_blocking(writer, False)
        for size in (65536, 1):
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writer, bytes(size))
        os.set_blocking(writer, True)
        arguments = self.wrapper_arguments(["sh", "-c", "exit 3"])
        wrapper = subprocess.run([EXPORTER, *arguments], env=self.environment, stderr=writer, timeout=DEADLINE, check=False)
        self.assertEqual(wrapper.returncode, 3)
        self.assertEqual(self.only_run()["exit_code"], 3)

    def test_an_open_descriptor_of_the_caller_reaches_the_job(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        result = self.run_job(["sh", "-c", f"printf inherited >&{writer}"], pass_fds=[writer])
        os.close(writer)
        self.assertEqual((result.returncode, os.read(reader, 100)), (0, b"inherited"))


class Report(Case):
    def test_of_a_failed_run_lies_where_it_was_asked_for(self):
        page = self.folder / "page.html"
        result = self.run_job(["sh", "-c", "exit 3"], flags=["--quiet", f"--report={page}"], job_name="etl/\u00fc")
        self.assertEqual((result.returncode, result.stderr), (3, b""))
        run = self.runs("etl/\u00fc")[0]["run_id"]
        same = self.command("report", f"--history.path={self.history}", f"--run={run}")
        self.assertIn(f'"{run}"', page.read_text())
        self.assertIn('"outcome":"failed"', page.read_text().replace(": ", ":"))
        self.assertEqual(same.stdout[:100], page.read_text()[:100])

    def test_that_cannot_be_written_is_no_fault_of_the_job(self):
        result = self.run_job(["true"], flags=["--quiet", f"--report={self.folder}/none/page.html"])
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"none/page.html", result.stderr)


class Surroundings(Case):
    def test_are_those_that_the_job_would_have_had(self):
        options = {"stdin": subprocess.DEVNULL, "env": {**self.environment, "ODD": "a\nb=c"}, "cwd": self.folder}
        alone = subprocess.run(SURROUNDINGS, capture_output=True, check=True, **options)
        watched = self.run_job(SURROUNDINGS, flags=["--quiet"], **options)
        self.assertEqual(watched.stdout.decode().splitlines(), alone.stdout.decode().splitlines())

    def test_are_the_same_where_signals_are_ignored(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        options = {"stdin": subprocess.DEVNULL, "env": self.environment, "preexec_fn": ignore,
                   "restore_signals": False}
        alone = subprocess.run(SURROUNDINGS, capture_output=True, check=True, **options)
        watched = self.run_job(SURROUNDINGS, flags=["--quiet"], **options)
        self.assertEqual(watched.stdout.decode().splitlines(), alone.stdout.decode().splitlines())

    def test_options_of_the_job_are_not_taken_for_ours(self):
        result = self.run_job(["echo", "--help", "--version", "--", "--quiet"])
        self.assertEqual(result.stdout, b"--help --version -- --quiet\n")


class Signals(Case):
    def test_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGQUIT):
            with self.subTest(number=number):
                wrapper = self.start_run(REPORT_SIGNAL, stdout=subprocess.PIPE)
                self.assertEqual(wrapper.process.stdout.readline(), b"ready\n")
                wrapper.send(number)
                self.assertEqual(wrapper.process.stdout.readline().decode(), number.name + "\n")
                self.assertEqual(wrapper.wait(), 7)

    def test_of_a_log_as_large_as_a_file_may_be_are_not_for_the_job(self):
        first = python_job("""
import signal
import socket
wanted = {signal.SIGXFSZ, signal.SIGWINCH}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("ready", flush=True)
print(signal.Signals(signal.sigwait(wanted)).name, flush=True)
""")
        with open(self.folder / "log", "ab") as log:
            log.truncate(1 << 20)
            command = self.wrapper_arguments(first, flags=["--web.listen-address=127.0.0.1:0"])
            with subprocess.Popen(["prlimit", f"--fsize={1 << 20}", EXPORTER, *command], stderr=log,
                                  stdout=subprocess.PIPE, env=self.environment) as wrapper:
                self.assertEqual(wrapper.stdout.readline(), b"ready\n")
                # The wrapper printed its address before: signals are forwarded in the order of their numbers.
                wrapper.send_signal(signal.SIGWINCH)
                self.assertEqual(wrapper.stdout.readline(), b"SIGWINCH\n")
                self.assertEqual(wrapper.wait(DEADLINE), 0)

    def test_that_end_the_job_are_told_by_the_exit_code(self):
        wrapper = self.start_run(["sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE)
        self.assertEqual(wrapper.process.stdout.readline(), b"ready\n")
        wrapper.send(signal.SIGTERM)
        self.assertEqual(wrapper.wait(), 128 + signal.SIGTERM)
        self.assertEqual((self.only_run()["outcome"], self.only_run()["exit_signal"]), ("failed", signal.SIGTERM))

    def test_an_interrupt_from_the_terminal_reaches_the_job_once(self):
        count = python_job("""
import signal, sys
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
signal.siginterrupt(signal.SIGINT, False)
print("ready", flush=True)
for line in sys.stdin:
    print("seen", len(seen), flush=True)
    if line == "end\\n":
        sys.exit(len(seen))
""")
        pid, terminal = self.wrapper_in_a_terminal(count)
        self.addCleanup(os.close, terminal)
        output = b""
        os.write(terminal, b"\x03")
        while b"seen 1" not in output:
            os.write(terminal, b"again\n")
            output += os.read(terminal, 1000)
        os.write(terminal, b"end\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)


    def test_what_comes_before_the_job_was_started_is_not_lost(self):
        """While another process locks the history, the start takes a while. A user who interrupts it does not want the
        job any more."""
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"", signal.SIGTERM)):
            for ignored in (False, True):
                with self.subTest(number=number, ignored=ignored):
                    code, output = self.signal_before_the_start(key, number, ignored)
                    self.assertEqual(code, 0 if ignored else 128 + number)
                    self.assertEqual(b"it runs" in output, ignored)
        self.assertEqual([r["exit_signal"] for r in self.runs() if r["exit_signal"]],
                         [signal.SIGTERM, signal.SIGQUIT, signal.SIGINT])

    def signal_before_the_start(self, key, number, ignored):
        """Returns the exit code and the output of a wrapper that is delayed until the signal is there. The signal comes
        from a key of its terminal, or from kill."""
        with self.held_history():
            pid, terminal = pty.fork()
            if pid == 0:
                signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
                os.execve(EXPORTER, [EXPORTER, *self.wrapper_arguments(["echo", "it runs"], flags=["--quiet"])], self.environment)
            self.addCleanup(os.close, terminal)
            wait_until(lambda: self.has_signal(pid, "SigBlk", number), "signals that are blocked")
            if key:
                os.write(terminal, key)
            else:
                os.kill(pid, number)
            wait_until(lambda: self.has_signal(pid, "ShdPnd", number), "a signal that waits")
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output = b""
        with contextlib.suppress(OSError):
            while part := os.read(terminal, 1000):
                output += part
        return code, output

    def test_a_stop_before_the_job_was_started_stops_the_wrapper(self):
        with self.held_history():
            wrapper = self.start_run(["true"], process_group=0)
            wait_until(lambda: self.has_signal(wrapper.process.pid, "SigBlk", signal.SIGTSTP), "signals that are blocked")
            wrapper.send(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(wrapper.process.pid, os.WUNTRACED)[1]))
        self.assertEqual(children_of(wrapper.process.pid), [])
        wrapper.send(signal.SIGCONT)
        self.assertEqual(wrapper.wait(), 0)

    @contextlib.contextmanager
    def held_history(self):
        """Locks the history, so that opening it waits."""
        with contextlib.closing(sqlite3.connect(self.history)) as holder:
            holder.executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            yield

    @staticmethod
    def has_signal(pid, field, number):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(rf"^{field}:\s*(\w+)$", status, re.M)[1], 16) >> (number - 1) & 1

    def wrapper_in_a_terminal(self, command):
        """Starts a wrapper that leads the session of a terminal. Returns its pid and the terminal, after the job has
        printed that it is ready."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(EXPORTER, [EXPORTER, *self.wrapper_arguments(command, flags=["--quiet"])], self.environment)
        output = b""
        while b"ready" not in output:
            output += os.read(terminal, 1000)
        return pid, terminal

    def test_a_terminal_that_is_closed_ends_the_job(self):
        pid, terminal = self.wrapper_in_a_terminal(python_job("""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
print("ready", flush=True)
signal.sigwait({signal.SIGHUP})
os._exit(7)
"""))
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)

    def test_a_stop_that_nobody_would_undo_stops_nobody(self):
        """The kernel ignores ^Z for a group without a parent in the session outside the group."""
        pid, terminal = self.wrapper_in_a_terminal(["sh", "-c", "echo ready; read line; exit 5"])
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"\x1a")
        os.write(terminal, b"go on\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)


    def test_it_is_stopped_as_the_job_is(self):
        """An interactive shell sees the same of ^Z as without the wrapper. If the job handles ^Z, the wrapper does not
        stop."""
        shell = python_job("""
import os, signal, subprocess, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen(sys.argv[1:], process_group=0)
os.tcsetpgrp(0, job.pid)
print("in front", flush=True)
while os.WIFSTOPPED(status := os.waitpid(job.pid, os.WUNTRACED)[1]):
    print("stopped", flush=True)
    os.killpg(job.pid, signal.SIGCONT)
os.tcsetpgrp(0, os.getpid())
print("ended", os.waitstatus_to_exitcode(status), flush=True)
""")
        job = """
import os, signal, sys
if sys.argv[1] == "trap":
    signal.signal(signal.SIGTSTP, lambda *_: os.write(1, b"trapped\\n"))
print("ready", flush=True)
sys.exit(len(sys.stdin.readline()))
"""
        for how, said in (("trap", b"trapped"), ("stop", b"stopped")):
            with self.subTest(how=how):
                pid, terminal = pty.fork()
                if pid == 0:
                    wrapper = [EXPORTER, *self.wrapper_arguments(python_job(job, how), flags=["--quiet"])]
                    os.execve(shell[0], [*shell, *wrapper], self.environment)
                output = b""
                for until, typed in ((b"in front", b""), (b"ready", b"\x1a"), (said, b"line\n"), (b"ended", b"")):
                    while until not in output:
                        output += os.read(terminal, 1000)
                    os.write(terminal, typed)
                os.waitpid(pid, 0)
                os.close(terminal)
                self.assertIn(b"ended 5", output)
                self.assertEqual(b"stopped" in output, how == "stop")


SIZES = "accepted is bytes such as 1048576, 512M, 1G (10^9), 4Gi (2^30) or 8GB, from {} to 1000000000000000000"
CORES = "accepted is a number of cores such as 2, 1.5 or 500m, from 0.001 to 1e+06"
NAMES = "accepted is UTF-8 text of less than 200 bytes without control characters"
ATTEMPTS = "accepted is a whole number from 1 to 1000"


def ignored(err, message="an option is ignored"):
    return f'level=warn msg="{message}" err="{err}"'


class NeverInTheWay(Case):
    """Even if options about a job are wrong, the job runs with its own exit code, and a line names the fault."""

    # Options, variables, and the log line without its time. {folder} is the folder of the test.
    WRONG = [
        (["--input-bytes="], {}, None),
        (["--request-memory="], {}, ignored("--request-memory=: " + SIZES.format(1))),
        (["--input-bytes=much"], {}, ignored("--input-bytes=much: " + SIZES.format(0))),
        (["--input-bytes=-1"], {}, ignored("--input-bytes=-1: " + SIZES.format(0))),
        ([], {"RIGHTSIZE_INPUT_BYTES": "12 parsecs"}, ignored("environment: --input-bytes=12 parsecs: " + SIZES.format(0))),
        (["--input-bytes=0"], {}, None),
        ([], {"RIGHTSIZE_INPUT_BYTES": "0"}, None),
        (["--request-memory=4Gi"], {}, None),
        (["--request-memory=8GB"], {}, None),
        (["--request-memory=0"], {}, ignored("--request-memory=0: " + SIZES.format(1))),
        (["--request-memory=512m"], {}, ignored("--request-memory=512m: " + SIZES.format(1))),
        (["--request-memory=4g"], {}, None),
        (["--request-cpu=500m"], {}, None),
        (["--request-cpu=500M"], {}, ignored("--request-cpu=500M: " + CORES)),
        ([], {"RIGHTSIZE_REQUEST_CPU": "0"}, ignored("environment: --request-cpu=0: " + CORES)),
        (["--attempt=0"], {}, ignored("--attempt=0: " + ATTEMPTS)),
        ([], {"RIGHTSIZE_ATTEMPT": "first"}, ignored("environment: --attempt=first: " + ATTEMPTS)),
        (["--job-name="], {}, ignored("--job-name=: " + NAMES)),
        (["--job-name=a\x1bb"], {}, ignored("--job-name=a?b: " + NAMES)),
        (["--job-name=" + "n" * 200], {}, ignored("--job-name=" + "n" * 70 + "~bbc8f365: " + NAMES)),
        (["--job-name"], {}, ignored("--job-name needs a value (NAME)")),
        (["--bogus"], {}, ignored("unknown option --bogus; --help lists the options")),
        (["--bogus", "value"], {}, ignored("unknown option --bogus; --help lists the options")),
        (["-x"], {}, ignored("unknown option -x; --help lists the options")),
        (["--quiet=perhaps"], {}, ignored("--quiet=perhaps: accepted is true or false")),
        (["--strict=perhaps"], {}, ignored("--strict=perhaps: accepted is true or false")),
        (["--sample.interval=1ms"], {},
         ignored("--sample.interval=1ms: accepted is a duration such as 500ms, 30s, 15m, 36h or 90d, from 0.1 to 3600 seconds")),
        (["--history.max-size=1X"], {}, ignored("--history.max-size=1X: " + SIZES.format(1000000).replace("1" + "0" * 18, "1" + "0" * 15))),
        (["--log.format=xml"], {}, ignored("--log.format=xml: accepted is logfmt, json")),
        ([], {"RIGHTSIZE_COLLECTOR_CPU": "off"}, ignored("environment: --collector.cpu=off: accepted is true or false")),
        (["--web.listen-address=here"], {},
         ignored("--web.listen-address=here: accepted is HOST:PORT, [IPV6]:PORT or :PORT, with a port from 0 to 65535, or none")),
        (["--web.telemetry-path=/stats"], {},
         ignored("--web.telemetry-path=/stats: accepted is a path such as /metrics that nothing else is at, without ?, #, % and blanks")),
        (["--path.procfs=/nowhere"], {}, ignored("--path.procfs=/nowhere: accepted is a directory that exists")),
        (["--history.path={folder}"], {},
         ignored("history {folder}: it is a directory; a file is needed", "the run will not be in the history")),
        (["--history.path=/proc/none/h.db"], {},
         ignored("make folder /proc/none: No such file or directory", "the run will not be in the history")),
        (["--jobs.rules={folder}/none.yaml"], {},
         ignored("read {folder}/none.yaml: No such file or directory", "the rules of --jobs.rules are ignored")),
        (["--jobs.rules={folder}/bad.yaml"], {},
         ignored(r"{folder}/bad.yaml:1: memory: \"4XB\" is not accepted: give bytes such as 1048576, 512M, 1G (10^9), 4Gi (2^30) or 8GB, from 1 to 1e+18",
                 "the rules of --jobs.rules are ignored")),
        (["--web.listen-address=127.0.0.1:0", "--web.config.file={folder}/none.yml"], {},
         ignored("read {folder}/none.yml: No such file or directory", "the run is not served")),
        (["--web.listen-address=127.0.0.1:0", "--catalogue.path={folder}/none.csv"], {}, None),
        (["--report={folder}/none/page.html"], {}, None),
    ]

    def run_wrong(self, flags, variables, strict=False):
        """Runs a job that prints "ran" and exits with 7. Returns the exit code, stdout, and the reported faults."""
        (self.folder / "bad.yaml").write_text("rules: [{user: ., job_name: a, memory: 4XB}]\n")
        environment = clean_environment(RIGHTSIZE_HISTORY_PATH=self.history, **variables)
        arguments = [EXPORTER, "run", *(["--strict"] if strict else []), *(f.format(folder=self.folder) for f in flags),
                     "--", "sh", "-c", "echo it runs; exit 7"]
        result = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
        wrong = [re.sub(r' run_id=\S+', '', line.partition(" ")[2]) for line in result.stderr.splitlines()
                 if re.search(r' msg="(an option is ignored|the rules of|the run (will )?(is )?not )', line)]
        return result.returncode, result.stdout, wrong

    def test_the_job_runs_and_a_line_says_what_was_wrong(self):
        for flags, variables, line in self.WRONG:
            with self.subTest(flags=flags, variables=variables):
                expected = [line.replace("{folder}", str(self.folder))] if line else []
                self.assertEqual(self.run_wrong(flags, variables), (7, "it runs\n", expected))

    def test_strict_does_not_start_the_job_then(self):
        for flags, variables, line in self.WRONG:
            with self.subTest(flags=flags, variables=variables):
                code, stdout, wrong = self.run_wrong(flags, variables, strict=True)
                self.assertEqual((code, stdout, len(wrong)), (2, "", 1) if line else (7, "it runs\n", 0))

    def test_strict_may_come_from_the_environment(self):
        self.assertEqual(self.run_wrong(["--attempt=0"], {"RIGHTSIZE_STRICT": "true"})[0], 2)
        self.assertEqual(self.run_wrong(["--attempt=0", "--no-strict"], {"RIGHTSIZE_STRICT": "true"})[0], 7)
        self.assertEqual(self.run_wrong([], {"RIGHTSIZE_STRICT": "true"})[0], 7)

    def test_only_what_names_the_command_stops_it(self):
        for arguments, code, said in (
                (["run"], 2, "the command is missing"),
                (["run", "--"], 2, "the command is missing"),
                (["run", "--bogus", "true"], 2, "unknown option --bogus; --help lists the options; write -- in front of the command"),
                (["run", "--bogus", "sh", "-c", "exit 7", "--", "true"], 2, "write -- in front of the command"),
                (["run", "--", "/nowhere"], 127, "/nowhere: No such file or directory"),
                (["run", "--", "/etc/passwd"], 126, "/etc/passwd: Permission denied"),
                (["run", "--", ""], 127, "No such file or directory")):
            with self.subTest(arguments=arguments):
                result = self.command(*arguments)
                self.assertEqual((result.returncode, result.stdout), (code, ""))
                self.assertIn(said, result.stderr)

    def test_help_behind_the_command_is_the_command_s(self):
        self.environment = clean_environment(RIGHTSIZE_HISTORY_PATH=self.history)
        self.assertEqual(self.command("run", "--quiet", "echo", "--help", "-h", "--version").stdout, "--help -h --version\n")
        for word, said in (("--help", "rightsize-exporter run "), ("-h", "rightsize-exporter run "),
                           ("--version", "rightsize-exporter, version "), ("-V", "rightsize-exporter, version ")):
            result = self.command("run", "--job-name", "x", word, "true")
            self.assertEqual((result.returncode, result.stdout[:len(said)]), (0, said))


SLURM = {"SLURM_JOB_NAME": "train_2026-11-21", "SLURM_JOB_ID": "103"}


class Named(Case):
    """The wrapper names a run as a server does: by options, by rules, by the system around it, and last by the
    program."""

    def recorded(self, flags, variables, command=("true",)):
        environment = clean_environment(RIGHTSIZE_HISTORY_PATH=self.history, **variables)
        result = subprocess.run([EXPORTER, "run", "--quiet", *flags, *command], env=environment, capture_output=True,
                                timeout=DEADLINE, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        with contextlib.closing(sqlite3.connect(self.history)) as history:
            return history.execute(
                "SELECT name, requested_cpu_cores, requested_memory_bytes, attempt, c.system, system_run, c.labels"
                " FROM run JOIN job ON job.id = run.job JOIN circumstances c ON c.id = run.circumstances ORDER BY run.id DESC LIMIT 1").fetchone()

    def test_and_knows_what_the_system_gave_it(self):
        rules = self.folder / "rules.yaml"
        rules.write_text("rules:\n- {command_line: 'sleep', ignore: true}\n"
                         "- {executable: '/(dash|sh)$', environment: {STAGE: '^p'}, working_directory: /, user: '.',"
                         " job_name: 'by/{kind}', command_line: 'exit (?<kind>\\w+)', memory: 2Gi}\n")
        by_rules = [f"--jobs.rules={rules}"]
        slurm = ("slurm", "103", '{"job":"train"}')
        table = [
            ([], {}, ("true",), ("true", None, None, None, None, None, None)),
            ([], {}, ("/bin/sh", "-c", ":"), ("sh", None, None, None, None, None, None)),
            ([], SLURM, ("true",), ("train", None, None, None, *slurm)),
            ([], {**SLURM, "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_NODE": "8192", "SLURM_RESTART_COUNT": "1"}, ("true",),
             ("train", 4, 8 << 30, 2, *slurm)),
            ([], {**SLURM, "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_CPU": "2048"}, ("true",), ("train", 4, 8 << 30, None, *slurm)),
            (["--job-name=etl", "--request-cpu=500m", "--request-memory=8G", "--attempt=3"],
             {**SLURM, "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_CPU": "2048", "SLURM_RESTART_COUNT": "1"}, ("true",),
             ("etl", 0.5, 8 * 10**9, 3, *slurm)),
            ([], {"RIGHTSIZE_JOB_NAME": "etl", "RIGHTSIZE_REQUEST_MEMORY": "4Gi"}, ("true",), ("etl", None, 4 << 30, None, None, None, None)),
            (["--request-memory=x"], {**SLURM, "SLURM_MEM_PER_NODE": "8192"}, ("true",), ("train", None, 8 << 30, None, *slurm)),
            ([], {"LSB_JOBNAME": "fit[1-9]", "LSB_JOBID": "7", "LSB_DJOB_NUMPROC": "6"}, ("true",),
             ("fit", 6, None, None, "lsf", "7", '{"job":"fit"}')),
            ([], {"PBS_JOBNAME": "fit", "PBS_JOBID": "7.srv", "NCPUS": "3", "PBS_RESC_MEM": "4gb"}, ("true",),
             ("fit", 3, 4 << 30, None, "pbs", "7.srv", '{"job":"fit"}')),
            ([], {"AWS_BATCH_JQ_NAME": "nightly", "AWS_BATCH_JOB_ID": "u", "AWS_BATCH_JOB_ATTEMPT": "2"}, ("true",),
             ("nightly", None, None, 2, "aws-batch", "u", '{"queue":"nightly"}')),
            ([], {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "MY_CPU_REQUEST": "250m", "MY_MEM_REQUEST": "67108864"}, ("true",),
             ("true", 0.25, 64 << 20, None, None, None, None)),
            ([], {"METAFLOW_FLOW_NAME": "Flow", "METAFLOW_STEP_NAME": "fit", "METAFLOW_RUN_ID": "3"}, ("true",),
             ("Flow/fit", None, None, None, "metaflow", "3", '{"flow":"Flow","step":"fit"}')),
            (by_rules, {"STAGE": "prod"}, ("sh", "-c", "exit 0"), ("by/0", None, 2 << 30, None, "rules", None, None)),
            (by_rules, {"STAGE": "prod", **SLURM, "SLURM_CPUS_PER_TASK": "4"}, ("sh", "-c", "exit 0"),
             ("by/0", 4, 2 << 30, None, "rules", None, None)),
            ([], {"STAGE": "prod", "RIGHTSIZE_JOBS_RULES": str(rules), "RIGHTSIZE_JOB_NAME": "etl"}, ("sh", "-c", "exit 0"),
             ("etl", None, None, None, None, None, None)),
            (by_rules, SLURM, ("sleep", "0"), ("train", None, None, None, *slurm)),
        ]
        for flags, variables, command, expected in table:
            with self.subTest(flags=flags, variables=variables, command=command):
                self.assertEqual(self.recorded(flags, variables, command), expected)


class Announced(Case):
    """Facts that are known before a run starts are in its record."""

    def test_by_flags(self):
        self.run_job(["true"], flags=["--input-bytes=3G", "--request-cpu=500m", "--request-memory=512Mi", "--attempt=2"])
        run = self.only_run()
        self.assertEqual({key: run[key] for key in ("input_bytes", "requested_cpu_cores", "requested_memory_bytes",
                                                    "attempt")},
                         {"input_bytes": 3 * 10**9, "requested_cpu_cores": 0.5, "requested_memory_bytes": 512 << 20,
                          "attempt": 2})

    def test_by_the_environment_and_the_flag_wins(self):
        self.environment = clean_environment(RIGHTSIZE_INPUT_BYTES="1000")
        self.run_job(["true"])
        self.run_job(["true"], flags=["--input-bytes=2000"])
        self.assertEqual([run["input_bytes"] for run in self.runs()], [2000, 1000])

    def test_what_was_not_said_is_not_there(self):
        self.run_job(["true"])
        self.assertNotIn("input_bytes", self.only_run())

    def test_an_empty_input_has_a_size(self):
        self.run_job(["true"], flags=["--input-bytes=0"])
        self.assertEqual(self.only_run()["input_bytes"], 0)
        self.environment = clean_environment(RIGHTSIZE_INPUT_BYTES="0")
        self.run_job(["true"])
        self.assertEqual([run["input_bytes"] for run in self.runs()], [0, 0])

    def test_a_limit_that_became_smaller_is_told_once(self):
        for size, told in (("2G", "given=2G bytes=2000000000 bytes_before=2147483648\n"), ("2Gi", ""), ("2GB", ""), ("2000000000", "")):
            with self.subTest(size=size):
                stderr = self.run_job(["true"], flags=["--quiet", f"--history.max-size={size}"]).stderr.decode()
                self.assertEqual("".join(re.findall(r"given=.*\n", stderr)), told)

    def test_predictions_follow_it(self):
        code = "import sys; b = bytearray(int(sys.argv[1]) << 20)"
        for mib in (20, 300, 60, 180, 100, 240, 40, 140, 280, 20, 200, 80):
            self.run_job([*python_job(code), str(mib)], flags=[f"--input-bytes={mib}M"])
        asked = [self.query("recommend", "--job-name=job", f"--input-bytes={mib << 20}")["demand"]["memory_bytes"]
                 for mib in (20, 100, 300)]
        self.assertEqual(asked, sorted(asked))
        self.assertGreater(asked[2], 2 * asked[0])


class Record(Case):
    def test_summary_follows_what_the_job_said(self):
        result = self.run_job(["sh", "-c", "echo out; echo err >&2"])
        self.assertEqual(result.stdout, b"out\n")
        first, _, summary = result.stderr.decode().partition("\n")
        self.assertEqual(first, "err")
        for word in ("rightsize-exporter: job succeeded after ", "  CPU     ", "  Memory  ", "  Disk    ", "  Next run: Request ",
                     "\n  --cpus="):
            self.assertIn(word, summary)

    def test_summary_has_every_line_to_paste(self):
        several = False
        for system, environment in (("docker", {}), ("slurm", SLURM),
                                    ("metaflow", {"METAFLOW_FLOW_NAME": "Flow", "METAFLOW_STEP_NAME": "fit",
                                                  "METAFLOW_RUN_ID": "3"})):
            with self.subTest(system):
                name = f"etl/{system}"
                result = self.run_job(["true"], job_name=name, env={**self.environment, **environment})
                lines = self.query("recommend", f"--job-name={name}")["paste"]
                self.assertEqual(lines["format"], system)
                self.assertEqual("note" in lines, f"  For {system} (hard limits" in result.stderr.decode())
                self.assertEqual("note" in lines, system == "docker")
                several |= lines["text"].count("\n") > 1
                self.assertIn("".join(f"  {line}\n" for line in lines["text"].splitlines()), result.stderr.decode())
        self.assertTrue(several)

    def test_summary_has_the_format_that_was_chosen(self):
        result = self.run_job(["true"], flags=["--format=slurm"])
        text = self.command("recommend", "--job-name=job", "--format=slurm", f"--history.path={self.history}").stdout
        self.assertIn("#SBATCH --mem=", text)
        self.assertIn("".join(f"  {line}\n" for line in text.splitlines()), result.stderr.decode())
        self.assertNotIn("--cpus=", result.stderr.decode())

    def test_a_wrong_format_is_one_line_and_the_job_runs(self):
        for wrong in ("slrm", "json"):
            result = self.run_job(["sh", "-c", "echo ran; exit 3"], flags=[f"--format={wrong}"])
            self.assertEqual((result.returncode, result.stdout), (3, b"ran\n"))
            told = re.findall(r"(?m)^.*an option is ignored.*$", result.stderr.decode())
            self.assertEqual(len(told), 1)
            self.assertRegex(told[0], rf"--format={wrong}: accepted is metaflow, .*kubernetes, .*slurm, .*systemd")

    def test_summary_writes_one_core(self):
        result = self.run_job(["true"], flags=["--request-cpu=1"])
        self.assertRegex(result.stderr.decode(), r"(?m)^  CPU     [\d.]+ of 1 core on average, [\d.]+ cores? at most ")

    def test_summary_names_the_command_for_other_formats(self):
        result = self.run_job(["true"], job_name="it's mine")
        line = re.search("(?m)^  Other formats: rightsize-exporter (.*=)kubernetes, slurm, metaflow, ...$", result.stderr.decode())
        for name in ("kubernetes", "slurm", "metaflow"):
            answer = self.command(*shlex.split(line[1] + name), f"--history.path={self.history}")
            self.assertEqual(answer.stdout, self.command("recommend", "--job-name=it's mine", f"--format={name}",
                                                         f"--history.path={self.history}").stdout)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def link(self):
        """The link to the page of a new run, without the run's id, or None."""
        stderr = self.run_job(["true"]).stderr.decode()
        newest = self.runs()[0]["run_id"]
        links = re.findall(r"^  (https?://\S+)$", stderr, re.M)
        self.assertLessEqual(len(links), 1, stderr)
        if not links:
            return None
        self.assertTrue(stderr.endswith(links[0] + "\n"), stderr)
        page, _, run_id = links[0].partition("#/run/")
        self.assertEqual(run_id, newest)
        return page

    def test_summary_ends_with_a_link_while_a_server_shows_the_run(self):
        self.assertIsNone(self.link())
        server = self.serve()
        page = f"http://{server.host}:{server.port}/"
        wait_until(lambda: self.link() == page, "the link to the page")
        self.assertEqual(server.get("/").status, 200)
        self.assertEqual(server.get(f"/series?run={self.runs()[0]['run_id']}").status, 200)
        server.stop()
        self.assertIsNone(self.link())
        # A server that was killed did not say that it ended; another program may have its port.
        server = self.serve()
        wait_until(self.link, "the link to the page")
        server.kill()
        self.assertIsNone(self.link())
        with contextlib.closing(socket.create_server((server.host, server.port))):
            self.assertIsNone(self.link())

    def test_link_is_what_a_person_can_open(self):
        for address, flags, page in (("0.0.0.0:0", [], "http://localhost:PORT/"), ("[::1]:0", [], "http://[::1]:PORT/"),
                                     ("127.0.0.1:0", ["--web.external-url=https://a.example/b/"], "https://a.example/b/")):
            with self.subTest(address=address, flags=flags):
                server = self.start("serve", f"--web.listen-address={address}", f"--history.path={self.history}",
                                    "--no-jobs.recognise", *flags, stdout=subprocess.DEVNULL)
                port = wait_until(lambda: server.said(r"listening.*?:(\d+)( |$)"), "the address")[1]  # pylint: disable=cell-var-from-loop
                wait_until(lambda: self.link() == page.replace("PORT", port), page)  # pylint: disable=cell-var-from-loop
                server.stop()

    def test_no_link_to_a_server_that_does_not_answer_or_has_another_history(self):
        server = self.serve()
        wait_until(self.link, "the link to the page")
        other = self.run_job(["true"], flags=[f"--history.path={self.folder}/other.db"])
        self.assertIn(b"Next run", other.stderr)
        self.assertNotIn(b"http://", other.stderr)
        # In a network namespace of its own, nothing answers at the address.
        alone = subprocess.run(["unshare", "--net", EXPORTER, *self.wrapper_arguments(["true"])], capture_output=True,
                               env=self.environment, stdin=subprocess.DEVNULL, check=False, timeout=DEADLINE)
        if b"unshare failed" in alone.stderr:
            self.skipTest("no network namespaces here")
        self.assertIn(b"Next run", alone.stderr)
        self.assertNotIn(b"http://", alone.stderr)
        self.assertIsNotNone(self.link())
        server.stop()

    def test_summary_names_exit_code_and_signal(self):
        self.assertIn(b"failed", self.run_job(["sh", "-c", "exit 3"]).stderr)
        self.assertIn(b"exit code 3", self.run_job(["sh", "-c", "exit 3"]).stderr)
        self.assertIn(b"signal 9", self.run_job(["sh", "-c", "kill -9 $$"]).stderr)

    def test_a_job_far_shorter_than_the_interval_is_recorded(self):
        spin = "import time, resource\nwhile time.process_time() < 0.05: pass"
        self.assertEqual(self.run_job(python_job(spin), flags=["--sample.interval=1h"]).returncode, 0)
        run = self.only_run()
        self.assertEqual((run["outcome"], run["exit_code"]), ("succeeded", 0))
        self.assertGreaterEqual(run["cpu_seconds"], 0.05)
        self.assertLess(run["cpu_seconds"], 1)
        self.assertGreaterEqual(run["duration_seconds"], 0.05)
        self.assertLess(run["duration_seconds"], 10)
        self.assertGreater(run["memory_peak_bytes"], 1 << 20)

    def test_what_a_shell_did_before_it_became_the_wrapper_is_none_of_the_job_s(self):
        """The CPU times of waited-for children survive execve: getrusage(2)."""
        burn = ["python3", "-c", "import time\nwhile time.process_time() < 0.5: pass"]
        wrapper = [EXPORTER, *self.wrapper_arguments(["true"])]
        self.assertEqual(self.start_program(["sh", "-c", '"$1" "$2" "$3"; shift 3; exec "$@"', "-", *burn, *wrapper]).wait(), 0)
        self.assertLess(self.only_run()["cpu_seconds"], 0.25)

    def test_what_a_shell_left_in_the_background_is_none_of_the_job_s(self):
        burn = ["python3", "-c", "import time\nwhile time.process_time() < 0.5: pass"]
        for flags in ((), ("--no-run.cgroup",)):
            with self.subTest(flags=flags):
                wrapper = [EXPORTER, *self.wrapper_arguments(["sleep", "2"], f"beside{len(flags)}", flags)]
                shell = ["sh", "-c", '"$1" "$2" "$3" & shift 3; exec "$@"', "-", *burn, *wrapper]
                self.assertEqual(self.start_program(shell).wait(), 0)
                self.assertLess(self.only_run(f"beside{len(flags)}")["cpu_seconds"], 0.25)

    def test_a_job_that_does_nothing_is_recorded(self):
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")
        self.assertLess(self.only_run()["cpu_seconds"], 1)

    def test_a_command_that_could_not_start_is_no_run(self):
        self.run_job(["no-such-command-here"])
        self.run_job(["true"])
        self.assertEqual(len(self.runs()), 1)

    def test_no_zombies_of_orphans_stay(self):
        orphans = python_job("""
import os, sys
for _ in range(50):
    if os.fork() == 0:
        if os.fork():
            os._exit(0)
        os._exit(0)
    os.wait()
print("done", flush=True)
sys.stdin.read()
""")
        wrapper = self.start_run(orphans, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(wrapper.process.stdout.readline(), b"done\n")
        wait_until(lambda: [state for _, state in children_of(wrapper.pid)] in (["S"], ["R"]),
                   "the job to be the wrapper's only child")
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)

    def test_that_nobody_can_watch_is_as_if_we_were_not_here(self):
        """The wrapper does not have to wait for orphans either."""
        job = python_job("""
import ctypes
asked = ctypes.c_int(-1)
ctypes.CDLL(None).prctl(37, ctypes.byref(asked), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
print(asked.value)
""")
        result = self.run_job(job, flags=["--path.procfs=/nonexistent"])
        self.assertEqual((result.stdout, result.returncode), (b"0\n", 0), result.stderr)

    def test_whatever_is_short_the_job_is_started(self):
        """There are too few file descriptors for our own files, and at last for a pipe. Also with too few processes."""
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        # Also as a user who may not start any process.
        os.chmod(self.folder, 0o777)
        for kind, most, options in ((resource.RLIMIT_NOFILE, range(5, 40, 3), {}), (resource.RLIMIT_NPROC, range(0, 12), nobody)):
            for n in most:
                with self.subTest(kind=kind, n=n):
                    result = self.run_job(["sh", "-c", "exit 3"], flags=["--quiet", "--log.level=error", "--no-cloud.discovery"],
                                          preexec_fn=lambda: resource.setrlimit(kind, (n, n)), **options)
                    self.assertEqual(result.returncode, 3, result.stderr)

    def test_goes_on_without_a_place_for_the_history(self):
        arguments = ["run", "--job-name=job", "--history.path=/dev/null/history.db", "--", "sh", "-c", "echo works; exit 5"]
        result = self.command(*arguments)
        self.assertEqual((result.returncode, result.stdout), (5, "works\n"))
        self.assertIn("/dev/null", result.stderr)


if __name__ == "__main__":
    main()
