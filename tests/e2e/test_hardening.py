"""Tests the properties of the built program that readelf shows, and the protection of secrets."""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import unittest

import support

ROOT = pathlib.Path(__file__).parents[2]


def readelf(*flags):
    return subprocess.run(["readelf", "-W", *flags, support.EXPORTER], capture_output=True, text=True, check=True).stdout


def needs_optimization(test):
    """FORTIFY_SOURCE has no effect without optimization."""
    if b"GCOV_PREFIX" in pathlib.Path(support.EXPORTER).read_bytes():
        test.skipTest("built for coverage, so without optimization, which these checks need")


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
        needs_optimization(self)
        self.assertIn("__stack_chk_fail", names)
        self.assertRegex(names, r"__\w+_chk@GLIBC")

    def test_a_stack_grows_by_a_page_at_a_time(self):
        """orq $0,(%rsp) touches each page of a large frame, so that no frame jumps over the guard page."""
        if os.uname().machine != "x86_64" or "__asan_init" in readelf("--dyn-syms"):
            self.skipTest("another processor has other words, and sanitizers check instead")
        self.assertGreater(pathlib.Path(support.EXPORTER).read_bytes().count(b"\x48\x83\x0c\x24\x00"), 20)


@unittest.skipIf(os.uname().machine != "x86_64", "of x86 only")
class ControlFlow(support.Case):
    """The marks in .note.gnu.property for jump targets (IBT) and shadow stacks (SHSTK)."""

    @staticmethod
    def features(path):
        """Returns one set per object file. An archive has several."""
        notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True).stdout
        objects = re.split(r"^File: .*$", notes, flags=re.M)[1:] or [notes]
        return [set(re.findall(r"IBT|SHSTK", text)) for text in objects]

    def test_each_of_our_object_files_has_both(self):
        libraries = os.environ["RIGHTSIZE_LIBRARIES"].split(",")
        self.assertGreaterEqual(len(libraries), 4)
        for library in libraries:
            objects = self.features(library)
            self.assertGreater(len(objects), 5, library)
            self.assertEqual([f for f in objects if f != {"IBT", "SHSTK"}], [], library)

    def test_the_program_has_a_shadow_stack_and_marks_if_the_start_files_have_them(self):
        """The linker drops IBT if any file lacks it. Debian 12's Scrt1.o and crti.o are not marked."""
        start = [subprocess.run([os.environ["RIGHTSIZE_COMPILER"], f"-print-file-name={name}"], capture_output=True,
                                text=True, check=True).stdout.strip()
                 for name in ("Scrt1.o", "crti.o", "crtbeginS.o", "crtendS.o", "crtn.o")]
        marked = all("IBT" in self.features(path)[0] for path in start)
        self.assertEqual(self.features(support.EXPORTER), [{"IBT", "SHSTK"} if marked else {"SHSTK"}], start)


