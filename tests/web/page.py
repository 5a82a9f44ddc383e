"""Makes the histories, starts the exporters and a real job, and hands their addresses to page.mjs.

Usage: page.py SCREENSHOT-FOLDER     started by run.sh
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from history import History, hostile_name  # noqa: E402
from support import EXPORTER, Process, clean_environment, python_job  # noqa: E402

# Grows until it is told to end, so that its page has something to follow.
LIVE_JOB = """
import os, sys, time
kept = []
while not os.path.exists(sys.argv[1]) and len(kept) < 1000:
    kept.append(bytearray(1 << 20))
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        sum(range(1000))
        time.sleep(0.01)
"""


class World:
    """Exporters in the background, each with a history of its own, which all end with it."""

    def __init__(self, folder, stack):
        self.folder, self.stack = pathlib.Path(folder), stack
        self.environment = clean_environment(HOME=str(folder))

    def path(self, name):
        return str(self.folder / f"{name}.db")

    def run(self, name, job_name, command):
        subprocess.run([EXPORTER, "run", f"--job-name={job_name}", f"--history.path={self.path(name)}", "--quiet", "--",
                        *command], check=False, env=self.environment, stdin=subprocess.DEVNULL)

    def start(self, *arguments):
        process = Process([EXPORTER, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)
        self.stack.callback(process.stop)
        return process

    def serve(self, name):
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.path(name)}",
                            "--history.retention=3650d", "--no-jobs.recognise")
        host, port = server.wait_address()
        return server, f"http://{host}:{port}/"


def main():
    if not EXPORTER:
        sys.exit("RIGHTSIZE_EXPORTER is to name the program")
    with tempfile.TemporaryDirectory(prefix="rightsize-web-") as folder, contextlib.ExitStack() as stack:
        world = World(folder, stack)
        now = time.time()
        # Real runs make the file, its schema and its columns.
        world.run("many", "demo/short", ["sleep", "1.5"])
        world.run("many", "demo/fails", ["sh", "-c", "sleep 1.2; exit 3"])
        history = History(world.path("many"))
        history.many_jobs(1000, now)
        told = {
            "screenshots": sys.argv[1],
            "story": history.story("train/segments", now),
            "day": history.phased("day/long", now - 90000, 86400, 1),
            "hostile": history.phased(hostile_name(), now - 9000, 600, 1, "failed"),
            "hostileName": hostile_name(),
            "mixed": "load/customers",
            "steady": "load/steady",
            "endLive": str(world.folder / "end"),
        }
        history.mixed(told["mixed"], now)
        for i in range(20):
            history.run(told["steady"], now - (20 - i) * 3600, 600, 2e9 + i % 3 * 1e7, 1.5)
        history.close()
        shutil.copy(world.path("many"), world.path("dying"))  # a history has one server at a time
        _, told["empty"] = world.serve("empty")
        _, told["many"] = world.serve("many")
        dying, told["dying"] = world.serve("dying")
        told["dyingPid"] = dying.pid
        for name in ("story", "hostile"):
            told[name + "Report"] = str(world.folder / f"{name}.html")
            subprocess.run([EXPORTER, "report", f"--run={told[name]}", f"--history.path={world.path('many')}", "-o",
                            told[name + "Report"]], check=True, env=world.environment)
        world.start("run", "--job-name=live/grows", f"--history.path={world.path('many')}", "--quiet", "--",
                    *python_job(LIVE_JOB, told["endLive"]))
        result = subprocess.run(["node", str(HERE / "page.mjs")], input=json.dumps(told), text=True, check=False,
                                env={**os.environ})
        return result.returncode


if __name__ == "__main__":
    sys.exit(main())
