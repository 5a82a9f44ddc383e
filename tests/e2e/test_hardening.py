"""What the built program is made of, as readelf sees it, and what it says of secrets."""
import os
import pathlib
import re
import subprocess
import unittest

import support


def readelf(*flags):
    return subprocess.run(["readelf", "-W", *flags, support.EXPORTER], capture_output=True, text=True, check=True).stdout


class Binary(support.Case):
    def test_it_may_be_loaded_anywhere(self):
        self.assertRegex(readelf("-h"), r"Type:\s+DYN")
        self.assertRegex(readelf("-d"), r"FLAGS_1.*PIE")

    def test_all_symbols_are_bound_at_the_start_and_then_read_only(self):
        self.assertIn("GNU_RELRO", readelf("-l"))
        self.assertRegex(readelf("-d"), r"FLAGS_1.*NOW")

    def test_no_memory_is_writable_and_executable(self):
        flags = re.findall(r"^\s+(?:LOAD|GNU_STACK)(?:\s+0x\w+){5}\s+([RWE ]{3})", readelf("-l"), re.M)
        self.assertGreater(len(flags), 3)
        self.assertFalse([f for f in flags if "W" in f and "E" in f], flags)

    def test_the_stack_and_the_calls_of_the_c_library_are_checked(self):
        names = readelf("--dyn-syms")
        if "__asan_init" in names or "__tsan_init" in names:
            self.skipTest("sanitizers check instead")
        self.assertIn("__stack_chk_fail", names)
        self.assertRegex(names, r"__\w+_chk@GLIBC")

    @unittest.skipIf(os.uname().machine != "x86_64", "of x86 only")
    def test_our_functions_are_marked_as_places_to_jump_to(self):
        """By endbr64. The file as a whole says so only where the C library's start files are marked, too."""
        self.assertGreater(pathlib.Path(support.EXPORTER).read_bytes().count(b"\xf3\x0f\x1e\xfa"), 300)


ROUTES = ("/", "/metrics", "/jobs", "/runs?job_name=job", "/stats?job_name=job", "/overview", "/report?job_name=job",
          "/recommend?job_name=job", "/server", "/nothing")


class Secrets(support.Case):
    def test_what_jobs_were_started_with_is_told_to_nobody(self):
        argument, variable, token = "argument-7d1f0c", "variable-91be3a", "token-5c02d8"
        file = self.folder / "token"
        file.write_text(token)
        file.chmod(0o600)
        server = self.serve(f"--web.changes-token-file={file}", "--log.level=debug", "--jobs.recognise")
        job = self.start_run(support.python_job("input()", argument), flags=("--log.level=debug",),
                             env={**self.environment, "PASSWORD": variable}, stdin=subprocess.PIPE)
        support.wait_until(lambda: server.job_value("rightsize_job_runs_active", "job") == 1
                           or '"job"' in server.get("/jobs").text, "the run at the server")
        told = {path: server.get(path).text for path in ROUTES}
        told["refused"] = server.get("/runs", "POST", "{}", Content_Type="application/json",
                                     Authorization="Bearer wrong-" + token[:4]).text
        # What it has in memory is for root alone: the dump of a fault would be the same.
        told["argv"] = pathlib.Path(f"/proc/{server.pid}/cmdline").read_text(encoding="utf-8")
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        self.assertEqual(job.wait(), 0)
        told.update({"again " + path: server.get(path).text for path in ROUTES})
        server.stop()
        told["log of the server"], told["log of the run"] = "".join(server.log), "".join(job.log)
        for path in self.folder.glob("history.db*"):
            told[path.name] = path.read_bytes().decode("latin-1")
        self.assertIn("job", told["/jobs"])
        for where, text in told.items():
            for secret in (argument, variable, token):
                self.assertNotIn(secret, text, where)


if __name__ == "__main__":
    support.main()
