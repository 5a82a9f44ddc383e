"""Finds the program rightsize-exporter and the history file."""
import os
from typing import Iterator, Optional

NAME = "rightsize-exporter"


class NotInstalled(RuntimeError):
    """The program rightsize-exporter is not on this machine."""


def _candidates() -> Iterator[Optional[str]]:
    """Yields the places of the program. Each is looked up only if those before have none: a job waits for each import."""
    yield os.environ.get("RIGHTSIZE_EXPORTER")
    import sysconfig
    yield os.path.join(sysconfig.get_path("scripts"), NAME)
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", NAME)
    yield os.path.join(sysconfig.get_path("scripts", f"{os.name}_user"), NAME)
    import shutil
    yield shutil.which(NAME)


def path() -> str:
    """Returns the path of the program: RIGHTSIZE_EXPORTER, else that of the wheel, else the first one on PATH.

    Raises NotInstalled where there is none.
    """
    for candidate in _candidates():
        if candidate and os.path.isfile(candidate):
            if not os.access(candidate, os.X_OK):
                os.chmod(candidate, 0o755)  # zipfile drops the mode of a file
            return candidate
    raise NotInstalled(f"{NAME} is not on PATH; pip install {NAME} brings it, or RIGHTSIZE_EXPORTER names it")


class NoHistory(OSError):
    """The history file of this user has no place, or cannot be used."""


def history_path() -> str:
    """Returns the path of the history file that the program uses by default for this user.

    Raises NoHistory where the program has no default either. A path that is not absolute counts as none, as for the program.
    """
    given = os.environ.get("RIGHTSIZE_HISTORY_PATH")
    if given:
        return os.path.abspath(given)
    systemd, xdg, home = (os.environ.get(name, "") for name in ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"))
    if systemd.startswith("/"):
        return os.path.join(systemd.partition(":")[0], "history.db")
    if os.geteuid() == 0:
        return f"/var/lib/{NAME}/history.db"
    for folder, below in ((xdg, ""), (home, ".local/state")):
        if folder.startswith("/"):
            return os.path.join(folder, below, NAME, "history.db")
    raise NoHistory("no place for the history: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set")
