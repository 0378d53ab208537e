"""One question to many endpoints at once, so that a slow or dead one costs its own answer alone."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeAlias, TypeVar

from colonizer_cli import output
from colonizer_client.errors import ClientError, NoReply
from colonizer_config.endpoints import Endpoint
from colonizer_config.errors import ConfigError
from colonizer_config.value import Value

T = TypeVar("T")

Failure: TypeAlias = ClientError | ConfigError


class Job(Value, Generic[T]):
    """What is asked of one endpoint, and how long its answer may take."""

    ask: Callable[[], T]
    """Raises ClientError or ConfigError."""
    limit_s: float


class Answers(Value, Generic[T]):
    """What came back, in the order in which the endpoints were given."""

    answers: Mapping[Endpoint, T]
    failures: Mapping[Endpoint, Failure]

    def tell_failures(self) -> None:
        """Prints a line on stderr for each endpoint that has no answer."""
        for endpoint, problem in self.failures.items():
            output.note(f"colonizer: {endpoint.name}: {problem}")


def side_by_side(jobs: Mapping[Endpoint, Job[T]]) -> Answers[T]:
    """The answers of the jobs that end in time, and why the others have none.

    A job that does not end is given up: it keeps neither the other answers nor the program's end waiting.
    """
    started = time.monotonic()
    threads = {endpoint: _Asking(job) for endpoint, job in jobs.items()}
    for thread in threads.values():
        thread.start()
    answers: dict[Endpoint, T] = {}
    failures: dict[Endpoint, Failure] = {}
    for endpoint, thread in threads.items():
        thread.join(max(started + thread.job.limit_s - time.monotonic(), 0))
        match thread.outcome:
            case [answer]:
                answers[endpoint] = answer
            case ClientError() | ConfigError() as problem:
                failures[endpoint] = problem
            case _:
                failures[endpoint] = NoReply(f"no answer within {thread.job.limit_s:g} s")
    return Answers(answers, failures)


class _Asking(threading.Thread, Generic[T]):
    def __init__(self, job: Job[T]) -> None:
        super().__init__(daemon=True)
        self.job = job
        self.outcome: tuple[T] | Failure | None = None

    def run(self) -> None:
        try:
            self.outcome = (self.job.ask(),)
        except (ClientError, ConfigError) as problem:
            self.outcome = problem
