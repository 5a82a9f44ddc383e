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


def history_path() -> str:
    """Returns the path of the history file that the program uses by default for this user."""
    given = os.environ.get("RIGHTSIZE_HISTORY_PATH")
    if given:
        return os.path.abspath(given)
    if os.environ.get("STATE_DIRECTORY"):
        return os.path.join(os.environ["STATE_DIRECTORY"], "history.db")
    if os.geteuid() == 0:
        return f"/var/lib/{NAME}/history.db"
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, NAME, "history.db")
