"""A flow of the real Metaflow, whose steps are found by themselves. Run by name: it installs Metaflow from PyPI.

Usage: RIGHTSIZE_EXPORTER=PROGRAM with_metaflow.py [FOLDER]     FOLDER keeps the virtual environment for the next time
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import uuid
import venv

from support import Case, main, wait_until

VENV = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else tempfile.gettempdir() + "/rightsize-metaflow")
FLOW = """
import time
from metaflow import FlowSpec, retry, step

class TrainFlow(FlowSpec):
    @step
    def start(self):
        self.parts = [1, 2]
        self.next(self.fit, foreach="parts")

    @retry(times=1, minutes_between_retries=0)
    @step
    def fit(self):
        from metaflow import current
        end = time.process_time() + 1.5
        while time.process_time() < end:
            pass
        if self.input == 2 and current.retry_count == 0:
            raise RuntimeError("the first attempt fails")
        self.next(self.join)

    @step
    def join(self, inputs):
        time.sleep(1)
        self.next(self.end)

    @step
    def end(self):
        time.sleep(1)

if __name__ == "__main__":
    TrainFlow()
"""


class Metaflow(Case):
    def test_steps_of_a_flow_are_jobs_and_a_retry_is_an_attempt(self):
        python = VENV / "bin" / "python"
        if not python.exists():
            venv.create(VENV, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "metaflow"], check=True)
        name = "train" + uuid.uuid4().hex[:8].translate(str.maketrans("0123456789", "ghijklmnop"))
        flow = self.folder / f"{name}.py"
        flow.write_text(FLOW)
        self.serve("--jobs.recognise", interval="100ms")
        environment = {**self.environment, "USERNAME": "nobody", "METAFLOW_HOME": str(self.folder),
                       "PATH": f"{VENV}/bin:{os.environ['PATH']}"}
        subprocess.run([python, str(flow), "run"], check=True, cwd=self.folder, env=environment)

        def fits():
            runs = self.runs(f"{name}/fit")
            return runs if len(runs) == 3 and all(run["outcome"] != "running" for run in runs) else None
        runs = wait_until(fits, "three attempts at two tasks")
        self.assertEqual(sorted(run["attempt"] for run in runs), [1, 1, 2])
        self.assertEqual({run["system"] for run in runs}, {"metaflow"})
        self.assertEqual(len({run["system_run"] for run in runs}), 1)
        for run in runs:
            self.assertGreater(run["cpu_seconds"], 1.4)
        jobs = {job["job_name"] for job in self.query("jobs")["jobs"]}
        self.assertLessEqual({f"{name}/start", f"{name}/fit", f"{name}/join", f"{name}/end"}, jobs)
        for run in sorted(runs, key=lambda run: run["started_at"]):
            print(run["started_at"], run["outcome"], "attempt", run["attempt"], round(run["cpu_seconds"], 2), "CPU s",
                  run["memory_peak_bytes"] >> 20, "MiB")


if __name__ == "__main__":
    main()
