"""Real jobs meet a memory limit. Tests the record of each run, and the next request."""
import pathlib
import sys

from support import PYTHON, Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/accuracy"))
import groups  # noqa: E402

MIB = 1 << 20
LIMIT = 150 * MIB
ADDRESSES_KIB = 300000

# Allocates more and more memory until an allocation is refused.
GROWS = """
import time
held = []
while True:
    held.append(bytearray(4 << 20))
    time.sleep(0.01)
"""
# A child needs more than the limit. Its parent exits with the given code.
CHILD_GROWS = """
import os, sys
if os.fork() == 0:
    held = bytearray(400 << 20)
    os._exit(0)
os.wait()
sys.exit(int(sys.argv[1]))
"""


class MetTheirLimit(Case):
    def test_of_addresses_without_a_kill(self):
        limited = f'ulimit -v {ADDRESSES_KIB}; exec {PYTHON} -S -E -c "$0"'
        for _ in range(2):
            done = self.run_job(["sh", "-c", limited, GROWS], flags=["--sample.interval=100ms"])
            self.assertEqual(done.returncode, 1, done.stderr)
        run = self.runs()[0]
        self.assertEqual((run["outcome"], run["address_limit_bytes"]), ("failed", ADDRESSES_KIB << 10))
        self.assertGreater(run["address_peak_bytes"], 0.7 * (ADDRESSES_KIB << 10))
        answer = self.query("recommend", "--job-name=job")
        self.assertGreater(answer["resources"]["memory"] * MIB, ADDRESSES_KIB << 10)
        self.assertEqual(answer["based_on"]["ended"]["at_memory_limit"], 2)

    def test_no_limit_is_absent(self):
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        self.assertNotIn("address_limit_bytes", self.only_run())

    def test_by_a_child_whatever_the_parent_says(self):
        for code in (0, 2):
            with groups.limited_memory(f"evidence-{code}", LIMIT) as folder:
                if isinstance(folder, str):
                    self.skipTest(folder)
                job = f"parent-{code}"
                self.run_job([PYTHON, "-S", "-E", "-c", CHILD_GROWS, str(code)], job,
                             preexec_fn=lambda folder=folder: (folder / "cgroup.procs").write_text("0"))
            run = self.only_run(job)
            self.assertEqual((run["exit_code"], run["memory_limit_bytes"]), (code, LIMIT))
            answer = self.query("recommend", f"--job-name={job}")
            self.assertGreater(answer["resources"]["memory"] * MIB, LIMIT)
            self.assertIn("killed_for_memory", [w["code"] for w in answer["warnings"]])


if __name__ == "__main__":
    main()
