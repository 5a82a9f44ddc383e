#!/usr/bin/python3
"""Compares the CPU time that a watcher tells of a job with the truth, for each kind of place, watcher, group and job.

Usage: matrix.py [--place=NAME]... [--watcher=NAME]... [--group=NAME]... [--job=NAME]... [--why]

The verdicts are in expected.py. A busy and a littering neighbour run beside each job. The truth is the kernel's: the
usage of a cpuacct group where the job is alone in it, else getrusage(2) of the job and the CPU clock of its child. Takes
root and control groups v1.
Environment: RIGHTSIZE_EXPORTER names the program.
"""
import argparse
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "accuracy"))
import expected as table  # noqa: E402
import groups  # noqa: E402

EXPORTER = os.environ.get("RIGHTSIZE_EXPORTER", "")
PYTHON = "/usr/bin/python3"
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
SHARE, SECONDS = 0.02, 0.02
# The job's own report lacks its start and its end.
PLAUSIBLE_SECONDS = 0.05
# Clocks of ended processes lack their exit. /proc has times in ticks of 10 ms.
SLACK = 0.01
WIDTH, WIDTH_SECONDS = 3, 0.1
DEADLINE = 60
REFUSALS = ("no_such_process", "not_followed")
TOO_UNCERTAIN = "too uncertain to size cores"
HIGH_DESCRIPTOR = 100
RELEASE = tuple(int(number) for number in os.uname().release.split(".")[:2])
numbers = itertools.count()

BUSY = "while True: pass"
LITTER = """
import os, time
while True:
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.002: pass
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.02)
"""


class Skip(Exception):
    """The reason why a place cannot be made here."""


def kill(process):
    process.kill()
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


@contextlib.contextmanager
def neighbours(group):
    """A busy and a littering neighbour, in a group or, for None, in the group of this program."""
    with contextlib.ExitStack() as stack:
        for code in (BUSY, LITTER):
            process = subprocess.Popen([PYTHON, "-S", "-E", "-c", code], preexec_fn=group and group.enter)
            stack.callback(kill, process)
        yield


# ---- places ----

class Place:
    """The command that enters a place, and the options that the program needs there."""

    flags = ()
    container = None  # the group that contains the place

    def __init__(self, base):
        self.base = base

    def prefix(self, _nobody, _descriptors):
        return []

    def close(self):
        """Removes the place."""


