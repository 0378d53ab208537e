"""The repositories that colonies may be launched on."""

import re
from pathlib import Path

from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.repositories import Repository, RepositoryError, identify
from colonizer_engines.mothership.store import KnownRepository, Store

_NAME_PART = re.compile(r"[A-Za-z0-9._-]{1,100}")


def check_name(name: str) -> None:
    """Nothing, where the text may name a repository: two parts of which each is a plain word.

    Raises:
        Refusal: 400, it may not.
    """
    parts = name.split("/")
    if len(parts) != 2 or any(part in (".", "..") or not _NAME_PART.fullmatch(part) for part in parts):
        raise Refusal(400, "invalid repository name")


class KnownRepositories:
    """What people added, by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known = {repository.name: repository for repository in store.repositories()}

    def all(self) -> list[KnownRepository]:
        """All of them, by name."""
        return [self._known[name] for name in sorted(self._known)]

    def canonical(self, name: str) -> str:
        """The name as it was added, whatever the case it is asked for in; else the name itself."""
        return next((known for known in self._known if known.lower() == name.lower()), name)

    def find(self, name: str) -> Repository | None:
        """The clone with this name."""
        known = self._known.get(name)
        return None if known is None else Repository(known.name, Path(known.git_dir), Path(known.top))

    async def add(self, path: Path, name: str | None = None) -> KnownRepository:
        """The repository of the folder, known from now on.

        Raises:
            Refusal: 400, the folder is none, or the name is none or taken by another one.
        """
        if name is not None:
            check_name(name)
        taken = {repository.name: Path(repository.git_dir) for repository in self._known.values()}
        try:
            found = await identify(path, taken)
        except RepositoryError as problem:
            raise Refusal(400, str(problem)) from problem
        known = KnownRepository(name or found.name, str(found.git_dir), str(found.top))
        other = self._known.get(self.canonical(known.name))
        if other is not None and other.git_dir != known.git_dir:
            raise Refusal(400, f"{known.name} is already the name of {other.top}; give another name")
        if other != known:
            with self._store.transaction():
                self._store.put_repository(known)
            self._known[known.name] = known
        return known

    def forget(self, name: str) -> None:
        """Forgets the repository; nothing of it is touched.

        Raises:
            Refusal: 404, it is not known.
        """
        if name not in self._known:
            raise Refusal(404, "no such repository")
        with self._store.transaction():
            self._store.delete_repository(name)
        del self._known[name]
