"""A kernel for as long as somebody needs it."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.rules import Rules
from colonizer_engines.kernel.store import Store


@contextmanager
def open_kernel(rules: Rules, path: Path | None) -> Generator[Kernel]:
    """A kernel that keeps its state in the database at `path`, or in memory where there is none.

    Raises:
        StoreError: The database cannot be had, or another process has it.
    """
    if path is None:
        yield Kernel(rules)
        return
    with closing(Store.open(path)) as store:
        yield Kernel(rules, store)
