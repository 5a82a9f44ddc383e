"""A flow of the real Metaflow, whose steps a server finds by itself. Run by name: it installs Metaflow from PyPI.

Usage: RIGHTSIZE_EXPORTER=PROGRAM with_metaflow.py [FOLDER]     FOLDER keeps the virtual environment for the next time
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import uuid
import venv

from support import EXPORTER, Case, main, wait_until

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


# A step whose command runs under the wrapper. Its report becomes the step's card, however the command ends. As in
# deploy/manual/using.md.
CARDS = """
import pathlib, subprocess
from metaflow import FlowSpec, card, catch, current, step

class CardFlow(FlowSpec):
    @catch(var="failure")
    @card(type="html")
    @step
    def start(self):
        page = pathlib.Path(f"{current.task_id}.html")
        try:
            subprocess.run(["rightsize-exporter", "run", f"--job-name={current.flow_name}/{current.step_name}",
                            f"--report={page}", "--quiet", "--", "./train.sh"], check=True)
        finally:
            self.html = page.read_text()
        self.next(self.end)

    @step
    def end(self):
        if self.failure:
            raise RuntimeError(self.failure)

if __name__ == "__main__":
    CardFlow()
"""


def python_of_metaflow():
    python = VENV / "bin" / "python"
    if not (VENV / "installed").exists():
        venv.create(VENV, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "metaflow", "metaflow-card-html"], check=True)
        (VENV / "installed").touch()
    return python


class Cards(Case):
    def test_a_run_s_page_is_the_card_of_its_step_failed_ones_too(self):
        python = python_of_metaflow()
        (self.folder / "cards.py").write_text(CARDS)
        environment = {**self.environment, "USERNAME": "nobody", "METAFLOW_HOME": str(self.folder),
                       "RIGHTSIZE_HISTORY_PATH": self.history,
                       "PATH": f"{pathlib.Path(EXPORTER).parent}:{VENV}/bin:{os.environ['PATH']}"}
        for outcome, script in (("succeeded", "sleep 2"), ("failed", "sleep 2; exit 3")):
            with self.subTest(outcome=outcome):
                job = self.folder / "train.sh"
                job.write_text(f"#!/bin/sh\n{script}\n")
                job.chmod(0o755)

                def flow(*words):
                    return subprocess.run([python, "cards.py", *words], cwd=self.folder, env=environment, check=False,
                                          capture_output=True, text=True)
                ended = flow("run", "--run-id-file=id")
                self.assertEqual(ended.returncode == 0, outcome == "succeeded", ended.stderr)
                run = self.runs("CardFlow/start")[0]
                self.assertEqual(run["outcome"], outcome)
                got = flow("card", "get", f"{(self.folder / 'id').read_text()}/start", "card.html")
                self.assertEqual(got.returncode, 0, got.stderr)
                card = (self.folder / "card.html").read_text()
                print(outcome, run["run_id"], len(card), "bytes")
                self.assertTrue(f'"{run["run_id"]}"' in card and "uPlot" in card, card[:200])


class Metaflow(Case):
    def test_steps_of_a_flow_are_jobs_and_a_retry_is_an_attempt(self):
        python = python_of_metaflow()
        name = "Train" + uuid.uuid4().hex[:8].translate(str.maketrans("0123456789", "ghijklmnop"))
        flow = self.folder / "train.py"
        flow.write_text(FLOW.replace("TrainFlow", name))
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
