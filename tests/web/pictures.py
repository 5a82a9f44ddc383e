"""Draws the pictures of README.md: the page of a job, the terminal and Grafana, light and dark, of a real job.

A server watches, Prometheus scrapes it, and the job runs a dozen times for some seconds each. pictures.mjs then looks at the page
and at what the terminal shows, tests/grafana/draw.mjs at Grafana's panels. The pictures are made small here: few colours, well
compressed.

Usage: pictures.py FOLDER     started by pictures.sh
"""
import collections
import contextlib
import html
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from monitoring import CONFIGURATION  # noqa: E402
from support import EXPORTER, Process, clean_environment, python_job, wait_until  # noqa: E402

JOB, RUNS = "etl/load", 12
BYTES_MOST = 41000
COLOURS_MOST = 64
SERVER = ("--server.vendor=aws", "--server.type=m7i.xlarge", "--server.region=us-east-1", "--server.allocation=ondemand")
# Reads rows, sorts them, and adds them up: a core and some 300 MiB, a little more or less with each run.
LOAD = python_job("""
import random, sys, time
random.seed(int(sys.argv[1]))
rows = []
for part in range(9):
    rows += [(random.random(), "customer-%d" % random.randrange(1000)) for _ in range(125000 + random.randrange(8000))]
    time.sleep(0.05)
rows.sort()
total = {}
for value, customer in rows:
    total[customer] = total.get(customer, 0) + value
""")
GRAFANA_SECONDS = 90
THEMES = ("light", "dark")


# ---- small PNG files ----

def pixels_of(png):
    """(width, height, rows of bytes R G B) of a PNG from Chromium: 8 bits, three or four channels, not interlaced."""
    data, at, parts = png, 8, {}
    idat = b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            idat += data[at + 8:at + 8 + size]
        parts.setdefault(kind, data[at + 8:at + 8 + size])
        at += size + 12
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or colour not in (2, 6) or interlace:
        raise ValueError("not a PNG of Chromium")
    n = 3 if colour == 2 else 4
    raw, stride, before, rows = zlib.decompress(idat), width * n, bytes(width * n), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        unfilter(kind, line, before, n)
        rows.append(bytes(line) if n == 3 else bytes(v for i, v in enumerate(line) if i % 4 != 3))
        before = line
    return width, height, rows