class Overflow(support.Case):
    """A program that is built with our flags and writes too far."""

    def test_writing_past_the_end_ends_the_program(self):
        needs_optimization(self)
        for where, fits, said in (("heap", 64, "buffer overflow detected"), ("stack", 64, "stack smashing detected")):
            for n, code in ((fits, 0), (fits + 16, -signal.SIGABRT)):
                with self.subTest(where=where, n=n):
                    done = subprocess.run([os.environ["RIGHTSIZE_OVERFLOW"], where, str(n)], capture_output=True,
                                          text=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertEqual(said in done.stderr, code != 0, done.stderr)


ROUTES = ("/", "/metrics", "/jobs", "/runs?job_name=job", "/stats?job_name=job", "/overview", "/report?job_name=job",
          "/recommend?job_name=job", "/server", "/nothing")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(shutil.which("dpkg-query"), "packages are told by dpkg")
class Materials(support.Case):
    """Compares the bill of materials (deploy/sbom.sh) with the libraries that the loader loads."""

    @staticmethod
    def loaded(file=support.EXPORTER):
        """Returns {(package, version)} of all libraries of the program."""
        found = set()
        for path in re.findall(r"(/\S+) \(0x", output("ldd", file)):
            known = output("sh", "-c", f"dpkg-query -S {path} 2>/dev/null || dpkg-query -S $(realpath {path})")
            package = known.splitlines()[0].rpartition(": ")[0]
            found.add(tuple(output("dpkg-query", "-W", "-f=${Package} ${Version}", package).split()))
        return found

    def bill(self, files, **variables):
        """Returns the bill, and {reference: component}. `files` may have a hash in it."""
        names = readelf("--dyn-syms")
        if "__asan_init" in names or "__tsan_init" in names:
            self.skipTest("sanitizers load libraries of their own")
        done = subprocess.run(["sh", ROOT / "deploy/sbom.sh", support.EXPORTER, "1.2.3", shutil.which("cc"), "8.9.10", ROOT],
                              env={**self.environment, **variables}, stdout=subprocess.PIPE, text=True, check=True)
        bill = json.loads(done.stdout)
        known = {part["bom-ref"]: part for part in bill["components"]}
        self.assertEqual(len(known), len(bill["components"]))
        for part in known.values():
            for hashed in part.get("hashes", []):
                file, = (path for path in (ROOT / "dashboards/web/vendor/uPlot.js", ROOT / "recommender/catalogue/built_in.pack", *files)
                         if hashlib.sha256(path.read_bytes()).hexdigest() == hashed["content"])
                self.assertIn(part["name"].lower(), file.name.lower())
        own = bill["metadata"]["component"]["bom-ref"]
        self.assertEqual({row["ref"] for row in bill["dependencies"]} - {own},
                         {ref for ref, part in known.items() if part["purl"].startswith("pkg:deb/")})
        for row in bill["dependencies"]:
            self.assertLessEqual(set(row["dependsOn"]), set(known), row["ref"])
        return bill, known

    @staticmethod
    def packages(known):
        return {(part["name"], part["version"]) for part in known.values() if part["purl"].startswith("pkg:deb/")}

    def test_every_library_and_what_is_built_in_stands_in_it(self):
        _, known = self.bill(())
        self.assertEqual(self.packages(known), self.loaded())
        curl = known["pkg:generic/curl@8.9.10"]
        self.assertEqual((curl["name"], curl["version"], curl["scope"]), ("libcurl", "8.9.10", "optional"))

    def test_that_of_the_image_has_what_is_shipped_beside_the_program(self):
        """Each part is a package of Debian, by which its known faults can be found. The version of the headers alone
        does not show which faults are fixed."""
        bundle = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        if not bundle.exists():
            self.skipTest("no certificates are installed here")
        # It needs a library that the program does not need, and fewer than Debian's libcurl, whose forty libraries
        # would take long.
        library = str(self.folder / "libcurl.so.4")
        subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null", "-Wl,--no-as-needed", "-lgcc_s"], check=True)
        bill, known = self.bill((bundle,), LIBCURL=library, LIBCURL_SOURCE="1:7.88.1-10+deb12u12", CERTIFICATES=str(bundle))
        certificates = tuple(output("dpkg-query", "-W", "-f=${Package} ${Version}", "ca-certificates").split())
        self.assertEqual(self.packages(known), {*self.loaded(), *self.loaded(library), certificates, ("libcurl", "1:7.88.1-10+deb12u12")})
        self.assertFalse([ref for ref in known if ref.startswith("pkg:generic/curl")])
        shipped = [part for part in known.values() if part["name"] in ("libcurl", "ca-certificates")]
        self.assertEqual([part["scope"] for part in shipped], ["required", "required"])
        refs = [part["purl"].partition("&")[0] for part in shipped]
        system = re.search(r"^ID=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]
        self.assertEqual(refs, [f"pkg:deb/{system}/curl@1%3A7.88.1-10%2Bdeb12u12?arch=source",
                                f"pkg:deb/{system}/ca-certificates@{certificates[1].replace('+', '%2B')}?arch=all"])
        self.assertIn("hashes", shipped[1])
        own = next(row for row in bill["dependencies"] if row["ref"] == bill["metadata"]["component"]["bom-ref"])
        self.assertLessEqual({part["bom-ref"] for part in shipped}, set(own["dependsOn"]))

    def test_the_image_names_what_it_ships(self):
        text = (ROOT / "deploy/Dockerfile").read_text()
        self.assertIn("apt-get source -q curl; cd curl-*/; \\\n    dpkg-parsechangelog -S Version >/curl/version;", text)
        variables = dict(re.findall(r"\b(LIBCURL|LIBCURL_SOURCE|CERTIFICATES)=(\S+)", text))
        self.assertEqual(variables["LIBCURL_SOURCE"], "$(cat")
        # The copied parts are those that the bill lists.
        self.assertIn(f'--strip-unneeded -o "/usr/lib/$target/libcurl.so.4" {variables["LIBCURL"]}', text)
        self.assertIn(f'cp {variables["CERTIFICATES"]} /image', text)


def with_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Cores(support.Case):
    """The core of a fault. Its place depends on the machine (core_pattern). wait(2) says whether a core was made."""

    def setUp(self):
        super().setUp()
        if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
            self.skipTest("no core dumps are allowed here")
        if "__asan_init" in readelf("--dyn-syms"):
            self.skipTest("LeakSanitizer reads the program's memory, so such a build stays readable")
        self.token = self.folder / "token"
        self.token.write_text("token-81fd30")
        self.token.chmod(0o600)

    def dumped(self, process):
        """Returns whether a fault made a core. Other signals that make a core are sent by the job."""
        process.killed = True
        process.send(signal.SIGSEGV)
        _, status = os.waitpid(process.pid, 0)
        process.process.returncode = -signal.SIGSEGV
        if process.process.stdin:
            process.process.stdin.close()
        process.wait()
        self.assertEqual(os.WTERMSIG(status), signal.SIGSEGV)
        for path in self.folder.glob("core*"):
            self.assertNotIn(b"token-81fd30", path.read_bytes() if os.WCOREDUMP(status) else b"", path)
            path.unlink()
        return os.WCOREDUMP(status)

    def program(self, *command):
        return self.start_program(command, cwd=self.folder, preexec_fn=with_cores, stdout=subprocess.DEVNULL)

    def test_a_server_leaves_none(self):
        if not self.dumped(self.program("sleep", "600")):
            self.skipTest("this machine makes no cores")
        server = self.program(support.EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--history.path=:memory:",
                              "--no-jobs.recognise", f"--web.changes-token-file={self.token}")
        server.wait_address()
        self.assertEqual(server.get("/runs", "POST", "{}", Authorization="Bearer token-81fd30").status, 415)
        self.assertFalse(self.dumped(server))

    def test_a_run_that_was_given_a_secret_leaves_none_and_its_job_may(self):
        if not self.dumped(self.program("sleep", "600")):
            self.skipTest("this machine makes no cores")
        web = self.folder / "web.yml"
        web.write_text("rate_limit: {}  # token-81fd30\n")
        for number, (flags, dumps) in enumerate((
                ((f"--forward.token-file={self.token}", "--forward.url=http://127.0.0.1:9"), False),
                ((f"--web.config.file={web}", "--web.listen-address=127.0.0.1:0"), False),
                ((), True))):
            with self.subTest(flags=flags):
                self.history = str(self.folder / f"history{number}.db")
                job = support.python_job("import os,sys; print(open('/proc/self/status').read(), flush=True); os.read(0, 1)")
                run = self.start_program([support.EXPORTER, *self.wrapper_arguments(job, flags=(*flags, "--forward.timeout=0s"))],
                                         cwd=self.folder, preexec_fn=with_cores, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self.assertIn(b"Name", run.process.stdout.readline())
                child = support.children_of(run.pid)[0][0]
                # The run is recorded after the secrets were hidden.
                support.wait_until(lambda: pathlib.Path(self.history).exists() and self.runs(), "the record of the run")
                self.assertEqual(pathlib.Path(f"/proc/{child}").stat().st_uid, os.geteuid())
                self.assertEqual(self.dumped(run), dumps)


class Secrets(support.Case):
    def test_what_jobs_were_started_with_is_told_to_nobody(self):
        argument, variable, token = "argument-7d1f0c", "variable-91be3a", "token-5c02d8"
        file = self.folder / "token"
        file.write_text(token)
        file.chmod(0o600)
        server = self.serve(f"--web.changes-token-file={file}", "--log.level=debug", "--jobs.recognise")
        job = self.start_run(support.python_job("input()", argument), flags=("--log.level=debug",),
                             env={**self.environment, "PASSWORD": variable}, stdin=subprocess.PIPE)
        support.wait_until(lambda: '"job"' in server.get("/jobs").text, "the run at the server")
        support.wait_until(lambda: server.get("/-/ready").status == 200, "the first sample")
        told = {path: server.get(path).text for path in ROUTES}
        told["refused"] = server.get("/runs", "POST", "{}", Content_Type="application/json",
                                     Authorization="Bearer wrong-" + token[:4]).text
        # Only root may read its memory. A core dump would contain the same memory.
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
