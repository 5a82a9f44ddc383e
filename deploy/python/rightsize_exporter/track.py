"""`with track("etl/load"):` and `@track`: a block or a function as a run of a job."""
import functools
import warnings
from typing import Any, Callable, Dict, Optional, TypeVar, Union, overload

from .watch import Watch, in_pod

F = TypeVar("F", bound=Callable[..., Any])


def outcome_of(error: Optional[BaseException]) -> str:
    """The outcome of a block that ended with this exception."""
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "succeeded"
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return "interrupted"
    return "failed"


class Track:
    """A block or a function whose use is recorded. `watch` is the run; see Watch for the arguments.

        with track("etl/load") as run:
            load()
        run.record()["memory_peak_bytes"]

        @track
        def load(): ...

        @track("etl/load", memory="4Gi")
        def load(): ...

    A function without a name for its job is the job MODULE.FUNCTION. `describe` is called when the block begins, and
    gives arguments that are known only then. The use is that of the whole process and all
    below it, so threads that work at the same time count as well. A function that calls itself is one run.
    """

    def __init__(self, job_name: Optional[str] = None, *, describe: Optional[Callable[[], Dict[str, Any]]] = None,
                 **arguments: Any):
        self._job_name, self._describe, self._arguments = job_name, describe, arguments
        self.watch: Optional[Watch] = None

    def __enter__(self) -> Watch:
        self.watch = Watch(**{"job_name": self._job_name, **self._arguments, **self._described()}).begin()
        return self.watch

    def _described(self) -> Dict[str, Any]:
        try:
            return self._describe() if self._describe else {}
        except Exception as error:  # pylint: disable=broad-except # another system may have changed
            warnings.warn(f"rightsize: {self._job_name} has no better name: {error}", RuntimeWarning, stacklevel=3)
            return {}

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        if self.watch:
            self.watch.end(outcome_of(error))
            if self._describe and in_pod():  # the system ends the pod when the block has ended
                self.watch.hand_over()

    def __call__(self, function: F) -> F:
        name = self._job_name or f"{function.__module__}.{function.__qualname__}".replace("__main__.", "")
        arguments = {**self._arguments, "describe": self._describe}

        if _is_coroutine_function(function):
            @functools.wraps(function)
            async def tracked_coroutine(*args: Any, **kwargs: Any) -> Any:
                with Track(name, **arguments):
                    return await function(*args, **kwargs)
            return tracked_coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def tracked(*args: Any, **kwargs: Any) -> Any:
            with Track(name, **arguments):
                return function(*args, **kwargs)
        return tracked  # type: ignore[return-value]


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return bool(code and code.co_flags & 0x80)  # CO_COROUTINE, without the import of inspect


@overload
def track(job_name: F) -> F: ...
@overload
def track(job_name: Optional[str] = None, **arguments: Any) -> Track: ...


def track(job_name: Union[str, Callable[..., Any], None] = None, **arguments: Any) -> Any:
    """Records a block (`with track("etl/load"):`) or a function (`@track`, `@track("etl/load")`); see Track."""
    if callable(job_name):
        return Track(**arguments)(job_name)
    return Track(job_name, **arguments)
