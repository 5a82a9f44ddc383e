"""`with track("etl/load"):` and `@track`: a block or a function as a run of a job."""
import functools
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union, overload

from .watch import Watch, in_pod, warn

F = TypeVar("F", bound=Callable[..., Any])


def outcome_of(error: Optional[BaseException]) -> str:
    """The outcome of a block that ended with this exception."""
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "succeeded"
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)) or type(error).__name__ == "CancelledError":
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

    A function may be a coroutine or a generator, whose run ends with it. TypeError: a class, or nothing that can be called.
    A function without a name for its job is the job MODULE.FUNCTION. `describe` is called when the block begins, and
    gives arguments that are known only then. The use is that of the whole process and all
    below it, so threads that work at the same time count as well. Blocks of one job that overlap, in threads or
    in a function that calls itself, are one run.
    """

    def __init__(self, job_name: Optional[str] = None, *, describe: Optional[Callable[[], Dict[str, Any]]] = None,
                 **arguments: Any):
        self._job_name, self._describe, self._arguments = job_name, describe, arguments
        self.watch: Optional[Watch] = None
        self._entered: List[Watch] = []

    def __enter__(self) -> Watch:
        self.watch = Watch(**{"job_name": self._job_name, **self._arguments, **self._described()}).begin()
        self._entered.append(self.watch)
        return self.watch

    def _described(self) -> Dict[str, Any]:
        try:
            return self._describe() if self._describe else {}
        except Exception as error:  # pylint: disable=broad-except # another system may have changed
            warn(f"{self._job_name} has no better name: {error}", 3)
            return {}

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        watch = self._entered.pop()
        watch.end(outcome_of(error))
        if self._describe and in_pod():  # the system ends the pod when the block has ended
            watch.hand_over()

    def __call__(self, function: F) -> F:
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self(function.__func__))
        if isinstance(function, type) or not callable(function):
            raise TypeError(f"track takes a function, not {function!r}")
        name = self._job_name or _name_of(function)
        arguments = {**self._arguments, "describe": self._describe}

        def block() -> "Track":
            return Track(name, **arguments)

        made = _KINDS.get(_flags_of(function), _function)(block, function)
        return functools.wraps(function)(made)  # type: ignore[return-value]


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a partial one."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _name_of(function: Callable[..., Any]) -> str:
    """MODULE.FUNCTION; for an object that can be called, its class."""
    named: Any = _whole(function)
    named = named if hasattr(named, "__qualname__") else type(named)
    return f"{getattr(named, '__module__', None)}.{named.__qualname__}".replace("__main__.", "")


def _flags_of(function: Callable[..., Any]) -> int:
    """CO_GENERATOR, CO_COROUTINE or CO_ASYNC_GENERATOR, without the import of inspect; 0 = none of them."""
    whole: Any = _whole(function)
    code = getattr(whole, "__code__", None) or getattr(whole.__call__, "__code__", None)
    return code.co_flags & 0x2a0 if code else 0


def _function(block: Callable[[], Track], function: Callable[..., Any]) -> Callable[..., Any]:
    def tracked(*args: Any, **kwargs: Any) -> Any:
        with block():
            return function(*args, **kwargs)
    return tracked


def _coroutine(block: Callable[[], Track], function: Callable[..., Any]) -> Callable[..., Any]:
    async def tracked(*args: Any, **kwargs: Any) -> Any:
        with block():
            return await function(*args, **kwargs)
    return tracked


def _generator(block: Callable[[], Track], function: Callable[..., Any]) -> Callable[..., Any]:
    def tracked(*args: Any, **kwargs: Any) -> Any:
        with block():
            return (yield from function(*args, **kwargs))
    return tracked


def _async_generator(block: Callable[[], Track], function: Callable[..., Any]) -> Callable[..., Any]:
    async def tracked(*args: Any, **kwargs: Any) -> Any:
        with block():
            values = function(*args, **kwargs)
            try:
                value = await values.__anext__()
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as error:  # pylint: disable=broad-except # it is for the function
                        value = await values.athrow(error)
                    else:
                        value = await values.asend(sent)
            except StopAsyncIteration:
                pass
            finally:
                await values.aclose()
    return tracked


_KINDS = {0x20: _generator, 0x80: _coroutine, 0x200: _async_generator}


@overload
def track(job_name: F) -> F: ...
@overload
def track(job_name: Optional[str] = None, **arguments: Any) -> Track: ...


def track(job_name: Union[str, Callable[..., Any], None] = None, **arguments: Any) -> Any:
    """Records a block (`with track("etl/load"):`) or a function (`@track`, `@track("etl/load")`); see Track."""
    if callable(job_name) or isinstance(job_name, (staticmethod, classmethod)):
        return Track(**arguments)(job_name)
    return Track(job_name, **arguments)
