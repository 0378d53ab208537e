"""Whether the Python modules in a folder import each other in a circle. Reads files, so the caller says which."""

import ast
import os
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

_FILES_LIMIT = 2000
_FILE_LIMIT_BYTES = 1024 * 1024


def find_import_circle(root: Path, target: str) -> tuple[str, ...]:
    """Names of modules below the target's folder, each imported by the one before, the first again last; or none."""
    try:
        folder = root.joinpath(*target.split(".")).resolve()
        inside = folder.is_dir() and folder.is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):
        return ()
    if not inside:
        return ()
    modules = dict(_modules(folder))
    graph = {name: _imported(path, name) & modules.keys() - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        return tuple(circle.args[1])
    return ()


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Dotted names, from the folder's own on, and files; symbolic links are not followed."""
    left = _FILES_LIMIT
    for place, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            path = Path(place, file)
            if path.suffix != ".py" or path.is_symlink() or left == 0:
                continue
            left -= 1
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imported(path: Path, module: str) -> set[str]:
    """Everything that the file may import, as dotted names; nothing where it cannot be read."""
    try:
        if path.stat().st_size > _FILE_LIMIT_BYTES:
            return set()
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return set()
    names: set[str] = set()
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, node.module] if node.module else above)
            names.add(source)
            names.update(f"{source}.{alias.name}" for alias in node.names)
    return names
