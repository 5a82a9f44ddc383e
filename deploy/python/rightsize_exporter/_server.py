"""Finds or starts the exporter that watches this process, and asks it or the history file.

All processes of a user share one exporter and one history on a machine. It listens on `attach.sock` beside the
history file and ends 5 seconds after the last run. It is no child of the job: the job's SIGKILL does not reach it, and
the exporter leaves itself out of every run.
"""
import json
import numbers
import os
import time
from typing import Any, Dict, List, Optional, Tuple

from . import _program
from ._http import TIMEOUT, Address, Refused, with_parameters

SOCKET = "attach.sock"
SOCKET_PATH_MOST = 107  # bytes that a Unix address has room for
LATEST = 10 ** 11  # seconds since 1970: no sample is so late
INTERVAL_MAX = 3600  # seconds between samples, as for --sample.interval
START_SECONDS = 5.0  # longest wait for a new exporter; then the job runs unwatched
JOB_SECONDS = 2.0  # longest wait of a job until its begin or end is taken; then it runs unwatched

# The command that gives the answer of a route when no server runs.
COMMANDS = {"/recommend": "recommend", "/stats": "stats", "/runs": "runs", "/jobs": "jobs", "/series": "series",
            "/series.csv": "csv", "/report": "report", "/servers": "servers", "/server": "server"}


class Exporter:
    """An exporter and its history.

    history: path of the file, None = the history of another machine; timeout: seconds that an answer may take.
    """

    def __init__(self, address: Address, history: Optional[str], timeout: float = TIMEOUT):
        self.address, self.history, self.timeout = address, history, timeout

    def _post(self, route: str, body: Dict[str, Any]) -> Dict[str, Any]:
        answer: Dict[str, Any] = json.loads(self.address.ask("POST", route, body, JOB_SECONDS))
        return answer

    def announce(self, body: Dict[str, Any]) -> Dict[str, Any]:
        """Announces a run (POST /jobs)."""
        return self._post("/jobs", body)

    def finish(self, run_id: str, body: Dict[str, Any]) -> Dict[str, Any]:
        """Ends a run (POST /runs/RUN_ID/finish)."""
        return self._post(f"/runs/{run_id}/finish", body)

    def get(self, route: str, **parameters: Optional[object]) -> bytes:
        """Answers from the server, or by the program from the history file where no server answers."""
        try:
            return self.address.ask("GET", with_parameters(route, parameters), timeout=self.timeout)
        except OSError:
            if self.history is None:
                raise
        return self._command(route, parameters)

    def _command(self, route: str, parameters: Dict[str, Optional[object]]) -> bytes:
        import subprocess
        words = [_program.path(), COMMANDS[route], f"--history.path={self.history}"]
        words += [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items() if value is not None]
        try:
            answer = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    check=False, timeout=self.timeout)
        except subprocess.TimeoutExpired as error:
            raise OSError(f"no answer within {self.timeout:g} s from {self.history}") from error
        if answer.returncode:
            raise Refused(404, "command", answer.stderr.decode("utf-8", "replace").strip())
        return answer.stdout

    def get_json(self, route: str, **parameters: Optional[object]) -> Any:
        """Like get(), read as JSON."""
        return json.loads(self.get(route, **parameters))


def _answers(address: Address) -> bool:
    try:
        address.request("GET", "/-/ready", timeout=1)
    except OSError:
        return False
    return True


def _socket_of(history: str) -> str:
    path = os.path.join(os.path.dirname(history), SOCKET)
    if len(os.fsencode(path)) <= SOCKET_PATH_MOST:
        return path
    import hashlib
    import tempfile
    folder = os.path.join(tempfile.gettempdir(), f"rightsize-{os.geteuid()}")
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.stat(folder).st_uid != os.geteuid():
        raise OSError(f"{folder} belongs to another user")
    return os.path.join(folder, hashlib.sha256(os.fsencode(history)).hexdigest()[:16] + ".sock")


# Starts an exporter. The process that made a folder for one run alone may ask for the run until its end, and then removes
# the folder. If it has ended before its exporter, as when it was killed, the folder is removed when the exporter, which
# may still have to send the run, has ended well.
_START = """log=$1 made=$2 owner=$3; shift 3
if [ "$made" ]; then { "$@" <&- >/dev/null 2>"$log" && ! kill -0 "$owner" && rm -rf "$made"; } >/dev/null & else "$@" <&- >/dev/null 2>"$log" & fi
echo $!"""


