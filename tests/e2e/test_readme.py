#!/usr/bin/python3
"""The program makes the tables of README.md and deploy/manual/. This test compares them; --update writes them.

A table stands between <!-- NAME --> and <!-- /NAME --> in one of these files, and is what "rightsize-exporter manual NAME"
prints.

The answer in README.md comes from one day and one machine, but has the main lines of any answer: this test makes an answer
and compares the lines. --answer=HISTORY writes it from a history with the job of deploy/quickstart.sh:

    deploy/quickstart.sh && tests/e2e/test_readme.py --answer=build/quickstart/history.db
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import support

ROOT = pathlib.Path(__file__).parents[2]
README = ROOT / "README.md"
README_BYTES_MAX = 12 * 1024
PICTURE_BYTES_MAX = 60 * 1024
ANSWER_LINES_MAX = 12
TRACK_LINES_MAX = 15
TRACKS = ("My script", "My Metaflow flow", "My Kubernetes cluster", "My Prometheus and Grafana")
JOB_NAME = "quickstart/words"
TABLES = ("metrics", "options", "quantities", "routes", "strategies", "formats", "warnings")
TEXT = re.compile(r"(?<=<!-- answer -->\n)(.*?```text\n)(.*?)(?=```\n<!-- /answer -->)", re.DOTALL)


def documents():
    """The text of each file, by its path."""
    paths = [README, *sorted((ROOT / "deploy/manual").glob("*.md"))]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def made_by_program(name):
    arguments = [os.environ["RIGHTSIZE_EXPORTER"], "manual", name]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def with_tables(texts):
    """Returns the same files with the current tables."""
    wanted = dict(texts)
    for name in TABLES:
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        places = [path for path, text in texts.items() if begin in text]
        if len(places) != 1 or texts[places[0]].count(begin) != 1 or texts[places[0]].count(end) != 1:
            raise SystemExit(f"{begin} and {end} must each be there once in README.md and deploy/manual/")
        block = f"{begin}\n{made_by_program(name)}{end}"
        wanted[places[0]] = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, block=block: block,
                                   wanted[places[0]], flags=re.DOTALL)
    return wanted


def answer_of_a_job(*flags):
    """Returns the program's answer about a job that ran once."""
    with tempfile.TemporaryDirectory() as folder:
        environment = support.clean_environment(RIGHTSIZE_HISTORY_PATH=f"{folder}/history.db", LC_ALL="C.UTF-8")

        def ask(*arguments):
            return subprocess.run([os.environ["RIGHTSIZE_EXPORTER"], *arguments], capture_output=True, text=True,
                                  check=True, env=environment)
        ask("run", "--job-name=job", "--", "true")
        return ask("recommend", "--job-name=job", *flags).stdout


def main_lines(text):
    """Returns what README.md shows of an answer: the request, the table, the cost, the server and the lines to paste."""
    headline, table, server, *others = text.split("\n\n")
    server = "\n".join(re.findall(r"(?m)^(?:Cost of a run|Best server|Server) .*$", server))
    return "\n\n".join([headline, table, server, next(p for p in others if p.startswith("For "))]) + "\n"


def labels_of(text):
    """Returns the words at the beginning of its lines that are the same for every job."""
    return set(re.findall(r"(?m)^(Request|CPU|Memory|Cost of a run|Best server|Server|For \w+:)", text))


def text_is_like(text):
    """Returns whether the answer on the first page has the lines of a current one."""
    answer = TEXT.search(text).group(2)
    shown, real = labels_of(answer), labels_of(main_lines(answer_of_a_job("--format=text")))
    lines = len(answer.splitlines())
    if lines > ANSWER_LINES_MAX:
        print(f"{README.name}, <!-- answer -->: it has {lines} lines; wanted are at most {ANSWER_LINES_MAX}")
    if shown != real:
        print(f"{README.name}, <!-- answer -->: it has the lines {sorted(shown)}, and the program prints {sorted(real)}")
    return shown == real and lines <= ANSWER_LINES_MAX


