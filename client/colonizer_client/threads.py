"""Threads for what blocks, such as a keyring, a name server or the start of the engine."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class OwnThreads(ThreadPoolExecutor):
    """Runs each job at once, in a daemon thread of its own: no job waits for another one, and none holds up the exit.

    An event loop's own pool has few threads, and the loop's end waits for all of them: one host whose name is not
    found would delay every other one, and the exit.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The result to come."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as problem:  # noqa: BLE001  # it belongs to whoever waits for the result
                future.set_exception(problem)
            else:
                future.set_result(result)

        Thread(target=run, name=f"job {getattr(fn, '__name__', '')}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Returns at once."""
