#!/usr/bin/python3
"""deploy/packages.sh forbids daemons only while it installs, even if it is killed. The test has a fake apt-get, and
mounts its own folder over /usr/sbin."""
import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "deploy/packages.sh"
MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
APT_GET = """#!/bin/sh
[ "$1" = install ] || exit 0
/usr/sbin/policy-rc.d
echo "$?" >>"$POLICY_SAID"
[ -z "$KILLED" ] || kill -9 "$PPID"
exit "$APT_GET_CODE"
"""


def private_mounts():
    return subprocess.run([*MOUNTS, "true"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(private_mounts(), "nothing may be mounted here")
class Policy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.sbin, self.said = self.folder / "sbin", self.folder / "said"
        self.policy = self.sbin / "policy-rc.d"
        self.sbin.mkdir()
        (self.folder / "bin").mkdir()
        for name, text in (("apt-get", APT_GET), ("dpkg-query", "#!/bin/sh\nexit 1\n")):
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o755)

    def install(self, killed=False, code=0):
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "POLICY_SAID": str(self.said), "KILLED": "1" if killed else "",
                       "APT_GET_CODE": str(code)}
        done = subprocess.run([*MOUNTS, "sh", "-c", 'mount --bind "$0" /usr/sbin && exec "$@"', self.sbin, "bash", SCRIPT, "try"],
                              env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode == 0, not killed and not code, done.stderr)
        # During each installation, no daemon may be started.
        self.assertEqual(set(self.said.read_text().split()), {"101"})

    def files(self):
        return {path.name: path.read_text() for path in self.sbin.iterdir()}

    def test_what_was_there_before_comes_back_however_often_a_run_is_killed(self):
        for original, kills, code in itertools.product((None, "#!/bin/sh\nexit 104\n", "#!/bin/sh\nexit 101\n"), range(3), (0, 1)):
            with self.subTest(original=original, kills=kills, code=code):
                before = {} if original is None else {"policy-rc.d": original}
                for name, text in before.items():
                    (self.sbin / name).write_text(text)
                    (self.sbin / name).chmod(0o755)
                for _ in range(kills):
                    self.install(killed=True)
                self.install(code=code)
                self.assertEqual(self.files(), before)
                self.policy.unlink(missing_ok=True)

    def test_what_was_put_there_after_a_killed_run_stays(self):
        self.policy.write_text("#!/bin/sh\nexit 104\n")
        self.install(killed=True)
        self.policy.write_text("#!/bin/sh\nexit 0\n")
        self.install()
        self.assertEqual(self.files(), {"policy-rc.d": "#!/bin/sh\nexit 0\n"})


if __name__ == "__main__":
    unittest.main()
