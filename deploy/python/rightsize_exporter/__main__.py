"""python -m rightsize_exporter [--job-name=NAME] [-m MODULE | SCRIPT] [ARGUMENT...]: runs a script and records it as a run.

The script runs in this process, so it is watched from the start of the interpreter on, and nothing else changes for it.
A summary goes to the standard error at the end; RIGHTSIZE_QUIET=1 leaves it out.
"""
import os
import sys
from typing import List, Optional, Tuple

from .track import outcome_of
from .watch import Watch

USAGE = "usage: python -m rightsize_exporter [--job-name=NAME] [-m MODULE | SCRIPT] [ARGUMENT...]"


def _arguments(words: List[str]) -> Tuple[Optional[str], bool, List[str]]:
    """The name of the job, whether a module runs, and its name or the script with the arguments."""
    name = None
    while words and words[0].startswith("--job-name="):
        name = words.pop(0).partition("=")[2]
    is_module = words[:1] == ["-m"]
    rest = words[1:] if is_module else words
    if not rest or (rest[0].startswith("-") and not is_module):
        sys.exit(USAGE)
    return name, is_module, rest


def _summary(watch: Watch) -> None:
    try:
        advice = watch.recommendation()
    except (OSError, RuntimeError):
        advice = None
    if advice and os.environ.get("RIGHTSIZE_QUIET") != "1":
        print(f"rightsize-exporter: {watch.job_name}, run {watch.run_id}. Next run: {advice['summary']}", file=sys.stderr)


def main() -> None:
    """Runs the script or module as __main__; SystemExit and other exceptions end it as they would without this."""
    import runpy
    name, is_module, words = _arguments(sys.argv[1:])
    script = words[0] if is_module else os.path.splitext(os.path.basename(words[0]))[0]
    watch = Watch(name or script, from_now=False).begin()
    sys.argv = words
    error: Optional[BaseException] = None
    try:
        if is_module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
            runpy.run_path(words[0], run_name="__main__")
    except BaseException as caught:
        error = caught
        raise
    finally:
        code = error.code if isinstance(error, SystemExit) else None
        watch.end(outcome_of(error), code if isinstance(code, int) and 0 <= code <= 255 else 1 if error and code else None)
        if watch.run_id:
            _summary(watch)


if __name__ == "__main__":
    main()