class Unshared(Place):
    command = ()

    def prefix(self, nobody, descriptors):
        return [*self.command]

    def __init__(self, base):
        super().__init__(base)
        tried = subprocess.run([*self.prefix(False, ()), "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            raise Skip(tried.stderr.strip())


class HidePid1(Unshared):
    command = ("unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=1 proc /proc && exec "$@"', "-")


class HidePid2(Unshared):
    command = ("unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "-")


class PidNamespace(Unshared):
    command = ("unshare", "-mpf", "--mount-proc")


class OuterProc(Unshared):
    command = ("unshare", "-pf")


class Nested(Unshared):
    command = PidNamespace.command * 2


class UserNamespace(Unshared):
    def prefix(self, nobody, descriptors):
        return [*(AS_NOBODY if nobody else ()), "unshare", "-Urpf", "--mount-proc"]


class HostPid(Unshared):
    """A container that shares only the PID namespace with the machine: its group is the root of what it sees."""

    command = ("unshare", "--cgroup", "--mount", "sh", "-c", groups.CONTAINED, "-")

    def __init__(self, base):
        super().__init__(base)
        self.container = make_group()

    def close(self):
        self.container.remove()


class Podman(Place):
    """A rootless container of a user who has a range of subordinate users."""

    def __init__(self, base):
        super().__init__(base)
        missing = [name for name in ("podman", "runc", "newuidmap") if not shutil.which(name)]
        if missing:
            raise Skip(f"not installed: {', '.join(missing)}")
        with contextlib.suppress(OSError):
            for line in pathlib.Path("/etc/subuid").read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(KeyError):
                    self.user = pwd.getpwnam(line.split(":")[0])
        if not hasattr(self, "user"):
            raise Skip("no user has a range in /etc/subuid")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-podman-"))
        self.root = self.home / "root"
        for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "run", str(base).lstrip("/")):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in ("bin", "lib", "lib64", "sbin"):
            if pathlib.Path(f"/{name}").is_symlink():
                (self.root / name).symlink_to(f"usr/{name}")
        for path in (self.home, *self.home.glob("**/*")):
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)
        tried = subprocess.run([*self.prefix(False, ()), "true"], capture_output=True, text=True, check=False,
                               timeout=DEADLINE)
        if tried.returncode:
            self.close()
            raise Skip(tried.stderr.strip().splitlines()[-1])

    def prefix(self, nobody, descriptors):
        # The first descriptor that is kept is 3.
        move = " ".join(f"{3 + i}>&{d}" for i, d in enumerate(descriptors))
        keep = [f"--preserve-fds={len(descriptors)}"] if descriptors else []
        return ["bash", "-c", f'exec {move} "$@"', "-", *self.podman(), "--cgroup-manager=cgroupfs",
                "--runtime=" + shutil.which("runc"), "run", "--rm", "--network=host", "--read-only", *keep,
                "--volume=/usr:/usr:ro", "--volume=/etc:/etc:ro", f"--volume={self.base}:{self.base}",
                "--rootfs", str(self.root)]

    def podman(self):
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups", "env",
                f"HOME={self.home}", f"XDG_RUNTIME_DIR={self.home}", "podman"]

    def close(self):
        # Ends the process that keeps the user namespace between two containers.
        subprocess.run([*self.podman(), "system", "migrate"], check=False, capture_output=True)
        shutil.rmtree(self.home, ignore_errors=True)


class ReducedProc(Place):
    def __init__(self, base):
        super().__init__(base)
        self.folder = base / "proc"
        self.folder.mkdir()
        self.process = subprocess.Popen([PYTHON, "-B", str(HERE / "reduced_proc.py"), str(self.folder)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        while not (self.folder / "stat").exists():
            if self.process.poll() is not None:
                raise Skip(self.process.stderr.read().strip().splitlines()[-1])
            time.sleep(0.02)
        self.flags = (f"--path.procfs={self.folder}",)

    def close(self):
        subprocess.run(["umount", str(self.folder)], check=False)
        kill(self.process)


MAKERS = dict(zip(table.PLACES, (Place, HidePid1, HidePid2, PidNamespace, OuterProc, UserNamespace, Nested, Podman, HostPid,
                                 ReducedProc), strict=True))


# ---- groups ----

class Group(groups.Group):
    """A group that is also in the hierarchy of pids, like the groups of containers. pids.current counts processes that
    cgroup.procs leaves out, because they are not in the reader's PID namespace."""

    def __init__(self, relative):
        super().__init__(groups.ROOT / "cpuacct" / relative, groups.ROOT / "cpu" / relative, 1)
        self.relative, self.pids_folder = relative, groups.ROOT / "pids" / relative
        for folder in self.folders:
            folder.mkdir()

    @property
    def folders(self):
        return [*super().folders, self.pids_folder]

    def below(self, name):
        return Group(f"{self.relative}/{name}")


def make_group():
    return Group(f"{groups.NAME}-{next(numbers)}")


@contextlib.contextmanager
def beside_neighbours(kind, container):
    """Returns the group that jobs enter; None = they stay. The neighbours are in it or around it."""
    group = None
    if kind != "root":
        group = container.below(f"job-{next(numbers)}") if container else make_group()
    try:
        with neighbours(group if kind == "shared" else container):
            yield group
    finally:
        if group:
            group.wait_until_empty()
            group.remove()


@contextlib.contextmanager
def descriptors_of(group):
    """Returns descriptors of cgroup.procs, opened with our rights. Their numbers collide with no other descriptor."""
    opened = []
    try:
        for folder in group.folders if group else ():
            fd = os.open(folder / "cgroup.procs", os.O_WRONLY)
            opened.append(fcntl.fcntl(fd, fcntl.F_DUPFD, HIGH_DESCRIPTOR))
            os.close(fd)
        yield opened
    finally:
        for fd in opened:
            os.close(fd)


# ---- one cell ----

class Told:
    """The program's report about a run, and the truth."""

    def __init__(self, truth, run, error):
        self.truth, self.run = truth, run or {}
        self.refusal = self.run.get("not_measured") or (error and error["message"])
        self.cpu = self.run.get("cpu_seconds")
        self.uncertain = TOO_UNCERTAIN in (self.run.get("cpu_doubt") or "")
        self.missed, self.foreign = (self.run.get(f"cpu_{what}_seconds") for what in ("missed", "foreign"))

    def verdict(self, wanted):
        """Returns one of the four verdicts, or the promise that is broken. An exact result by luck does not break a
        bound."""
        if self.cpu is None:
            return "refused" if self.refusal else "no numbers, no reason"
        wrong = abs(self.cpu - self.truth)
        allowed = max(SHARE * self.truth, SECONDS)
        if self.missed is None or self.foreign is None:
            return "unbounded"
        widest = WIDTH * wrong + WIDTH_SECONDS
        wide = self.missed > widest or self.foreign > widest
        certain = not wide and not self.uncertain
        if wrong <= allowed and ((wanted == "exact" and certain) or self.missed + self.foreign <= allowed):
            return "exact"
        if self.cpu + self.missed + SLACK < self.truth:
            return "missed more than it says"
        if self.cpu - self.foreign - SLACK > self.truth:
            return "more foreign than it says"
        if self.uncertain and (wide or wanted == "uncertain"):
            return "uncertain"
        return "wide" if wide else "bounded"


def recorded(history):
    answer = subprocess.run([EXPORTER, "runs", "--job-name=job", f"--history.path={history}"], check=False,
                            capture_output=True, timeout=DEADLINE)
    runs = json.loads(answer.stdout)["runs"] if answer.returncode == 0 else []
    return runs[0] if runs else None


def run_cell(place, cell, group):
    _, watcher, kind, job = cell
    what, _, user = watcher.partition(" ")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cell-", dir=place.base))
    folder.chmod(0o777)
    nobody = bool(user)
    with descriptors_of(group) as opened:
        moved = isinstance(place, Podman)
        spec = {"watcher": what, "exporter": str(place.base / "exporter"), "job": job,
                "group": [3 + i for i in range(len(opened))] if moved else opened,
                # In a user namespace of nobody, the user nobody is 0.
                "user": NOBODY if nobody and not isinstance(place, UserNamespace) else None,
                "flags": [f"--history.path={folder}/history.db", *place.flags]}
        before = group.usage() if group else 0
        done = subprocess.run([*place.prefix(nobody, opened), PYTHON, "-B", str(place.base / "inside.py"), json.dumps(spec)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE, check=False,
                              pass_fds=opened, preexec_fn=place.container and place.container.enter)
    if done.returncode:
        raise AssertionError(f"{cell}: {done.stderr}{done.stdout}")
    answer = json.loads(done.stdout)
    truth = answer["seconds"]
    if kind == "own" and what == "serve":
        own = group.usage() - before
        if abs(own - truth) > PLAUSIBLE_SECONDS:
            raise AssertionError(f"{cell}: the job used {truth} s by its own word, its group {own} s")
        truth = own
    if answer["code"]:
        raise AssertionError(f"{cell}: the program ended with {answer['code']}: {done.stderr}")
    error = answer.get("error")
    if error and error["code"] not in REFUSALS:
        raise AssertionError(f"{cell}: {error}")
    return Told(truth, recorded(folder / "history.db"), error)


# ---- the table ----

def number(value):
    return "-" if value is None else f"{value:.3f}"


HEAD = (f"{'place':<17} {'watcher':<14} {'group':<7} {'job':<9} {'truth':>6} {'got':>6} {'missed':>7} {'foreign':>7}  "
        f"{'source':<10} {'expected':<9} verdict")


def as_expected(wanted, got):
    """A bound is narrow if the machine happens to be idle, or if the last look came in time."""
    return got == wanted or got in {"uncertain": ("bounded", "exact"), "bounded": ("exact",)}.get(wanted, ())


def line_of(cell, told, wanted, got):
    place, watcher, group, job = cell
    mark = "" if as_expected(wanted, got) else "  MISMATCH"
    return (f"{place:<17} {watcher:<14} {group:<7} {job:<9} {told.truth:>6.3f} {number(told.cpu):>6} "
            f"{number(told.missed):>7} {number(told.foreign):>7}  {told.run.get('cpu_source') or '-':<10} {wanted:<9} "
            f"{got}{mark}")


def perf_is_offered():
    with contextlib.suppress(OSError, ValueError):
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii")) <= 2
    return False


@contextlib.contextmanager
def place_for(name):
    """Makes a place, in a folder that all users may enter, with the program and the scripts that run inside."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-visibility-"))
    try:
        base.chmod(0o755)
        shutil.copy(EXPORTER, base / "exporter")
        shutil.copy(HERE / "inside.py", base)
        place = MAKERS[name](base)
        try:
            yield place
        finally:
            place.close()
    finally:
        shutil.rmtree(base, ignore_errors=True)


def skip_reason(cell):
    if cell[1] == "wrapper 65534" and cell[3] == "unwaited" and not perf_is_offered():
        return "perf counters are for root only here"
    if table.expected(cell)[0] == "bounded" and RELEASE < (6, 6):
        return "process events are for root only before Linux 6.6"
    return None


def results(cells):
    """Runs the cells of one place. Yields (cell, Told, expected verdict, reason, verdict), or (cell, reason to skip
    it)."""
    with place_for(cells[0][0]) as place:
        # Each job gets a new group of its own. Otherwise it would be unknown whether earlier use of the group is the
        # job's.
        for (kind, *_), some in itertools.groupby(cells, key=lambda cell: (cell[2], *cell) if cell[2] == "own" else (cell[2],)):
            with beside_neighbours(kind, place.container) as group:
                for cell in some:
                    reason = skip_reason(cell)
                    if reason:
                        yield cell, reason
                        continue
                    told = run_cell(place, cell, group)
                    wanted, why = table.expected(cell)
                    yield cell, told, wanted, why, told.verdict(wanted)


def table_of(cells, explain):
    """Prints the cells of one place. Returns the cells with an unexpected verdict."""
    failed = []
    try:
        for cell, told, *verdicts in results(cells):
            if not verdicts:
                print(f"{', '.join(cell)}: skipped: {told}", flush=True)
                continue
            wanted, why, got = verdicts
            print(line_of(cell, told, wanted, got), flush=True)
            if explain:
                print(f"    {why}" + (f"\n    {told.refusal}" if told.refusal else ""), flush=True)
            if not as_expected(wanted, got):
                failed.append((cell, wanted, got))
    except Skip as why:
        print(f"{cells[0][0]:<17} skipped: {why}", flush=True)
    return failed


def unmet_need():
    hierarchies = [groups.ROOT / name / "tasks" for name in ("cpu", "cpuacct", "pids")]
    if os.geteuid() != 0 or not all(path.exists() for path in hierarchies):
        return "takes root and the control groups v1 cpu, cpuacct and pids"
    return None


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("place", "watcher", "group", "job"):
        parser.add_argument(f"--{name}", action="append", choices=getattr(table, f"{name.upper()}S"))
    parser.add_argument("--why", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    if unmet_need():
        print(f"skipped: {unmet_need()}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = []
    print(HEAD)
    for place in arguments.place or table.PLACES:
        failed += table_of([(place, watcher, group, job) for group in arguments.group or table.GROUPS
                            for watcher in arguments.watcher or table.WATCHERS
                            for job in arguments.job or table.JOBS], arguments.why)
    print(f"\n{len(failed)} cells with another verdict" if failed else "\nall verdicts as expected")
    for cell, wanted, got in failed:
        print(f"    {', '.join(cell)}: {wanted} expected, {got}")
    return int(bool(failed))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
