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

# Grows until it is told to end, so that its page has new data.
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


# A job of 16 minutes on an m5.xlarge: cheaper servers, some with a condition, one in euro by the hour, two prices in doubt.
PRICED = "etl/prices"
DEAR = {"vendor": "aws", "instance_type": "m5.xlarge", "region": "us-east-1", "allocation": "ondemand"}
BEST = {"vendor": "gcp", "instance_type": "e2-standard-2", "region": "us-central1", "allocation": "ondemand"}
VENDORS = {"aws": "Amazon Web Services", "gcp": "Google Cloud Platform", "hcloud": "Hetzner Cloud", "ovh": None}
REGIONS = {"us-east-1": ("us-east-1", "US East (N. Virginia)", "US"), "us-central1": ("1000", "Iowa", "US"), "fsn1": ("2", "Falkenstein", "DE")}


def offer(vendor, server, vcpus, score1, region, price, allocation="ondemand", architecture="x86_64", cpu="Dedicated", currency="USD"):
    """Returns a row of a table of servers, in the Keeper's format."""
    region_id, name, country = REGIONS.get(region, ("", "", None))
    return {"vendor_id": vendor, "server_id": server, "cpu_architecture": architecture, "cpu_allocation": cpu, "vcpus": vcpus,
            "memory_amount": 4096 * vcpus, "score": score1 * vcpus, "score1": score1, "region_id": region_id or None, "price": price,
            "allocation": allocation, "currency": currency, "vendor": {"vendor_id": vendor, "name": VENDORS[vendor]},
            "region": {"region_id": region_id, "api_reference": region, "display_name": name, "country_id": country} if region else None}


PRICES = [
    offer("aws", "m5.xlarge", 4, 1000, "us-east-1", 0.192), offer("aws", "m5.xlarge", 4, 1000, "us-east-1", 0.0768, "spot"),
    offer("aws", "m5.large", 2, 1000, "us-east-1", 0.096), offer("aws", "m5.large", 2, 1000, "us-east-1", 0.0384, "spot"),
    offer("aws", "c7g.large", 2, 1300, "us-east-1", 0.0725, architecture="arm64"),
    offer("aws", "t3.medium", 2, 950, "us-east-1", 0.0416, cpu="Burstable"), offer("aws", "m5.4xlarge", 16, 1000, "us-east-1", 0.768),
    offer("gcp", "e2-standard-2", 2, 750, "us-central1", 0.067), offer("hcloud", "ccx13", 2, 1200, "fsn1", 0.0224, currency="EUR"),
    offer("ovh", "b3-8", 2, 1100, None, 0.0508, "any"),
]


class World:
    """Exporters in the background, each with its own history. They all end with the test."""

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

    def serve(self, name, *flags):
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.path(name)}",
                            "--history.retention=3650d", "--no-jobs.recognise", *flags)
        host, port = server.wait_address()
        return server, f"http://{host}:{port}/"


def priced(world, told, now):
    """Jobs with known costs: one on a server that is too large and expensive, and one on the best server."""
    table = world.folder / "prices.json"
    table.write_text(json.dumps(PRICES), encoding="ascii")
    world.run("prices", "demo/short", ["true"])
    history = History(world.path("prices"))
    for job, server in ((PRICED, DEAR), (PRICED + "/best", BEST)):
        for i in range(20):
            history.run(job, now - (20 - i) * 7200, 960 + i % 3 * 30, 2e9 + i % 3 * 1e7, 1.5, architecture="x86_64", **server)
    history.close()
    told.update(priced=PRICED, pricedReport=str(world.folder / "prices.html"))
    flags = [f"--catalogue.path={table}", "--server.vendor=aws", "--server.type=m5.xlarge", "--server.region=us-east-1"]
    subprocess.run([EXPORTER, "report", f"--job-name={PRICED}", f"--history.path={world.path('prices')}", *flags, "-o",
                    told["pricedReport"]], check=True, env=world.environment)
    _, told["prices"] = world.serve("prices", *flags)


def spaces(world, told, now):
    """Two teams' jobs of one name, and one of nobody."""
    world.run("spaces", "demo/short", ["true"])
    history = History(world.path("spaces"))
    for place, memory in (("", 1e9), ("\x1fetl", 2e9), ("\x1fml\x1feu & us", 4e9)):
        for i in range(8):
            history.run("load" + place, now - (9 - i) * 7200, 600, memory, 1.5)
    history.close()
    _, told["spaces"] = world.serve("spaces")


def main():
    if not EXPORTER:
        sys.exit("RIGHTSIZE_EXPORTER is to name the program")
    with tempfile.TemporaryDirectory(prefix="rightsize-web-") as folder, contextlib.ExitStack() as stack:
        world = World(folder, stack)
        now = time.time()
        # Real runs create the file, its schema and its columns.
        world.run("many", "demo/short", ["sleep", "1.5"])
        world.run("many", "demo/fails", ["sh", "-c", "sleep 1.2; exit 3"])
        history = History(world.path("many"))
        history.many_jobs(1000, now)
        history.many_jobs(9000, now - 86400, 2, 1000)
        told = {
            "screenshots": sys.argv[1],
            "story": history.story("train/segments", now),
            "storyBefore": history.phased("train/segments", now - 20000, 4000, 1),
            "day": history.phased("day/long", now - 90000, 86400, 1),
            "hostile": history.phased(hostile_name(), now - 9000, 600, 1, "failed"),
            "hostileName": hostile_name(),
            "mixed": "load/customers",
            "steady": "load/steady",
            "endLive": str(world.folder / "end"),
            "endStays": str(world.folder / "end-stays"),
        }
        history.mixed(told["mixed"], now)
        for i in range(20):
            history.run(told["steady"], now - (20 - i) * 3600, 600, 2e9 + i % 3 * 1e7, 1.5)
        history.close()
        priced(world, told, now)
        spaces(world, told, now)
        shutil.copy(world.path("many"), world.path("dying"))  # only one server at a time uses a history
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
        world.start("run", "--job-name=live/stays", f"--history.path={world.path('many')}", "--quiet", "--",
                    *python_job(LIVE_JOB, told["endStays"]))
        result = subprocess.run(["node", str(HERE / "page.mjs")], input=json.dumps(told), text=True, check=False,
                                env={**os.environ})
        return result.returncode


if __name__ == "__main__":
    sys.exit(main())
