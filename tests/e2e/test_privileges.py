"""The server gives up privileges when it starts. A job under `run` gives up none."""
import errno
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support

ROOT = pathlib.Path(__file__).parents[2]
# linux/capability.h
CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, NET_BIND_SERVICE, NET_ADMIN, SYS_PTRACE = 0, 1, 2, 10, 12, 19
KEPT = 1 << DAC_READ_SEARCH | 1 << NET_BIND_SERVICE | 1 << NET_ADMIN | 1 << SYS_PTRACE
FIELDS = ("NoNewPrivs", "Seccomp", "CapPrm", "CapEff", "CapInh", "CapAmb")
PRINT_STATUS = "print(open('/proc/self/status').read())"


def parse(text):
    return {name: int(re.search(rf"^{name}:\s*(\w+)", text, re.M)[1], 16) for name in FIELDS}


def threads_of(pid):
    return [parse((task / "status").read_text()) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]


def is_sanitized():
    """LeakSanitizer traces the program by ptrace(2) when it ends, so such a build keeps that."""
    return b"__asan_init" in pathlib.Path(support.EXPORTER).read_bytes()


class Privileges(support.Case):
    @unittest.skipIf(is_sanitized(), "AddressSanitizer")
    def test_every_thread_has_no_new_privileges_a_filter_and_only_the_capabilities_of_the_table(self):
        server = self.serve()
        own = parse(pathlib.Path("/proc/self/status").read_text())
        threads = threads_of(server.pid)
        self.assertGreater(len(threads), 2)
        for status in threads:
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), (1, 2))
            self.assertEqual(status["CapPrm"], own["CapPrm"] & KEPT)
            self.assertEqual(status["CapEff"], own["CapEff"] & KEPT)
            self.assertEqual((status["CapInh"], status["CapAmb"]), (0, 0))
        server.says(r"msg=privileges .*seccomp=on")

    def test_without_the_filter_the_rest_is_given_up_all_the_same(self):
        server = self.serve("--no-security.seccomp")
        own = parse(pathlib.Path("/proc/self/status").read_text())
        for status in threads_of(server.pid):
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), (1, own["Seccomp"]))
        server.says(r"msg=privileges .*seccomp=off")

    @unittest.skipIf(os.geteuid() != 0, "gives a file to another user")
    def test_beside_the_history_of_another_user_root_keeps_what_writing_it_takes(self):
        before = self.run_job(["true"])
        self.assertEqual(before.returncode, 0)
        for path in [self.folder, *self.folder.glob("history.db*")]:
            os.chown(path, 65534, 65534)
        server = self.serve()
        for capability in (DAC_OVERRIDE, CHOWN):
            self.assertTrue(all(s["CapEff"] & 1 << capability for s in threads_of(server.pid)))
        server.says(r"dac_override chown")

    @unittest.skipIf(os.geteuid() != 0, "gives a folder to another user")
    def test_server_of_root_shuts_nobody_out_of_a_history_in_his_folder(self):
        user, home = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], self.folder / "home"
        self.folder.chmod(0o755)
        for name in ("history.db", "not/there/yet/history.db"):
            with self.subTest(name=name):
                home.mkdir()
                os.chown(home, 65534, 65534)
                self.history = home / name
                server = self.serve()
                made = [path for path in home.rglob("*")]
                self.assertIn(f"{self.history}-wal", map(str, made))
                self.assertEqual({(path.stat().st_uid, path.stat().st_gid) for path in made}, {(65534, 65534)})
                wrapper = self.start_program([*user, support.EXPORTER, *self.wrapper_arguments(["true"])])
                self.assertEqual(wrapper.wait(), 0)
                self.assertFalse(wrapper.said("not be in the history"), wrapper.log)
                self.assertEqual(self.only_run()["outcome"], "succeeded")
                server.stop()
                shutil.rmtree(home)

    @unittest.skipIf(is_sanitized(), "AddressSanitizer")
    def test_the_server_is_not_dumped_by_a_fault(self):
        """Files of a process that its own user may not read belong to root, see proc(5). Such a process makes no core
        either."""
        user = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if user:
            os.chown(self.folder, 65534, 65534)
        server = self.start_program(
            [*user, support.EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
             "--no-jobs.recognise"], stdout=subprocess.DEVNULL)
        server.wait_address()
        self.assertEqual(pathlib.Path(f"/proc/{server.pid}/environ").stat().st_uid, 0)
        values = server.metrics()
        self.assertIn(("process_open_fds", frozenset()), values)
        self.assertIn(("process_resident_memory_bytes", frozenset()), values)

    def becoming(self, *flags, user="64877", **options):
        return self.start_program([support.EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                                   "--no-catalogue.refresh", f"--security.user={user}", *flags], stdout=subprocess.DEVNULL, **options)

    def refused(self, *prefix):
        """Starts a server that may not see the processes of the test. Returns the line about that."""
        server = self.start_program([*prefix, support.EXPORTER, "serve", "--web.listen-address=127.0.0.1:0",
                                     "--history.path=:memory:", "--no-catalogue.refresh"], stdout=subprocess.DEVNULL)
        return server.says("cannot read environments of other users' processes.*").string

    @unittest.skipIf(subprocess.run(["unshare", "-Ur", "true"], check=False, capture_output=True).returncode, "no namespaces")
    def test_it_does_not_ask_for_the_capabilities_that_it_has(self):
        """In a user namespace it has them, but not over the processes outside."""
        line = self.refused("unshare", "-Ur")
        self.assertIn('why="forbidden although the exporter has SYS_PTRACE and DAC_READ_SEARCH: by a user namespace', line)
        self.assertNotIn("needs=", line)

    @unittest.skipIf(os.geteuid() != 0, "starts a process of another user")
    def test_it_asks_for_the_capability_that_it_lacks(self):
        job = self.start_program(support.python_job("input()"), user=65534, group=65534, extra_groups=[], stdin=subprocess.PIPE)
        for missing in ("sys_ptrace", "dac_read_search,-dac_override"):
            with self.subTest(missing=missing):
                line = self.refused("setpriv", f"--bounding-set=-{missing}", "--inh-caps=-all")
                self.assertIn("or the capabilities SYS_PTRACE and DAC_READ_SEARCH", line)
                self.assertNotIn("why=", line)
        job.process.stdin.close()

    @unittest.skipIf(os.geteuid() != 0, "becomes another user")
    def test_root_goes_on_as_another_user_with_what_looking_takes(self):
        folder = self.folder / "state"
        self.folder.chmod(0o755)
        self.history = folder / "history.db"
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        server = self.becoming("--log.level=debug")
        server.wait_address()
        own = parse(pathlib.Path("/proc/self/status").read_text())
        for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir():
            text = (task / "status").read_text()
            self.assertEqual(re.search(r"^Uid:\s*(.*)", text, re.M)[1].split(), ["64877"] * 4)
            self.assertEqual(re.search(r"^Gid:\s*(.*)", text, re.M)[1].split(), ["64877"] * 4)
            self.assertEqual(re.search(r"^Groups:\s*(.*)", text, re.M)[1].split(), ["64877"])
            status = parse(text)
            self.assertEqual((status["CapPrm"], status["CapEff"]), (own["CapPrm"] & KEPT,) * 2)
        self.assertEqual({path.stat().st_uid for path in [folder, *folder.iterdir()]}, {64877})
        # It sees everything that root saw, and its history continues, also for root's wrappers.
        job = self.start_program(support.python_job("input()"), env={**self.environment, "RIGHTSIZE_JOB_NAME": "seen"},
                                 user=65534, group=65534, extra_groups=[], stdin=subprocess.PIPE)
        support.wait_until(lambda: ("rightsize_job_processes", frozenset({("job_name", "seen")})) in server.metrics(),
                           "the job of another user")
        job.process.stdin.close()
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        self.assertEqual({path.stat().st_uid for path in folder.iterdir()}, {64877})
        self.assertEqual(server.stop(), 0)

    @unittest.skipIf(os.geteuid() != 0, "becomes another user")
    def test_who_cannot_become_another_user_does_not_serve(self):
        (self.folder / "another").write_text("")
        bare = ["setpriv", "--bounding-set=-setuid", "--inh-caps=-all"]
        for user, history, prefix, says in (
                ("nobody-has-this-name", self.history, [], "no user nobody-has-this-name"),
                ("0", self.history, [], "give a user other than root"),
                ("root", self.history, [], "root is root: give another user"),
                ("64877", self.history, [], "other files"),
                ("64877", "history.db", [], "absolute path"),
                *(("64877", f"{self.folder}/{name}", [], "absolute path of a file") for name in ("", ".", "..")),
                ("64877", ":memory:", bare, "SETUID")):
            with self.subTest(user=user, history=history):
                done = subprocess.run(
                    [*prefix, support.EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--history.path={history}",
                     "--no-catalogue.refresh", f"--security.user={user}"], capture_output=True, text=True, env=self.environment, timeout=60, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(says, done.stderr)
        self.assertEqual(self.folder.stat().st_uid, 0)

    @unittest.skipIf(os.geteuid() != 0, "becomes another user")
    def test_only_files_of_no_other_name_are_given_away(self):
        """The folder already belongs to the other user, who may have put files there."""
        folder, precious = self.folder / "state", self.folder / "precious"
        self.folder.chmod(0o755)
        precious.write_text("root's")
        folder.mkdir()
        os.chown(folder, 64877, 64877)
        os.link(precious, folder / "history.db-journal")
        (folder / "history.db-wal").mkdir()
        (folder / "history.db-shm").symlink_to(precious)
        self.history = folder / "history.db"
        self.becoming().wait()
        self.assertEqual({path.lstat().st_uid for path in (precious, *folder.iterdir()) if path.name != "history.db"}, {0})

    def calls(self, *flags):
        """Returns {call: errno} of the calls that were tried inside the server (tests/faults/denied_calls.c)."""
        told = self.folder / f"calls{len(flags)}"
        environment = {**self.environment, "LD_PRELOAD": os.environ["RIGHTSIZE_DENIED_CALLS"], "DENIED_CALLS": str(told)}
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", "--history.path=:memory:", "--no-jobs.recognise",
                            *flags, env=environment, stdout=subprocess.DEVNULL)
        server.wait_address()
        self.assertEqual(server.get("/metrics").status, 200)
        return {name: int(code) for name, code in (line.split("|") for line in told.read_text().splitlines())}

    @unittest.skipIf(is_sanitized(), "AddressSanitizer")
    def test_what_a_server_never_does_is_refused_to_the_server_itself(self):
        refused = self.calls()
        self.assertGreater(len(refused), 60)
        # A filter cannot read its flags, so the call does not exist at all.
        self.assertEqual(refused.pop("clone3"), errno.ENOSYS)
        self.assertEqual({name: errno.errorcode.get(code, code) for name, code in refused.items() if code != errno.EPERM}, {})
        self.assertEqual(self.listed() - set(refused), {"vfork"})

    def listed(self):
        source = (ROOT / "exporter/lifecycle/seccomp.c").read_text()
        return set(re.findall(r"\bSYS_(\w+)", source[source.index("forbidden[]"):source.index("};")]))

    def test_the_documented_list_is_the_one_in_force(self):
        text = (ROOT / "SECURITY.md").read_text()
        table = text[text.index("| for | refused |"):].split("\n\n")[0].splitlines()
        documented = [name for row in table[2:-1] for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(len(documented), len(set(documented)))
        self.assertEqual(set(documented), self.listed())
        # Also the calls that are refused only with some arguments.
        by_argument = set(re.findall(r"UNLESS_SKIP\(SYS_(\w+)", (ROOT / "exporter/lifecycle/seccomp.c").read_text()))
        self.assertEqual(set(re.findall(r"`([a-z]\w+)`", table[-1])), by_argument - {"clone3"})

    @unittest.skipIf(is_sanitized(), "AddressSanitizer")
    def test_without_the_filter_the_kernel_says_what_was_wrong_instead(self):
        refused, plain = self.calls(), self.calls("--no-security.seccomp")
        # Calls that need no capability, and that no container refuses.
        for name in ("execve", "execveat", "pidfd_send_signal", "clone of a process", "ioctl that types into a terminal"):
            with self.subTest(call=name):
                self.assertEqual(refused[name], errno.EPERM)
                self.assertNotEqual(plain[name], errno.EPERM)

    def test_a_job_inherits_nothing_of_it(self):
        for flags in ((), ("--web.listen-address=127.0.0.1:0",)):
            with self.subTest(flags=flags):
                command = support.python_job(PRINT_STATUS)
                plain = subprocess.run(command, capture_output=True, text=True, check=True, env=self.environment)
                watched = self.run_job(command, flags=flags, text=True)
                self.assertEqual(watched.returncode, 0, watched.stderr)
                self.assertEqual(parse(watched.stdout), parse(plain.stdout))


if __name__ == "__main__":
    support.main()