def section_of(text, heading):
    """Returns what stands below a heading of the first page."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def tracks_are_short(text):
    """Returns whether a reader sees each track at once."""
    fine = True
    for track in TRACKS:
        lines = len(section_of(text, track).splitlines())
        if not 1 < lines <= TRACK_LINES_MAX:
            print(f"{README.name}, {track}: it has {lines} lines; wanted are at most {TRACK_LINES_MAX}")
            fine = False
    return fine


def script_track_works(text):
    """Runs the commands of the first track as they are printed, but not the server, which does not end by itself. Returns
    whether they work and leave three runs."""
    lines = re.search(r"```sh\n(.*?)```", section_of(text, TRACKS[0]), re.DOTALL)[1].splitlines()
    commands = "\n".join(line for line in lines if "rightsize-exporter serve" not in line)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(os.environ["RIGHTSIZE_EXPORTER"]), f"{folder}/rightsize-exporter")
        environment = support.clean_environment(RIGHTSIZE_HISTORY_PATH=f"{folder}/history.db",
                                                PATH=f"{folder}:{os.environ['PATH']}")

        def shell(script):
            return subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=False, cwd=folder,
                                  env=environment)
        done = shell(commands)
        runs = shell("rightsize-exporter runs --job-name=etl/load --format=csv").stdout.splitlines()
    fine = done.returncode == 0 and "#SBATCH --mem=" in done.stdout and len(runs) == 4
    if not fine:
        print(f"{README.name}, {TRACKS[0]}: {commands}\nends with {done.returncode} and {len(runs) - 1} runs: {done.stderr}")
    return fine


# Collects all that kubectl would apply: a file, an overlay of kustomize with the folder it builds on, or the standard input.
FAKE_KUBECTL = """#!/bin/sh
case "$1 $2 $3" in
"apply -f -") cat ;;
"apply -f "*) cat "$3" ;;
"apply -k "*) cat "$3/kustomization.yaml" "$3/../cluster/kustomization.yaml" ;;
esac >>applied.yaml
"""


def cluster_gets_published_images(text):
    """Runs the commands of the page about Kubernetes that apply something, as they are printed. Returns whether each image of
    the exporter then has a registry in front of its name, since no registry has it otherwise."""
    blocks = [b for b in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "kubectl apply" in b]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "deploy/kubernetes", f"{folder}/deploy/kubernetes")
        kubectl = pathlib.Path(folder, "kubectl")
        kubectl.write_text(FAKE_KUBECTL, encoding="ascii")
        kubectl.chmod(0o755)
        environment = support.clean_environment(PATH=f"{folder}:{os.environ['PATH']}")
        for block in blocks:
            subprocess.run(["sh", "-ec", block], check=True, cwd=folder, env=environment)
        applied = pathlib.Path(folder, "applied.yaml").read_text(encoding="utf-8")
    images = re.findall(r"(?:image|newName): *([^\s,]*rightsize-exporter[^\s,]*)", applied)
    bare = [i for i in images if not i.startswith("registry.example.com/")]
    if bare or len(images) < len(blocks):
        print(f"kubernetes.md: its commands apply {images}; each image needs a registry")
    return not bare and len(images) >= len(blocks)


def links_lead_somewhere(texts):
    """Checks that each link to a file of the repository leads to a file, and each anchor to a heading."""
    fine = True
    for path, text in texts.items():
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            headings = re.findall(r"(?m)^#+ (.*)$", target.read_text(encoding="utf-8")) if anchor and target.exists() else ()
            anchors = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
            if not target.exists() or anchor and anchor not in anchors:
                print(f"{path.relative_to(ROOT)}: the link {link} leads nowhere")
                fine = False
    return fine


def pictures_are_there(text):
    """Returns whether each picture of the first page is a small file, light and dark. tests/web/pictures.sh draws them."""
    shown = re.findall(r'src(?:set)?="([^"]+)"', text)
    light, dark = ({n.replace(f"-{theme}.", ".") for n in shown if f"-{theme}." in n} for theme in ("light", "dark"))
    fine = bool(light) and light == dark and len(shown) == 2 * len(light)
    if not fine:
        print(f"{README.name}: each picture is wanted light and dark, and there are {shown}")
    for name in shown:
        size = (ROOT / name).stat().st_size if (ROOT / name).exists() else 0
        if not 0 < size <= PICTURE_BYTES_MAX:
            print(f"{README.name}: {name} has {size} bytes; wanted are 1 to {PICTURE_BYTES_MAX}")
            fine = False
    return fine


def write_answer(history):
    environment = support.clean_environment(RIGHTSIZE_HISTORY_PATH=history, LC_ALL="C.UTF-8")

    def ask(*flags):
        arguments = [os.environ["RIGHTSIZE_EXPORTER"], "recommend", f"--job-name={JOB_NAME}", *flags]
        return subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment).stdout
    README.write_text(TEXT.sub(lambda m: m.group(1) + main_lines(ask("--format=text")), README.read_text(encoding="utf-8")),
                      encoding="utf-8")


def main():
    for history in (a.removeprefix("--answer=") for a in sys.argv[1:] if a.startswith("--answer=")):
        write_answer(history)
        return 0
    now = documents()
    wanted = with_tables(now)
    if "--update" in sys.argv[1:]:
        for path, text in wanted.items():
            path.write_text(text, encoding="utf-8")
        return 0
    for path, text in now.items():
        sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), wanted[path].splitlines(True), path.name,
                                                   "what the program prints"))
    if now != wanted:
        print("write it with: RIGHTSIZE_EXPORTER=PROGRAM tests/e2e/test_readme.py --update")
    if README.stat().st_size > README_BYTES_MAX:
        print(f"{README.name} has {README.stat().st_size} bytes, and at most {README_BYTES_MAX} are wanted")
        return 1
    checks = [now == wanted, text_is_like(now[README]), tracks_are_short(now[README]), script_track_works(now[README]),
              cluster_gets_published_images(now[ROOT / "deploy/manual/kubernetes.md"]), links_lead_somewhere(now), pictures_are_there(now[README])]
    return int(not all(checks))


if __name__ == "__main__":
    sys.exit(main())
