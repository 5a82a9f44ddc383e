"""Functions for all end-to-end tests: they start the real program on a free port, read its answers, and run jobs.

Nothing here sleeps for a fixed time: wait_until asks again until a deadline that is far longer than needed.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

EXPORTER = os.environ.get("RIGHTSIZE_EXPORTER", "")
PYTHON = "/usr/bin/python3"
AS_ROOT = os.geteuid() == 0
SOMEBODY = 200000 + os.getpid() % 100000  # a user that owns nothing and runs no other process
DEADLINE = int(os.environ.get("RIGHTSIZE_DEADLINE", "60"))  # longer if the processor is emulated (tests/vm)
PROMETHEUS_2_ACCEPT = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
PROMETHEUS_3_ACCEPT = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2")


def wait_until(condition, what, seconds=DEADLINE):
    """Returns the first true value of condition()."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for: {what}")
        time.sleep(0.02)


def clean_environment(**more):
    """Returns the caller's environment without settings of the exporter."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("RIGHTSIZE_") and k not in ("STATE_DIRECTORY", "XDG_STATE_HOME")}
    # No test uses the network, and the caches of this machine are not used.
    own = {"RIGHTSIZE_CATALOGUE_REFRESH": "false", "RIGHTSIZE_CATALOGUE_CACHE": "/nonexistent/catalogue.db"}
    return {**kept, **own, **more}


def python_job(code, *arguments):
    """Returns a command line that runs Python code. The options -S -E make its start short, and the same everywhere."""
    return [PYTHON, "-S", "-E", "-c", code, *arguments]


# Works a little until its input ends.
STEADY = python_job("""
import os, select, sys, time
print(os.getpid(), flush=True)
while not select.select([sys.stdin], [], [], 0.02)[0]:
    end = time.process_time() + 0.005
    while time.process_time() < end: pass