def unfilter(kind, line, before, n):
    """Undoes the filter of a line: https://www.w3.org/TR/png-3/#9Filters."""
    for i in range(len(line) if kind else 0):
        a, b, c = (line[i - n] if i >= n else 0), before[i], (before[i - n] if i >= n else 0)
        if kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        else:
            near = {1: a, 2: b, 3: (a + b) // 2}[kind]
        line[i] = line[i] + near & 255


def nearest(palette):
    known = {c: i for i, c in enumerate(palette)}

    def index(colour):
        if colour not in known:
            known[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
        return known[colour]
    return index


def small_png(png):
    """The same picture in the colours that it has most of."""
    width, height, rows = pixels_of(png)
    lines = [[*zip(row[0::3], row[1::3], row[2::3])] for row in rows]
    found = collections.Counter(c for line in lines for c in line)
    # Rare colours are kept when they differ from all others, such as that of a thin line.
    palette = []
    for least in (1200, 300, 60, 0):
        for colour, _ in found.most_common():
            if len(palette) < COLOURS_MOST and all(sum((a - b) ** 2 for a, b in zip(p, colour)) > least for p in palette):
                palette.append(colour)
    index = nearest(palette)
    raw = b"".join(b"\0" + bytes(map(index, line)) for line in lines)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(map(bytes, palette))) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


# ---- the terminal ----

def on_terminal(arguments, environment):
    """Returns the output of a command on a terminal of 80 columns."""
    main, side = pty.openpty()
    subprocess.run(["stty", "cols", "80", "-onlcr"], stdin=side, check=True)
    process = subprocess.Popen(arguments, stdin=side, stdout=side, env={**environment, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(side)
    text = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while part := os.read(main, 65536):
            text += part
    os.close(main)
    if process.wait():
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return text.decode()


def as_html(text):
    """ANSI styles as elements: 1 bold, 2 dim, 31 red, 32 green, 33 yellow."""
    out, is_open = "", False
    for part in re.split("(\x1b\\[[0-9;]*m)", text):
        style = re.fullmatch("\x1b\\[([0-9;]*)m", part)
        if not style:
            out += html.escape(part)
            continue
        out += "</b>" if is_open else ""
        is_open = style[1] not in ("", "0")
        out += f'<b class="s{style[1].replace(";", " s")}">' if is_open else ""
    return out + ("</b>" if is_open else "")


# ---- the job, and who looks at it ----

class World:
    def __init__(self, folder, stack):
        self.folder, self.stack, self.ended = pathlib.Path(folder), stack, threading.Event()
        self.environment = clean_environment(HOME=str(folder), RIGHTSIZE_HISTORY_PATH=str(self.folder / "history.db"))

    def start(self, arguments):
        process = Process(arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=self.folder)
        self.stack.callback(process.stop)
        return process

    def watch(self):
        server = self.start([EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--sample.interval=1s", "--no-jobs.recognise", *SERVER])
        server.wait_address()
        file = self.folder / "prometheus.yml"
        rules = self.folder / "rules.yml"
        rules.write_text((ROOT / "dashboards/prometheus/rules.yml").read_text(encoding="utf-8"), encoding="utf-8")
        file.write_text(CONFIGURATION.format(host=server.host, port=server.port, rule_files=[str(rules)], alertmanagers=[]),
                        encoding="ascii")
        prometheus = self.start(["prometheus", f"--config.file={file}", f"--storage.tsdb.path={self.folder / 'tsdb'}",
                                 "--web.listen-address=127.0.0.1:0"])
        prometheus.wait_address('"Listening on"')
        wait_until(lambda: prometheus.said("ready to receive web requests"), "Prometheus to be ready")
        return server, prometheus

    def run(self, number):
        return self.start([EXPORTER, "run", f"--job-name={JOB}", "--request-cpu=4", "--request-memory=2Gi", "--sample.interval=250ms",
                        *SERVER, "--quiet", "--", *LOAD, str(number)])

    def run_on(self):
        """Runs the job again and again, so that Grafana shows an active run."""
        while not self.ended.is_set():
            self.run(int(time.time())).process.wait()


def keep(picture, folder):
    small = small_png(picture.read_bytes())
    (folder / picture.name).write_bytes(small)
    print(f"{picture.name}: {len(small)} bytes")
    if len(small) > BYTES_MOST:
        raise SystemExit(f"at most {BYTES_MOST} are wanted")


def main():
    pictures = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="rightsize-pictures-") as folder, contextlib.ExitStack() as stack:
        world = World(folder, stack)
        server, prometheus = world.watch()
        begun = time.time()
        for i in range(RUNS):
            if world.run(i).process.wait():
                raise SystemExit("the job failed")
        wait_until(lambda: time.time() - begun > GRAFANA_SECONDS, "enough to draw", 4 * GRAFANA_SECONDS)
        command = ["rightsize-exporter", "recommend", f"--job-name={JOB}"]
        shown = on_terminal([EXPORTER, *command[1:], *SERVER], world.environment)
        told = {"url": f"http://{server.host}:{server.port}/", "job": JOB, "folder": folder,
                "terminal": f'<b class="s2">$</b> {" ".join(command)}\n' + as_html(shown)}
        subprocess.run(["node", str(HERE / "pictures.mjs")], input=json.dumps(told), text=True, check=True)
        for what in ("job", "terminal"):
            for theme in THEMES:
                keep(world.folder / f"{what}-{theme}.png", pictures)
        active = threading.Thread(target=world.run_on)
        active.start()
        stack.callback(active.join)
        stack.callback(world.ended.set)
        wait_until(lambda: f'rightsize_job_active_runs{{job_name="{JOB}"}} 1' in server.get("/metrics").text, "an active run")
        shown = json.dumps({"instance": f"{server.host}:{server.port}", "job_name": JOB, "namespace": "", "cluster": ""})
        for theme in THEMES:
            subprocess.run(["node", "draw.mjs", folder, f"http://127.0.0.1:{prometheus.port}", shown, "{}", "",
                            str(ROOT / "dashboards/grafana/job.json")], check=True, cwd=ROOT / "build/grafana",
                           env={**os.environ, "THEME": theme, "LIVE_SECONDS": str(GRAFANA_SECONDS - 10), "HEIGHT": "500"})
            keep((world.folder / "job-live.png").rename(world.folder / f"grafana-{theme}.png"), pictures)


if __name__ == "__main__":
    main()
