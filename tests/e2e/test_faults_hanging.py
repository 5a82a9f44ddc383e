"""Processes hold locks for which files of /proc wait, as long as a file system does not answer."""
import os
import subprocess
import time
import unittest
import uuid

from support import PYTHON, Case, main, wait_until

# A process that a FUSE delays, and the FUSE server. The server answers (linux/fuse.h) INIT (26), GETATTR (3), LOOKUP
# (1) and OPEN (14) for any name as one file. It does not answer FLUSH, for which an exec that closes the file waits,
# and READ. A process opens the file a second time as it is on the disk (FOPEN_DIRECT_IO, and FOPEN_KEEP_CACHE so that
# opening waits for nothing) and maps it. It then waits for the page that another process is reading. Everything
# continues when the input ends.
HANGS = """
import ctypes, os, struct, sys, time
kernel = ctypes.CDLL(None, use_errno=True)
folder, how = sys.argv[1:3]
device = os.open("/dev/fuse", os.O_RDWR)
if kernel.mount(b"none", folder.encode(), b"fuse", 0, f"fd={device},rootmode=40755,user_id=0,group_id=0".encode()):
    sys.exit("mount: " + os.strerror(ctypes.get_errno()))
def attributes(node):
    return struct.pack("<6Q10I", node, 4096, 8, 0, 0, 0, 0, 0, 0, 0o40755 if node == 1 else 0o100644, 2, 0, 0, 0, 4096, 0)
if os.fork() == 0:
    import select
    opened = 0
    while 0 not in select.select([device, 0], [], [])[0]:
        size, what, unique, node = struct.unpack("<IIQQ", os.read(device, 1 << 18)[:24])
        if what == 26:
            body = struct.pack("<IIIIHHIIHHI7I", 7, 26, 0, 0, 9, 9, 4096, 1, 0, 0, 0, *[0] * 7)
        elif what == 3:
            body = struct.pack("<QII", 1000, 0, 0) + attributes(node)
        elif what == 1:
            body = struct.pack("<QQQQII", 2, 0, 1000, 1000, 0, 0) + attributes(2)
        elif what == 14:
            opened += 1
            body = struct.pack("<QII", opened, 3 if opened == 2 else 0, 0)
        else:
            continue
        os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
    os._exit(0)
os.close(device)
first = os.open(folder + "/file", os.O_RDWR)
time.sleep(1)
if how == "exec":
    print(flush=True)
    os.execvp("true", ["true"])
if os.fork() == 0:
    kernel.read(first, ctypes.create_string_buffer(1), 1)
    os._exit(0)
time.sleep(0.5)
second = os.open(folder + "/file", os.O_RDONLY)
print(flush=True)
kernel.mmap(None, ctypes.c_size_t(4096), 1, 2, second, ctypes.c_long(0))
os._exit(0)
"""

# A job with a second thread. It ends with its input.
THREADS = "import sys, threading; threading.Thread(target=sys.stdin.read).start()"
MOST = 8  # TREE_GUARD_THREADS
MANY = MOST + 2


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/fuse"), "only root may mount a FUSE")
class Hanging(Case):
    def setUp(self):
        super().setUp()
        self.mark = "t" + uuid.uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))

    def hanging(self, how, name="dead"):
        folder = self.folder / f"{name}-{how}"
        folder.mkdir()
        return ["unshare", "--mount", PYTHON, "-S", "-E", "-c", HANGS, str(folder), how]

    def begin(self, command, **variables):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={"PATH": os.environ["PATH"], **variables})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """A process that hangs in a FUSE ends when the FUSE ends, whatever signal it got before."""
        if not process.stdin.closed:
            process.stdin.close()
        process.wait()
        process.stdout.close()

    @staticmethod
    def let_go(job):
        if not job.process.stdin.closed:
            job.process.stdin.close()

    def found(self, server, job_name):
        wait_until(lambda: server.job_value("rightsize_job_active_runs", job_name) == 1, f"a run of {job_name}")

    def check_goes_on(self, server, unanswered):
        wait_until(lambda: server.metrics()[("rightsize_processes_unanswered", frozenset())] == unanswered,
                   f"{unanswered} processes that do not answer")
        name = f"{self.mark}/" + uuid.uuid4().hex
        self.begin(["sh", "-c", "read end"], RIGHTSIZE_JOB_NAME=name)
        self.found(server, name)

    def test_servers_answer_begin_and_end(self):
        for how in ("exec", "mmap"):
            with self.subTest(how=how):
                before = self.serve("--jobs.recognise")
                hanging = self.begin(self.hanging(how))
                self.assertEqual(hanging.stdout.readline(), b"\n")
                self.check_goes_on(before, 1)
                self.assertEqual(before.stop(), 0)
                after = self.serve("--jobs.recognise")
                self.check_goes_on(after, 1)
                self.end(hanging)
                self.check_goes_on(after, 0)
                self.assertEqual(after.stop(), 0)

    def test_a_job_with_threads_is_found_while_many_hang(self):
        hanging = [self.begin(self.hanging("mmap", f"dead-{i}")) for i in range(MANY)]
        for process in hanging:
            self.assertEqual(process.stdout.readline(), b"\n")
        server = self.serve("--jobs.recognise")
        wait_until(lambda: server.metrics()[("rightsize_processes_unanswered", frozenset())] == MOST, "as many as are waited for")
        name = f"{self.mark}/" + uuid.uuid4().hex
        self.begin([PYTHON, "-S", "-E", "-c", THREADS], RIGHTSIZE_JOB_NAME=name)
        self.found(server, name)
        for process in hanging:
            self.end(process)
        self.check_goes_on(server, 0)
        self.assertEqual(server.stop(), 0)

    def test_a_job_that_hangs_is_followed_to_its_end(self):
        for how in ("exec", "mmap"):
            with self.subTest(how=how):
                job = self.start_run(self.hanging(how), how, flags=["--web.listen-address=127.0.0.1:0", "--sample.interval=200ms"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self.addCleanup(self.let_go, job)
                self.assertEqual(job.process.stdout.readline(), b"\n")
                job.wait_address()
                time.sleep(1)  # number of samples while the process hangs
                self.assertEqual(job.job_value("rightsize_job_active_runs", how), 1)
                self.let_go(job)
                self.assertEqual(job.wait(), 0, job.log)
                run = self.only_run(how)
                self.assertEqual(run["outcome"], "succeeded")
                self.assertGreater(run["duration_seconds"], 2)


if __name__ == "__main__":
    main()
