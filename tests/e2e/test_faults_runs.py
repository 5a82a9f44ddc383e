"""More runs at once than there is room for, and their effect on the programs that watch them."""
import json
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "accuracy"))
import groups  # noqa: E402
from support import EXPORTER, Case, main, python_job, wait_until  # noqa: E402

# A mount namespace of its own with a file system at "disk" that has its own numbers. Then runs the rest. The connection
# of a FUSE that never answers stays open as long as a process has it.
WITH_A_DISK = """
set -e
cd "$0"
mkdir below disk
mount -t tmpfs -o size=64m none below
mkdir below/lower below/upper below/work
mount -t overlay -o lowerdir=below/lower,upperdir=below/upper,workdir=below/work none disk
exec 7<>/dev/fuse
exec "$@"
"""
MOUNTS_OVER_IT = python_job("""
import ctypes, os, sys, time
with open("disk/file", "wb") as f: f.write(bytes(1 << 20))
time.sleep(0.5)
sys.exit(ctypes.CDLL(None).mount(b"slow", b"disk", b"fuse", 0, b"fd=7,rootmode=40000,user_id=0,group_id=0"))
""")


class OpenFiles(Case):
    def serve_with(self, soft, hard, *flags):
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}", "--no-jobs.recognise",
                            "--sample.interval=100ms", *flags,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
        server.wait_address()
        return server

    def sleeper_in_a_group(self, number):
        group = groups.make(f"open-{number}")
        if isinstance(group, str):
            self.skipTest(group)
        self.addCleanup(group.remove)
        sleeper = subprocess.Popen(["sleep", "600"], preexec_fn=group.enter)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        return sleeper

    def test_runs_in_groups_of_their_own_leave_some_to_others(self):
        """The number of open files for runs is limited, and ended runs keep none."""
        server = self.serve_with(256, 256, "--web.allow-changes", "--web.max-connections=8")
        before = {name for name, _ in server.metrics()}
        sleepers = [self.sleeper_in_a_group(number) for number in range(100)]
        for sleeper in sleepers:
            body = json.dumps({"job_name": "sleepers", "pid": sleeper.pid})
            self.assertEqual(server.get("/jobs", "POST", body, Content_Type="application/json").status, 201)
        server.look_at_jobs()
        metrics = server.metrics()
        self.assertEqual(before - {name for name, _ in metrics}, set())
        self.assertEqual(metrics["rightsize_job_active_runs", frozenset({("job_name", "sleepers")})], len(sleepers))
        kept = metrics["process_open_fds", frozenset()]
        self.assertLess(kept, 192)
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
        # No scrape drops the runs: it is enough that they ended.
        wait_until(lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < kept - 30, "descriptors of ended runs to be closed")
        self.assertEqual(server.get("/overview").status, 200)

    def test_a_server_allows_itself_as_many_as_it_may_have(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        server = self.serve_with(min(hard, 200), hard)
        self.assertEqual(resource.prlimit(server.pid, resource.RLIMIT_NOFILE), (min(hard, 65536), hard))


class Mounts(Case):
    def test_a_file_system_that_hangs_over_one_that_was_watched_holds_up_nobody(self):
        try:
            os.close(os.open("/dev/fuse", os.O_RDWR))
        except OSError as e:
            self.skipTest(f"no FUSE here: {e}")
        if os.geteuid() or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
            self.skipTest("nothing may be mounted here")
        place = self.folder / "place"
        place.mkdir()
        command = [EXPORTER, *self.wrapper_arguments(MOUNTS_OVER_IT, flags=["--sample.interval=100ms"])]
        wrapper = self.start_program(["unshare", "--mount", "sh", "-c", WITH_A_DISK, place, *command])
        self.addCleanup(wrapper.kill)  # a run that hangs must not delay the others
        self.assertEqual(wrapper.wait(), 0)
        run = self.only_run()
        self.assertEqual(run["disk_source"], "written")
        self.assertLess(run["disk_grown_bytes"], 1 << 20)  # the layers are in memory


if __name__ == "__main__":
    main()
