"""Servers and wrappers end while the history can be neither read nor written, or while the kernel does not answer."""
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import termios
import time
import unittest

import dying_disk
from support import DEADLINE, EXPORTER, PYTHON, children_of, main, wait_until
from test_faults_history import Job

# A FUSE that answers only INIT (26, linux/fuse.h) until its input ends. It reads the request, after which no signal
# ends the wait for an answer.
DEAD = """
import ctypes, os, select, struct, sys
kernel = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
if kernel.mount(b"none", sys.argv[1].encode(), b"fuse", 0, f"fd={device},rootmode=40755,user_id=0,group_id=0".encode()):
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))
print(flush=True)
while 0 not in select.select([device, 0], [], [])[0]:
    size, what, unique = struct.unpack("<IIQ", os.read(device, 1 << 18)[:16])
    if what == 26:
        body = struct.pack("<IIIIHHIIHHI7I", 7, 26, 0, 0, 9, 9, 4096, 1, 0, 0, 0, *[0] * 7)
        os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
os.close(device)
kernel.umount2(sys.argv[1].encode(), 2)
"""


class Ending(Job):
    def test_a_disk_that_hangs_at_reading_does_not_hold_it_up(self):
        """A server whose threads read the history after each write, and a wrapper that prints the summary of its
        run."""
        stall, slow, report = (self.folder / name for name in ("stall", "slow", "report.html"))
        theirs = dict(self.environment)
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_READS=str(stall))
        self.run_job(["true"], env=theirs)
        server = self.serve()
        wrapper = self.start_run(["sh", "-c", "read line; exit 3"], stdin=subprocess.PIPE)
        # A third program has a summary and a report that take long.
        at_work = self.start_run(["sh", "-c", f"echo > {slow}; exit 3"], "slow", env={**self.environment, "STALLING_READS": str(slow)},
                                 flags=(f"--history.path={self.folder / 'slow.db'}", f"--report={report}"))
        wait_until(lambda: len(server.get("/runs?job_name=job").json["runs"]) == 2, "a run that is recorded")
        wait_until((self.folder / "slow.waits").exists, "a read that takes long")
        os.mkfifo(stall)
        self.run_job(["true"], env=theirs)
        wait_until((self.folder / "stall.waits").exists, "a read that waits")
        server.send(signal.SIGTERM)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertEqual(server.wait(), 0)
        server.says("level=error.*disk does not answer")
        self.assertEqual(wrapper.wait(), 3)
        self.assertIsNone(at_work.process.poll(), at_work.log)
        slow.unlink()
        self.assertEqual(at_work.wait(), 3)
        at_work.says(": slow failed")
        self.assertIn("slow", report.read_text())
        stall.unlink()
        self.assert_history_intact()

    def test_an_interrupt_ends_the_waiting_for_a_disk(self):
        """Without the interrupt, the wrapper waits three seconds for a write that may only be slow."""
        stall = self.folder / "stall"
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_DISK=str(stall))
        wrapper = self.begin()
        self.wait_for(wrapper, "samples_written_total", 3)
        os.mkfifo(stall)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        wait_until(lambda: not children_of(wrapper.pid), "the end of the job")
        begun = time.monotonic()

        def interrupted():
            wrapper.send(signal.SIGINT)
            return wrapper.process.poll() is not None
        wait_until(interrupted, "the end")
        self.assertLess(time.monotonic() - begun, 2)
        wrapper.says("the end of the run is not in the history")
        self.assertEqual(wrapper.wait(), 0)

    def test_a_sampler_that_hangs_holds_up_no_job_and_no_end(self):
        """A file of /proc does not answer while a job runs and a server serves, and when other jobs start."""
        stall, slow = self.folder / "stall", self.folder / "slow"
        central = self.serve("--web.allow-changes", f"--history.path={self.folder / 'central.db'}")
        self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_PROC=str(stall))
        job = ["sh", "-c", "read line; exit 3"]
        self.run_job(["true"], "to be handed on")
        silent = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        server = self.serve("--web.allow-changes", f"--forward.url=http://127.0.0.1:{silent.getsockname()[1]}",
                            "--forward.timeout=1h")
        # No later program would close the recorded runs and forward them.
        pod = self.serve("--web.allow-changes", "--exit-with-job", f"--history.path={self.folder / 'pod.db'}",
                         f"--forward.url=http://127.0.0.1:{central.port}")
        self.assertEqual(self.announce(pod, "of the pod").status, 201)
        self.environment.update(STALLING_PROC=str(slow))
        at_work = self.serve(f"--history.path={self.folder / 'slow.db'}")
        self.environment.update(STALLING_PROC=str(stall))
        begun = self.start_run(job, "begun", stdin=subprocess.PIPE)
        server.recorded_runs("begun")
        os.mkfifo(stall)
        wait_until((self.folder / "stall.waits").exists, "a look that waits")
        slow.touch()
        wait_until((self.folder / "slow.waits").exists, "a look that takes long")
        at_work.send(signal.SIGTERM)
        late = self.start_run(job, "late", stdin=subprocess.PIPE)
        second = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.folder / 'second.db'}")
        for wrapper in (begun, late):
            wrapper.process.stdin.close()
            wrapper.process.stdin = None
        # The second signal ends the server's wait for the job.
        wait_until(lambda: pod.send(signal.SIGTERM) or pod.said("stopping"), "the end of the pod")
        answer = self.announce(server, "told")
        self.assertEqual(answer.status, 503, answer.text)
        self.assertIn("the sampler does not answer", answer.json["error"]["message"])
        server.send(signal.SIGTERM)
        for process, code, words in ((begun, 3, "end of the run was not seen"), (late, 3, "run is not recorded"),
                                     (second, 1, "cannot serve.*sampler does not answer"),
                                     (server, 0, "did not end in time"), (pod, 0, "did not end in time")):
            with self.subTest(words=words):
                self.assertEqual(process.wait(), code, process.log)
                process.says(words)
        self.assertIsNone(at_work.process.poll(), at_work.log)
        slow.unlink()
        self.assertEqual(at_work.wait(), 0)
        self.assertFalse(at_work.said("did not end in time"), at_work.log)
        stall.unlink()
        self.assert_history_intact()
        run = self.only_run("begun")
        self.assertEqual((run["outcome"], run["exit_code"], run["cpu_source"]), ("failed", 3, "proc"))
        handed_on = central.get("/runs?job_name=of+the+pod").json.get("runs", [])
        self.assertEqual([run["outcome"] for run in handed_on], ["interrupted"])

    @staticmethod
    def announce(server, name):
        return server.get("/jobs", "POST", json.dumps({"pid": os.getpid(), "job_name": name}), Content_Type="application/json")

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/fuse"), "only root may mount a FUSE")
    def test_a_job_begins_where_no_signal_ends_the_waiting_of_the_sampler(self):
        folder, begun = self.folder / "dead", self.folder / "begun"
        folder.mkdir()
        disk = subprocess.Popen([PYTHON, "-S", "-E", "-c", DEAD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.ExitStack() as ends:
            ends.callback(disk.wait)
            ends.callback(disk.stdin.close)
            ends.callback(disk.stdout.close)
            self.assertEqual(disk.stdout.readline(), b"\n")
            self.environment.update(LD_PRELOAD=os.environ["RIGHTSIZE_STALLING_DISK"], STALLING_PROC=str(folder / "file"))
            wrapper = self.start_run(["sh", "-c", f"echo > {begun}; exit 3"])
            wait_until(begun.exists, "the job to begin")
        self.assertEqual(wrapper.wait(), 3, wrapper.log)
        wrapper.says("counted less exactly.*the sampler does not answer")
        # The sampler continued, and made a control group for which no caller waited any more.
        self.assertEqual(list(pathlib.Path("/sys/fs/cgroup").rglob(f"rightsize-{wrapper.pid}-*")), [])

    def test_a_terminal_that_is_stopped_is_waited_for(self):
        """A person stopped the terminal in order to read. This is not a disk that does not answer."""
        ours, theirs = (os.fdopen(number, "rb", 0) for number in os.openpty())
        self.addCleanup(ours.close)
        with theirs:
            termios.tcflow(theirs, termios.TCOOFF)
            wrapper = subprocess.Popen([EXPORTER, *self.wrapper_arguments(["true"])], stderr=theirs, stdin=subprocess.DEVNULL,
                                       env=self.environment)
            self.addCleanup(wrapper.wait)
            self.addCleanup(wrapper.kill)
            question = ("runs", "--job-name=job", f"--history.path={self.history}")
            wait_until(lambda: '"succeeded"' in self.command(*question).stdout, "the end of the run")
            # longer than the time for a disk
            with self.assertRaises(subprocess.TimeoutExpired):
                wrapper.wait(7)
            termios.tcflow(theirs, termios.TCOON)
            self.assertEqual(wrapper.wait(DEADLINE), 0)
            self.assertIn(b": job succeeded", ours.read(8192))


@unittest.skipIf(dying_disk.REFUSED, dying_disk.REFUSED)
@unittest.skipIf(b"__tsan_init" in pathlib.Path(EXPORTER or "/dev/null").read_bytes(), "ThreadSanitizer has no loose threads")
class DeadDisk(Job):
    """The history is on a file server that takes requests and does not answer them. No signal ends such a wait."""

    HELD_UP = 0.5

    def setUp(self):
        super().setUp()
        self.disk = dying_disk.DyingDisk(self.folder / "disk")
        self.addCleanup(self.disk.end)
        self.history = str(self.disk.folder / "history.db")

    def begin_job(self, flags=()):
        self.began = time.monotonic()
        wrapper = self.start_program([*self.disk.inside, EXPORTER, *self.wrapper_arguments(
            ["sh", "-c", "echo; read line; exit 3"], flags=("--sample.interval=100ms", *flags))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(wrapper.process.stdout.readline(), b"\n")
        return wrapper

    def check_end(self, wrapper, words):
        """Ends the job. Waits for the end of the output, too: nobody who reads it waits for the disk."""
        begun = time.monotonic()
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        self.assertTrue(select.select([wrapper.process.stdout], [], [], self.HELD_UP)[0], "the end of the output")
        self.assertEqual(wrapper.process.stdout.read(), b"")
        self.assertEqual(wrapper.wait(), 3)
        self.assertLess(time.monotonic() - begun, self.HELD_UP, wrapper.log)
        self.assertEqual([bool(re.search(words, line)) for line in wrapper.log], [True], wrapper.log)

    def test_from_the_beginning(self):
        self.disk.die(dying_disk.ALL)
        wrapper = self.begin_job()
        self.assertLess(time.monotonic() - self.began, self.HELD_UP)
        self.check_end(wrapper, "the end of the run is not in the history.*could not be opened for .*disk does not answer")

    def check_while_the_job_runs(self, *what):
        wrapper = self.begin_job()
        wait_until(lambda: self.disk.files() == 3, "the first write")
        self.disk.die(*what)
        self.disk.wait_for_victim()
        self.check_end(wrapper, "the end of the run is not in the history.*disk has not answered for")

    def test_while_the_job_runs(self):
        self.check_while_the_job_runs(dying_disk.ALL)

    def test_that_answers_reads_only(self):
        self.check_while_the_job_runs(dying_disk.WRITE)

    def test_after_the_run_was_written(self):
        wrapper = self.begin_job([f"--report={self.folder / 'report.html'}"])
        wait_until(lambda: self.disk.files() == 3, "the first write")
        self.disk.die(dying_disk.READ, dying_disk.FLUSH)
        self.check_end(wrapper, "the run is in the history, but its summary is missing.*disk does not answer")

    def test_a_server_says_so(self):
        """One that takes runs of others is not ready meanwhile. Scrapes go on."""
        for flags, status in ((["--web.allow-changes"], 503), ([], 200)):
            with self.subTest(status=status):
                disk = dying_disk.DyingDisk(self.folder / f"disk-{status}")
                self.addCleanup(disk.end)
                server = self.start_program(
                    [*disk.inside, EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--jobs.recognise",
                     f"--history.path={disk.folder / 'history.db'}", "--sample.interval=200ms", *flags])
                server.wait_address()
                usual = self.scrape_seconds(server)
                self.assertEqual(server.get("/-/ready").text, "rightsize-exporter is ready.\n")
                disk.die(dying_disk.ALL)
                job = self.start_program(["sleep", "1000"], env={**self.environment, "RIGHTSIZE_JOB_NAME": f"of-{status}"})
                self.addCleanup(job.kill)
                wait_until(lambda: "the history's disk has not answered for" in server.get("/-/ready").text, "the reason")
                self.assertEqual(server.get("/-/ready").status, status)
                self.assert_fast(server, usual)
                disk.end()
                self.assertEqual(server.stop(), 0)

    def serve_on(self, disk, *flags):
        return self.start_program([*disk.inside, EXPORTER, "serve", "--web.listen-address=127.0.0.1:0",
                                   f"--history.path={disk.folder / 'history.db'}", "--sample.interval=200ms",
                                   "--no-jobs.recognise", *flags])

    def check_silent_server(self, server):
        """Measuring goes on. A request that needs the history is refused with the reason."""
        for seconds in (5, 0.5):
            begun = time.monotonic()
            answer = server.get("/jobs")
            self.assertLess(time.monotonic() - begun, seconds)
            self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "1"), answer.text)
            self.assertIn("disk does not answer", answer.text)
        self.assertIn("process_cpu_seconds_total", server.get("/metrics").text)
        wait_until(lambda: "the history's disk has not answered for" in server.get("/-/ready").text, "the reason")
        lines = len(server.log)
        begun = time.monotonic()
        server.send(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        self.assertLess(time.monotonic() - begun, 2, server.log)
        self.assertEqual([("exiting although the history does not answer" in line, "level=error" in line) for line in server.log[lines:]],
                         [(False, False), (True, True)], server.log)

    def test_a_server_starts_without_it(self):
        self.disk.die(dying_disk.ALL)
        server = self.serve_on(self.disk)
        server.wait_address()
        server.says("level=error.*the history is opened as soon as its disk answers.*could not be opened for")
        self.check_silent_server(server)

    def test_a_server_that_starts_without_it_opens_it_later(self):
        self.disk.die(dying_disk.ALL)
        server = self.serve_on(self.disk)
        server.wait_address()
        self.disk.die()
        wait_until(lambda: server.get("/-/ready").text == "rightsize-exporter is ready.\n", "the disk to answer")
        wait_until(lambda: server.get("/jobs").status == 200, "the history")
        self.assertEqual(server.stop(), 0)

    def test_of_two_servers_that_start_without_it_one_records(self):
        self.disk.die(dying_disk.ALL)
        servers = [self.serve_on(self.disk) for _ in range(2)]
        for server in servers:
            server.wait_address()
            server.says("the history is opened as soon as its disk answers")
        self.disk.die()
        locked = "another server of this machine records into it"
        wait_until(lambda: any(server.said(locked) for server in servers), "the disk to answer")
        first, second = sorted(servers, key=lambda server: bool(server.said(locked)))
        self.assertFalse(first.said(locked))
        self.assertEqual(first.stop(), 0)
        second.says("history can be written again")
        self.assertEqual(second.stop(), 0)

    def test_a_server_that_only_waits(self):
        """No thread writes at the time when the disk dies."""
        server = self.serve_on(self.disk)
        server.wait_address()
        self.assertEqual(server.get("/jobs").status, 200)
        self.disk.die(dying_disk.ALL)
        self.check_silent_server(server)

    def test_a_wrapper_with_readers(self):
        """Threads that answer requests and that forward runs read the history while the job runs."""
        central = self.serve("--web.allow-changes", f"--history.path={self.folder / 'central.db'}")
        wrapper = self.begin_job(["--web.listen-address=127.0.0.1:0", f"--forward.url=http://127.0.0.1:{central.port}",
                                  "--log.level=error"])
        wait_until(lambda: self.disk.files() == 3, "the first write")
        self.disk.die(dying_disk.ALL)
        for _ in range(3):
            self.disk.wait_for_victim()
        time.sleep(1)  # every reader looks
        self.check_end(wrapper, "the end of the run is not in the history.*disk has not answered for")

    def test_at_the_last_sync(self):
        wrapper = self.begin_job(["--quiet"])
        wait_until(lambda: self.disk.files() == 3, "the first write")
        self.disk.die(dying_disk.FSYNC)
        wrapper.process.stdin.close()
        wrapper.process.stdin = None
        begun = time.monotonic()
        self.assertEqual(wrapper.wait(), 3)
        self.assertLess(time.monotonic() - begun, self.HELD_UP, wrapper.log)
        self.assertEqual(wrapper.log, [])


if __name__ == "__main__":
    main()