""")


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.text)


def unescape(value):
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value)


def samples(text):
    """Returns {(name, frozenset of label pairs): value} of an exposition. A repeated sample is an error."""
    found = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)', labels or "")
        key = (name, frozenset((k, unescape(v)) for k, v in pairs))
        if key in found:
            raise AssertionError(f"sample twice: {line}")
        found[key] = float(value)
    return found


class Process:
    """A program in the background whose stderr is kept."""

    def __init__(self, arguments, **options):
        self.killed = False
        self.log = []
        self.process = subprocess.Popen(arguments, stderr=subprocess.PIPE, **options)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "backslashreplace"))

    @property
    def pid(self):
        return self.process.pid

    def said(self, pattern):
        return next(filter(None, (re.search(pattern, line) for line in list(self.log))), None)

    def says(self, pattern):
        """Like said(), for a text that must come: the text is read a little after it was written."""
        try:
            return wait_until(lambda: self.said(pattern), pattern)
        except AssertionError:
            raise AssertionError(f"no line like {pattern} in {self.log}") from None

    def wait(self):
        """Returns the exit code, after all output has been read."""
        code = self.process.wait(DEADLINE)
        self.reader.join(DEADLINE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        return code

    def send(self, signal_number):
        self.process.send_signal(signal_number)

    def stop(self):
        if self.process.poll() is None:
            self.send(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.killed = True
        self.process.kill()
        self.wait()

    def wait_address(self, said="listening"):
        """Returns the address that the program prints: (host, port)."""
        def look():
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {''.join(self.log)}")
            return self.said(said + r".*?(127\.0\.0\.1|\[::1\]):(\d+)")
        match = wait_until(look, "the address on stderr")
        self.host, self.port = match[1].strip("[]"), int(match[2])
        return self.host, self.port

    def get(self, path, method="GET", body=None, **headers):
        """Header names are given with _ for -."""
        with contextlib.closing(http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE)) as connection:
            connection.request(method, path, body, headers={k.replace("_", "-"): v for k, v in headers.items()})
            response = connection.getresponse()
            return Answer(response, response.read())

    def metrics(self, query=""):
        answer = self.get("/metrics" + query)
        if answer.status != 200:
            raise AssertionError(f"/metrics answered {answer.status}: {answer.text}")
        return samples(answer.text)

    def look_at_jobs(self):
        """A scrape may show jobs as an earlier tick found them. Waits for a tick that begins after this call."""
        called = time.time()
        wait_until(lambda: self.metrics()["rightsize_jobs_timestamp_seconds", frozenset()] > called, "a look at the jobs")

    def recorded_runs(self, job_name, n=1):
        """Returns the job's runs in the history, once it has so many. Another thread than that of /metrics writes the
        history."""
        def recorded():
            runs = self.get(f"/runs?job_name={job_name}&details=1").json.get("runs", [])
            return runs if len(runs) == n else None
        return wait_until(recorded, f"{n} recorded runs of {job_name}")

    def job_value(self, name, job_name, **labels):
        """Returns a sample of a job, or None if it is absent."""
        labels["job_name"] = job_name
        return self.metrics().get((name, frozenset(labels.items())))


class Case(unittest.TestCase):
    """A test with its own folder and history. All processes that it started end with it."""

    def setUp(self):
        if not EXPORTER:
            self.fail("RIGHTSIZE_EXPORTER is to name the program")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.history = str(self.folder / "history.db")
        self.environment = clean_environment(HOME=str(self.folder))

    def start(self, *arguments, **options):
        """Starts the exporter in the background. Every test checks that the exporter ends properly."""
        return self.start_program([EXPORTER, *arguments], **options)

    def start_program(self, command, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("env", self.environment)
        process = Process(command, **options)
        self.addCleanup(self._end, process)
        return process

    def _end(self, process):
        if process.process.poll() is None:
            process.stop()
        if not process.killed and process.process.returncode < 0:
            self.fail(f"died of signal {-process.process.returncode}: {''.join(process.log)}")
        if process.said("Sanitizer"):
            self.fail("".join(process.log))

    def serve(self, *flags, interval="200ms", address="127.0.0.1:0"):
        """The server searches for jobs only when told to, because other processes of this machine do not belong to the
        test."""
        recognise = () if "--jobs.recognise" in flags else ("--no-jobs.recognise",)
        server = self.start("serve", f"--web.listen-address={address}", f"--history.path={self.history}",
                            f"--sample.interval={interval}", *recognise, *flags, stdout=subprocess.DEVNULL)
        server.wait_address()
        return server

    def wrapper_arguments(self, command, job_name="job", flags=()):
        return ["run", f"--job-name={job_name}", f"--history.path={self.history}", *flags, "--", *command]

    def start_run(self, command, job_name="job", flags=(), **options):
        """A run in the background."""
        return self.start(*self.wrapper_arguments(command, job_name, flags), **options)

    def run_job(self, command, job_name="job", flags=(), **options):
        """Runs a job from begin to end. Returns the completed process."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("env", self.environment)
        return subprocess.run([EXPORTER, *self.wrapper_arguments(command, job_name, flags)],
                              capture_output=True, timeout=DEADLINE, check=False, **options)

    def command(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([EXPORTER, *arguments], capture_output=True, text=True, timeout=DEADLINE,
                              env=self.environment, check=False, **options)

    def query(self, command, *flags):
        """Returns the answer of a command from the history, as JSON."""
        result = self.command(command, f"--history.path={self.history}", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def runs(self, job_name="job"):
        """The runs with all keys: None = unknown."""
        return self.query("runs", f"--job-name={job_name}", "--details")["runs"]

    def only_run(self, job_name="job"):
        runs = self.runs(job_name)
        self.assertEqual(len(runs), 1, runs)
        return runs[0]

    def assert_history_intact(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.history}?mode=ro", uri=True)) as history:
            self.assertEqual(history.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(history.execute("PRAGMA foreign_key_check").fetchall(), [])

    def assert_close(self, value, expected, relative, absolute, what):
        allowed = abs(expected) * relative + absolute
        self.assertLessEqual(abs(value - expected), allowed, f"{what}: {value} instead of {expected}")


class Machine(Case):
    """Like Case, with functions to run as another user, and with the cost of the program."""

    def place_of(self, identity):
        """Returns a folder for a user's history. It also contains the program, because the user may not read it
        elsewhere."""
        theirs = self.folder / "theirs"
        theirs.mkdir()
        if identity:
            self.folder.chmod(0o755)
            os.chown(theirs, SOMEBODY, SOMEBODY)
        self.history = str(theirs / "history.db")
        program = theirs / "program"
        program.write_bytes(pathlib.Path(EXPORTER).read_bytes())
        program.chmod(0o755)
        return program

    @property
    def somebody(self):
        return {"user": SOMEBODY, "group": SOMEBODY, "extra_groups": []} if AS_ROOT else {}

    @staticmethod
    def resident(pid, which="VmRSS"):
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        return int(re.search(which + r":\s+(\d+) kB", status)[1]) << 10

    def resident_peak(self, pid):
        return self.resident(pid, "VmHWM")

    @staticmethod
    def scrape_seconds(scrape, times=10):
        def one():
            begin = time.monotonic()
            scrape()
            return time.monotonic() - begin
        return statistics.median(one() for _ in range(times))

    def assert_fast(self, scrape, usual):
        """tests/faults/README.md defines "fast"."""
        self.assertLess(self.scrape_seconds(scrape), 20 * usual + 0.1)

    def assert_ends_at_once(self, process):
        """Checks that the program ends with 0 and without waiting: within a quarter of a second on an idle machine."""
        begin = time.monotonic()
        self.assertEqual(process.stop(), 0, process.log)
        self.assertLess(time.monotonic() - begin, 3)


def children_of(pid):
    """Returns [(pid, state)] of the processes whose parent is pid, without loose threads."""
    return [(child, state) for child, state, exit_signal in below(pid) if exit_signal]


def loose_threads_of(pid):
    """Returns the pids of the loose threads of the program (loose_thread.h). Their end sends no signal."""
    return [child for child, _, exit_signal in below(pid) if not exit_signal]


def below(pid):
    """Returns [(pid, state, exit_signal)] of the processes whose parent is pid."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            field = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(field[1]) == pid:
                found.append((int(path.parent.name), field[0], int(field[35])))
    return found


def main():
    unittest.main(verbosity=2)
