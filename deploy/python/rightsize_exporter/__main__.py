"""python -m rightsize_exporter [--job-name=NAME] [-m MODULE | SCRIPT] [ARGUMENT...]: runs a script and records it as a run.

The script runs in this process, so it is watched from the start of the interpreter to the end of its threads and exit
handlers, and nothing else changes for it. The job is --job-name, else RIGHTSIZE_JOB_NAME, else the script. A summary goes
to the standard error at the end; RIGHTSIZE_QUIET=1 leaves it out.
"""
import atexit
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


def _end(watch: Watch, errors: List[BaseException]) -> None:
    """Ends the run when the interpreter ends: threads of the script have ended, and exit handlers are done."""
    if not watch.running:  # a forked child
        return
    error = errors[0] if errors else None
    code = error.code if isinstance(error, SystemExit) else None
    status = code & 255 if isinstance(code, int) else 1 if error and code else None  # exit(256) ends a process with 0
    watch.end("succeeded" if status == 0 else outcome_of(error), status)
    _summary(watch)


def main() -> None:
    """Runs the script or module as __main__; SystemExit and other exceptions end it as they would without this."""
    import runpy
    name, is_module, words = _arguments(sys.argv[1:])
    script = words[0] if is_module else os.path.splitext(os.path.basename(words[0]))[0]
    watch = Watch(name or os.environ.get("RIGHTSIZE_JOB_NAME") or script, from_now=False).begin()
    errors: List[BaseException] = []
    atexit.register(_end, watch, errors)  # before those of the script, so it is called after them
    sys.argv = words
    try:
        if is_module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
            runpy.run_path(words[0], run_name="__main__")
    except BaseException as error:
        errors.append(error)
        if isinstance(error, KeyboardInterrupt):
            _end(watch, errors)  # code that an exit handler evaluates makes the interpreter forget the interrupt
        raise


if __name__ == "__main__":
    main()