def _spawn(history: str, socket_path: str, flags: List[str], made: str) -> int:
    """Starts an exporter that is no child of this process, and returns its pid, or that of the shell that waits for it.

    A shell starts it and ends, so that a job that waits for all its children does not wait for the exporter. The new
    session keeps the signals of a terminal and of the job's process group from it.
    """
    import subprocess
    words = [_program.path(), "serve", "--web.listen-address=none", f"--web.unix-socket={socket_path}",
             f"--history.path={history}", "--no-jobs.recognise", "--exit-with-job", "--exit-with-job.wait=1m",
             "--log.level=warn", *flags]
    log = os.path.join(os.path.dirname(socket_path), "attach.log")
    shell = subprocess.run(["/bin/sh", "-c", _START, "sh", log, made, str(os.getpid()), *words],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
                           start_new_session=True, check=True)
    pid = int(shell.stdout)
    if made and any(flag.startswith("--forward.url=") for flag in flags):
        _made_folders[made] = (os.getpid(), pid)
    return pid


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except OSError:  # a /proc with hidepid does not show it
        return False


def _start(history: str, socket_path: str, flags: List[str], made: str = "") -> Exporter:
    """Starts an exporter and waits until one answers at the socket; another process may have started it first.

    NoHistory: the exporter cannot use the file.
    """
    _make_folder(os.path.dirname(history))
    address, until = Address(f"unix:{socket_path}"), time.monotonic() + START_SECONDS
    pid = _spawn(history, socket_path, flags, made)
    pause, respawned = 0.002, False
    while not _answers(address):
        if time.monotonic() > until:
            raise OSError(f"the exporter did not answer within {START_SECONDS:.0f} s at {socket_path}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.005)
        if _is_gone(pid):
            if _answers(address):
                break
            if respawned:
                raise _program.NoHistory(_last_line(os.path.join(os.path.dirname(socket_path), "attach.log")))
            # The exporter of an earlier run was just about to end, and had the history still.
            respawned = True
            time.sleep(0.3)
            pid = _spawn(history, socket_path, flags, made)
    return Exporter(address, history)


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        raise _program.NoHistory(error.errno, error.strerror, error.filename) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _program.NoHistory(f"{folder} cannot be written to")


def _last_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "the exporter ended at once"


def known(timeout: float = TIMEOUT) -> Exporter:
    """Like shared(), but starts none: where no server answers, questions go to the history file. NoHistory: it has no place."""
    url = os.environ.get("RIGHTSIZE_URL")
    if url and Address(url).is_here:
        return Exporter(Address(url), None, timeout)
    history = _program.history_path()
    return Exporter(Address(f"unix:{_socket_of(history)}"), history, timeout)


def shared() -> Exporter:
    """Returns the exporter of RIGHTSIZE_URL if it is on this machine, else this user's; starts one if need be.

    An exporter of another machine (RIGHTSIZE_URL) gets each run when it has ended, from the exporter of this machine.
    NoHistory: this user has no history that can be written.
    """
    exporter = known()
    if exporter.history is None or _answers(exporter.address):
        return exporter
    return _start(exporter.history, exporter.address.socket_path or "", _forward_flags())


def _forward_flags() -> List[str]:
    there = central()
    return [f"--forward.url={there.address.url}"] if there else []


def private(interval: float = 1.0, folder: Optional[str] = None) -> Exporter:
    """Starts an exporter for one run alone, with a history of its own. `interval`: seconds between samples; at least 0.1
    are used."""
    if not isinstance(interval, numbers.Real) or not 0 <= interval <= INTERVAL_MAX:
        raise ValueError(f"interval={interval!r}: accepted is a number of seconds from 0 to {INTERVAL_MAX}")
    forward, made = _forward_flags(), ""
    if folder is None:
        import tempfile
        folder = made = tempfile.mkdtemp(prefix="rightsize-")
        _made_folders[made] = (os.getpid(), 0)
    flags = [f"--sample.interval={max(0.1, interval):g}s", *forward]
    history = os.path.join(folder, "history.db")
    return _start(history, _socket_of(history), flags, made)


# The process that made each folder, and the pid to wait for, as its exporter needs the folder until it has sent the run.
_made_folders: Dict[str, Tuple[int, int]] = {}


def remove_private() -> None:
    """Removes the histories that this process made for one run alone. Exporters that still run go on without, but those
    that still send need them, and _START removes them."""
    for folder, (owner, sender) in _made_folders.items():
        if owner == os.getpid() and (not sender or _is_gone(sender)):
            import shutil
            shutil.rmtree(folder, ignore_errors=True)
    _made_folders.clear()


def run_of(exporter: Exporter, run_id: Optional[str]) -> Optional[Dict[str, Any]]:
    """The run with this id, as of GET /runs; None = the history has none. No sample is read."""
    try:
        run: Dict[str, Any] = exporter.get_json("/series", run=run_id, points=2, **{"from": LATEST})["run"]
    except Refused as refused:
        if refused.status != 404:
            raise
        return None
    return run


def central(timeout: float = TIMEOUT) -> Optional[Exporter]:
    """The exporter of another machine that RIGHTSIZE_URL names, which has the history of all machines, or None."""
    url = os.environ.get("RIGHTSIZE_URL")
    return Exporter(Address(url), None, timeout) if url and not Address(url).is_here else None
