"""A machine has very many processes, hides some, uses other number formats, or has a dead network."""
import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import socket
import subprocess
import threading
import time
import unittest

from support import AS_ROOT, DEADLINE, EXPORTER, PYTHON, SOMEBODY, STEADY, Machine, children_of, main, wait_until

# The number is given when run by name (tests/faults/run.sh).
THREADS = int(os.environ.get("RIGHTSIZE_FAULT_THREADS", "2000"))
GENERATIONS = int(os.environ.get("RIGHTSIZE_FAULT_GENERATIONS", "400"))
CHURN = int(os.environ.get("RIGHTSIZE_FAULT_CHURN", "200"))  # children a second
CHURN_SECONDS = int(os.environ.get("RIGHTSIZE_FAULT_CHURN_SECONDS", "2"))


class Shaped(Machine):
    """Runs jobs of tests/faults/shapes.c."""

    def start_shape(self, shape, number, *flags, interval="100ms"):
        wrapper = self.start_run([os.environ["RIGHTSIZE_SHAPES"], shape, str(number)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE,
                                 flags=[f"--sample.interval={interval}", "--web.listen-address=127.0.0.1:0", *flags])
        wrapper.wait_address()
        if wrapper.process.stdout.readline() != b"ready\n":
            wrapper.process.stdin.close()
            wrapper.process.stdin = None
            self.assertEqual(wrapper.wait(), 77)
            self.skipTest("".join(wrapper.log))
        return wrapper


class Processes(Shaped):
    def test_a_thousand_that_vanish_while_they_are_read_leave_their_time(self):
        """All processes are alive at one tick, and end during the next ticks."""
        children = 1000
        wrapper = self.start_shape("wide", children)
        wait_until(lambda: wrapper.job_value("rightsize_job_processes", "job") == children + 1, "all of them")
        self.assertGreater(self.tell_and_check(wrapper), children * 0.002)

    def tell_and_check(self, wrapper, check=lambda: None):
        """Returns the CPU seconds of a job that is told to end: its own report, and the exporter's."""
        wrapper.process.stdin.write(b".")
        wrapper.process.stdin.flush()
        used = float(next(line for line in wrapper.process.stdout if line != b"round\n"))
        wrapper.look_at_jobs()
        self.assertEqual(wrapper.job_value("rightsize_job_processes", "job"), 1)
        told = wrapper.job_value("rightsize_job_cpu_seconds_total", "job")
        check()
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertFalse(wrapper.said("level=error"))
        for seconds in (told, run["cpu_seconds"]):
            self.assert_close(seconds, used, 0.02, 0.05, "CPU seconds of all")
        return used

    def open_files(self, pid, staying):
        """Returns the number of open files of each name, without the files of the history and of permanent processes,
        which are opened at some tick. Only root can see these of a server."""
        names = []
        if not AS_ROOT:
            return collections.Counter()
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(f"/proc/{pid}/fd/{number}").split("[")[0])
        left_out = (self.history, *(f"/proc/{process}/" for process in staying))
        return collections.Counter(name for name in names if not name.startswith(left_out))

    def test_children_that_come_and_go_leave_their_time_and_nothing_else(self):
        """Starts so many children a second, and scrapes their wrapper and a server that follows them each second."""
        server = self.serve("--jobs.recognise", interval="100ms")
        # A control group of its own would report the CPU time of all children, even of unseen ones.
        wrapper = self.start_shape("churn", CHURN, "--no-run.cgroup")
        exporters = (server, wrapper)
        staying = [wrapper.pid, *(pid for pid, _ in children_of(wrapper.pid))]

        def seen():
            return [exporter.job_value("rightsize_job_processes", "job") for exporter in exporters]

        wait_until(lambda: seen() == [1, 1], "the job")
        before = [self.open_files(exporter.pid, staying) for exporter in exporters]
        wrapper.process.stdin.write(b".")
        wrapper.process.stdin.flush()
        resident = []
        for _ in range(CHURN_SECONDS):
            self.assertEqual(wrapper.process.stdout.readline(), b"round\n")
            self.assertNotIn(None, seen())
            resident.append([self.resident(exporter.pid) for exporter in exporters])

        def nothing_stays():
            wait_until(lambda: seen() == [1, 1], "the end of the last of them")
            for exporter, files in zip(exporters, before):
                wait_until(lambda: not self.open_files(exporter.pid, staying) - files, f"{exporter.pid} to close what it opened")
        used = self.tell_and_check(wrapper, nothing_stays)
        self.assertGreater(used, CHURN * CHURN_SECONDS * 0.0005)
        third = -(-CHURN_SECONDS // 3)
        for first, last in zip(zip(*resident[:third]), zip(*resident[-third:])):
            self.assertLess(max(last) - max(first), 2 << 20)

    def test_command_line_of_4_mb_delays_nobody(self):
        """An argument may have 128 KiB. All arguments may have a quarter of the stack's limit, and 6 MiB at most."""
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        if hard != resource.RLIM_INFINITY and hard < 32 << 20:
            self.skipTest("the limit of the stack allows no such command line")
        resource.setrlimit(resource.RLIMIT_STACK, (32 << 20, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_STACK, (soft, hard))
        server = self.serve("--jobs.recognise", interval="100ms")
        usual = self.scrape_seconds(server.metrics)
        wrapper = self.start_run([*STEADY, *["x" * 100000] * 40], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        wrapper.process.stdout.readline()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "job") == 1, "the run")
        self.assert_fast(server.metrics, usual)
        self.assertLess(self.resident_peak(server.pid), 64 << 20)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.wait(), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")

    @unittest.skipUnless(AS_ROOT, "only root may mount /proc with hidepid and become somebody else")
    def test_server_of_somebody_finds_their_jobs_where_proc_hides_those_of_others(self):
        program = self.place_of(self.somebody)
        script = f"""
            become() {{ user=$1; shift; exec setpriv --reuid=$user --regid=$user --clear-groups "$@"; }}
            mount -t proc -o hidepid=2 proc /proc || exit 77
            (become {SOMEBODY} test ! -e /proc/1/stat) || exit 77
            (RIGHTSIZE_JOB_NAME=own; export RIGHTSIZE_JOB_NAME; become {SOMEBODY} sleep 600) &
            (RIGHTSIZE_JOB_NAME=other; export RIGHTSIZE_JOB_NAME; become {SOMEBODY + 1} sleep 600) &
            become {SOMEBODY} "$@" & server=$!
            read end
            kill $server
            wait $server"""
        server = self.start_program(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", program,
                                     "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                                     "--sample.interval=100ms", "--jobs.recognise"], stdin=subprocess.PIPE)
        wait_until(lambda: server.process.poll() is not None or server.said("listening"), "the server")
        if server.process.poll() == 77:
            self.skipTest(f"no /proc with hidepid may be mounted here: {server.log}")
        server.wait_address()
        wait_until(lambda: server.job_value("rightsize_job_active_runs", "own") == 1, "their job")
        server.look_at_jobs()
        self.assertIsNone(server.job_value("rightsize_job_active_runs", "other"))
        self.assertGreater(server.job_value("rightsize_job_memory_bytes", "own"), 0)
        self.assertEqual(server.get("/-/healthy").status, 200)
        server.process.stdin.close()
        server.process.stdin = None
        self.assertEqual(server.wait(), 0)
        self.assertFalse(server.said("level=(warn|error)"))

    @unittest.skipUnless(AS_ROOT, "only root may mount /proc with hidepid and become somebody else")
    def test_own_job_is_seen_where_proc_hides_those_of_others(self):
        program = self.place_of(self.somebody)
        job = f"{PYTHON} -S -E -c 'x = bytearray(b\"x\") * (64 << 20)\nimport time\nend = time.process_time() + 0.5\n" \
              "while time.process_time() < end: pass'"
        script = (f"mount -t proc -o hidepid=2 proc /proc || exit 77; test -r /proc/1/stat || exit 77; "
                  f"setpriv --reuid={SOMEBODY} --regid={SOMEBODY} --clear-groups sh -c '"
                  f"test ! -e /proc/1/stat || exit 77; exec \"$0\" \"$@\"' \"$@\"; exit $?")
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", script, "sh", program, "run",
                               "--job-name=job", f"--history.path={self.history}", "--sample.interval=100ms", "--",
                               "sh", "-c", job], capture_output=True, env=self.environment, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 77:
            self.skipTest(f"no /proc with hidepid may be mounted here: {done.stderr.decode()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.only_run()
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreaterEqual(run["cpu_seconds"], 0.5)
        self.assertGreaterEqual(run["memory_peak_bytes"], 64 << 20)


class Shapes(Shaped):
    """Jobs with very many threads in one process, and with a chain of very many generations (tests/faults/shapes.c).
    When run by name, the numbers are the largest possible: tests/faults/run.sh."""

    @staticmethod
    def cpu_seconds(pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def check(self, shape, number, processes):
        wrapper = self.start_shape(shape, number, interval="1s")
        wait_until(lambda: wrapper.job_value("rightsize_job_processes", "job") == processes, "all processes")
        wait_until(lambda: wrapper.job_value("rightsize_job_threads", "job") == number, "all threads")
        # The last thread, or the last generation, used 0.3 s.
        wait_until(lambda: wrapper.job_value("rightsize_job_cpu_seconds_total", "job") >= 0.3, "the time of the last one")
        before = self.cpu_seconds(wrapper.pid)
        for _ in range(10):
            wrapper.metrics()
        self.assertLess(self.cpu_seconds(wrapper.pid) - before, 5)
        self.assertLess(self.resident_peak(wrapper.pid), 64 << 20)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(wrapper.process.wait(10 * DEADLINE), 0)
        self.assertEqual(self.only_run()["outcome"], "succeeded")

    def test_process_of_many_threads(self):
        self.check("threads", THREADS, 1)

    def test_many_generations(self):
        self.check("deep", GENERATIONS, GENERATIONS)


# In a PID namespace with 100 PIDs, a process of the job ends, and a stranger gets its PID.
REUSE = r"""
import json, os, re, subprocess, sys, time, urllib.request
exporter, history, python, job = sys.argv[1:5]
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def fork(function):
    pid = os.fork()
    if pid == 0:
        function()
        os._exit(0)
    return pid
try:
    with open("/proc/sys/kernel/pid_max", "w") as file: file.write("400")
except OSError as e:
    print(e)
    sys.exit(77)
while os.waitpid(fork(lambda: None), 0)[0] < 300: pass
run = subprocess.Popen([exporter, "run", "--job-name=job", "--history.path=" + history, "--quiet", "--sample.interval=1h",
                        "--web.listen-address=127.0.0.1:0", "--", python, "-S", "-E", "-c", job],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
line = b""
while b"listening" not in line: line = run.stderr.readline()
url = "http://" + re.search(rb"127\.0\.0\.1:\d+", line)[0].decode() + "/metrics"
def cpu():
    # The figure of a look that began after this call. A scrape may still tell that of an older look.
    called = time.time()
    while True:
        text = urllib.request.urlopen(url).read().decode()
        if float(re.search(r'^rightsize_jobs_timestamp_seconds (\S+)', text, re.M)[1]) > called:
            return float(re.search(r'^rightsize_job_cpu_seconds_total\{job_name="job"\} (\S+)', text, re.M)[1])
        time.sleep(0.05)
pid = int(run.stdout.readline())
before = cpu()
run.stdin.write(b"\n"); run.stdin.flush()
run.stdout.readline()
reader, writer = os.pipe()
done, say = os.pipe()
def stranger():
    if os.getpid() == pid:
        burn(2)
        os.write(say, b".")
        os.read(reader, 1)
for _ in range(5000):
    got = fork(stranger)
    if got == pid: break
    os.waitpid(got, 0)
else:
    sys.exit("the PID did not come back")
os.read(done, 1)
after = cpu()
run.stdin.write(b"\n"); run.stdin.flush()
code = run.wait()
os.write(writer, b".")
os.waitpid(pid, 0)
print(json.dumps({"before": before, "after": after, "code": code}))
"""
REUSE_JOB = """
import os, signal, sys, time
pid = os.fork()
if pid == 0:
    end = time.process_time() + 0.5
    while time.process_time() < end: pass
    print(os.getpid(), flush=True)
    signal.pause()
sys.stdin.readline()
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
print("gone", flush=True)
sys.stdin.readline()
"""


class Reuse(Machine):
    # In older kernels, pid_max inside a PID namespace is that of the whole machine, and must not be changed.
    @unittest.skipIf(tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 14), "needs Linux 6.14")
    def test_stranger_with_the_pid_of_a_process_of_the_job_is_none(self):
        """The PID changes its owner between two ticks. The stranger has used 2 s at the second tick."""
        space = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] if AS_ROOT else \
            ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
        done = subprocess.run([*space, PYTHON, "-S", "-E", "-c", REUSE, EXPORTER, self.history, PYTHON, REUSE_JOB],
                              capture_output=True, text=True, env=self.environment, timeout=6 * DEADLINE,
                              stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest(f"no PID namespace with few PIDs may be made here: {done.stdout}{done.stderr}")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["code"], 0)
        # The stranger used 2 s. The CPU time of the job's own process stays.
        self.assertGreaterEqual(seen["before"], 0.5)
        self.assertGreaterEqual(seen["after"], seen["before"])
        self.assertLess(seen["after"], seen["before"] + 1)
        self.assertLess(self.only_run()["cpu_seconds"], seen["before"] + 1)


class Locale(Machine):
    def test_decimal_comma_of_the_locale_changes_no_number(self):
        # The locale is made here. A machine has only the locales that were installed, and most have neither one with a
        # decimal comma nor a map of characters.
        source, characters = self.folder / "source", self.folder / "characters"
        characters.write_text("<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\nCHARMAP\n"
                              + "".join(f"<U{c:04X}> /x{c:02x} {c}\n" for c in range(128)) + "END CHARMAP\n")
        source.write_text('LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n')
        # exit code 1: made, with warnings about missing categories
        made = subprocess.run(["localedef", "-c", "-f", characters, "-i", source, self.folder / "comma"],
                              capture_output=True, text=True, check=False)
        self.assertLessEqual(made.returncode, 1, made.stderr)
        self.environment.update(LOCPATH=str(self.folder), LC_ALL="comma", LC_NUMERIC="comma", LANG="comma")
        point = 'import locale; locale.setlocale(locale.LC_ALL, ""); print(locale.localeconv()["decimal_point"])'
        self.assertEqual(subprocess.run(["/usr/bin/python3", "-c", point], env=self.environment, capture_output=True, text=True,
                                        check=True).stdout, ",\n")
        server = self.serve()
        wait_until(lambda: server.get("/-/ready").status == 200, "the first sample")
        values = server.metrics()
        # Values are in nanoseconds. One of 1,000,000,000 ends in nine zeros. Ticks are a whole second once in a hundred
        # times.
        self.assertNotEqual(values["rightsize_snapshot_timestamp_seconds", frozenset()] % 1, 0)
        self.assertGreater(len(values), 50)


class Network(Machine):
    def test_download_that_goes_silent_delays_neither_scrapes_nor_the_end(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            asked = threading.Event()
            held = []

            def half_an_answer():
                with contextlib.suppress(OSError):
                    while True:
                        client = listener.accept()[0]
                        held.append(client)
                        client.recv(1 << 16)
                        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                       b"Content-Length: 100000\r\n\r\n[{")
                        asked.set()
            threading.Thread(target=half_an_answer, daemon=True).start()
            self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = str(self.folder / "cache.db")
            server = self.serve("--catalogue.refresh", f"--catalogue.url=http://127.0.0.1:{listener.getsockname()[1]}")
            usual = self.scrape_seconds(server.metrics)
            # The catalogue is fetched at its first use.
            self.assertEqual(server.get("/servers").status, 200)
            self.assertTrue(asked.wait(DEADLINE))
            self.assert_fast(server.metrics, usual)
            self.assert_ends_at_once(server)
            for client in held:
                client.close()

    @unittest.skipUnless(AS_ROOT, "only root may give a program a network and a resolv.conf of its own")
    def test_names_that_never_resolve_delay_neither_scrapes_nor_the_end(self):
        resolver = self.folder / "resolv.conf"
        resolver.write_text("nameserver 127.0.0.53\noptions timeout:30 attempts:5\n")
        # A name server that reads every question and never answers.
        mute = ("import socket,sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(('127.0.0.53', 53))\n"
                "open(sys.argv[1], 'w').close()\nwhile True: s.recv(1000); open(sys.argv[2], 'w').close()")
        bound, asked = self.folder / "bound", self.folder / "asked"
        script = (f"mount --bind '{resolver}' /etc/resolv.conf && ip link set lo up || exit 77\n"
                  f"{PYTHON} -S -E -c \"{mute}\" '{bound}' '{asked}' & mute=$!\n"
                  f"while ! test -e '{bound}'; do kill -0 $mute || exit 77; done\n"
                  "\"$@\" & child=$!; trap 'kill $child' TERM; wait $child; wait $child; code=$?; kill $mute; exit $code")
        self.environment["RIGHTSIZE_CATALOGUE_CACHE"] = str(self.folder / "cache.db")
        server = self.start_program(
            ["unshare", "--mount", "--net", "sh", "-c", script, "sh", EXPORTER, "serve", "--catalogue.refresh",
             "--catalogue.url=http://keeper.invalid.example", "--web.listen-address=127.0.0.1:0",
             f"--web.unix-socket={self.folder / 'socket'}", f"--history.path={self.history}", "--no-jobs.recognise"])
        if server.process.poll() == 77:
            self.skipTest("no network of its own may be made here")

        def ask(path):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(DEADLINE)
                client.connect(str(self.folder / "socket"))
                client.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
                return b"".join(iter(lambda: client.recv(1 << 16), b""))
        wait_until(lambda: (self.folder / "socket").exists() or server.process.poll() is not None, "the socket")
        if server.process.poll() == 77:
            self.skipTest("no network of its own may be made here")

        def scrape():
            self.assertIn(b" 200 ", ask("/metrics")[:20])
        usual = self.scrape_seconds(scrape)
        self.assertFalse(asked.exists())
        wait_until(lambda: ask("/servers") and asked.exists(), "a question about a name")
        self.assert_fast(scrape, usual)
        # The shell ends when the server ends.
        self.assert_ends_at_once(server)


if __name__ == "__main__":
    main()
