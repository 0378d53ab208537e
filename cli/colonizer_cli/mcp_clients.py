"""The MCP clients that can be told of us: where each keeps its servers, and how it writes one.

What each writes is what its own documentation says, and its own command where it has one.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from colonizer_client.text import safe_line
from colonizer_config.entry_edit import EntryEdit
from colonizer_config.entry_format import EntryFormat, JsonFormat, TomlFormat
from colonizer_config.errors import FolderError
from colonizer_config.paths import Paths
from colonizer_config.value import Value

PROGRAM = "colonizer"
"""What a client starts, found on its PATH."""

TOKEN_VARIABLE = "COLONIZER_TOKEN"

_PROGRAMS = (PROGRAM, "colonizer-tui")
_SECRET_KEYS = frozenset({"env", "environment", "headers", "http_headers"})
_SHOWN_CHARS = 300

Environment = Mapping[str, str]


class Launch(Value):
    """How a client starts us."""

    words: tuple[str, ...]
    """What comes behind the program."""
    env: Mapping[str, str]
    """The variables that the client sets for us."""


class McpClient(Value):
    """One client."""

    title: str
    form: EntryFormat
    keys: tuple[str, ...]
    """Under which it keeps its servers."""
    user_files: Callable[[Environment], tuple[Path, ...]]
    """Those it reads for all projects: the one with the entry counts, else the first that is there, else the first."""
    project_files: tuple[str, ...]
    """Those it reads in a project's folder, of which one counts likewise."""
    entry: Callable[[Launch], Mapping[str, object]]
    newer_keys: tuple[str, ...] = ()
    """Under which newer versions keep their servers; they count where the file has them."""

    def open(self, name: str, project: Path | None, environment: Environment, paths: Paths) -> EntryEdit:
        """The entry of that name in the file of the client, for all projects or for one; nothing is changed yet.

        Raises:
            SettingsError: The file cannot be read, or is broken.
            FolderError: No home folder is known.
        """
        own = self.user_files(environment)
        files = own if project is None else tuple(project / file for file in self.project_files)
        there = [self._edit(file, name, paths) for file in files if os.path.lexists(file)]
        holding = (edit for edit in there if edit.found is not None)
        return next(holding, there[0] if there else self._edit(files[0], name, paths))

    def _edit(self, file: Path, name: str, paths: Paths) -> EntryEdit:
        keys = self.keys
        if self.newer_keys:
            newer: object = EntryEdit(file, self.newer_keys, self.form, paths.entries).found
            # A server that happens to have the name of the newer key is no group of servers.
            if isinstance(newer, dict) and "type" not in newer:
                keys = self.newer_keys
        return EntryEdit(file, (*keys, name), self.form, paths.entries)

    def snippet(self, name: str, entry: Mapping[str, object]) -> str:
        """The entry as it stands in a file that holds nothing else."""
        return self.form.put("", (*self.keys, name), entry, self.title)


def is_ours_by_its_words(entry: object) -> bool:
    """Whether an entry of any client starts this program's server."""
    if not isinstance(entry, dict):
        return False
    row = cast(dict[str, Any], entry)
    words = [word for key in ("command", "args") for word in _words(row.get(key))]
    return bool(words) and Path(words[0]).name in _PROGRAMS and "mcp" in words[1:]


def shown(entry: object) -> str:
    """An entry in one line, the values that may be secrets left out."""
    return safe_line(json.dumps(_masked(entry), ensure_ascii=False, default=str), limit=_SHOWN_CHARS)


def _masked(value: object) -> object:
    if not isinstance(value, dict):
        return value
    rows = cast(dict[str, object], value)
    return {key: _hidden(of) if key in _SECRET_KEYS else _masked(of) for key, of in rows.items()}


def _hidden(value: object) -> object:
    return dict.fromkeys(cast(dict[str, object], value), "…") if isinstance(value, dict) else "…"


def _words(value: object) -> list[str]:
    listed = cast(list[object], value) if isinstance(value, list) else [value]
    return [word for word in listed if isinstance(word, str)]


def _home(environment: Environment) -> Path:
    home = environment.get("HOME", "").strip()
    if not home:
        raise FolderError("HOME is not set, so the client's own settings cannot be found")
    return Path(home)


def _folder(environment: Environment, variable: str, *otherwise: str) -> Path:
    named = environment.get(variable, "").strip()
    return Path(named) if named else _home(environment).joinpath(*otherwise)


def _opencode_files(environment: Environment) -> tuple[Path, ...]:
    folder = _folder(environment, "XDG_CONFIG_HOME", ".config") / "opencode"
    return folder / "opencode.json", folder / "opencode.jsonc"


def _program_and_args(launch: Launch) -> dict[str, object]:
    return {"command": PROGRAM, "args": list(launch.words), **({"env": dict(launch.env)} if launch.env else {})}


def _claude_code_entry(launch: Launch) -> dict[str, object]:
    """As `claude mcp add` writes it, which always writes all four keys."""
    return {"type": "stdio", "command": PROGRAM, "args": list(launch.words), "env": dict(launch.env)}


def _opencode_entry(launch: Launch) -> dict[str, object]:
    environment = {"environment": dict(launch.env)} if launch.env else {}
    return {"type": "local", "command": [PROGRAM, *launch.words], **environment}


CLIENTS: Mapping[str, McpClient] = {
    "claude-code": McpClient(
        title="Claude Code",
        form=JsonFormat(),
        keys=("mcpServers",),
        user_files=lambda env: (_folder(env, "CLAUDE_CONFIG_DIR") / ".claude.json",),
        project_files=(".mcp.json",),
        entry=_claude_code_entry,
    ),
    "codex": McpClient(
        title="Codex",
        form=TomlFormat(),
        keys=("mcp_servers",),
        user_files=lambda env: (_folder(env, "CODEX_HOME", ".codex") / "config.toml",),
        project_files=(".codex/config.toml",),
        entry=_program_and_args,
    ),
    "cursor": McpClient(
        title="Cursor",
        form=JsonFormat(),
        keys=("mcpServers",),
        user_files=lambda env: (_home(env) / ".cursor" / "mcp.json",),
        project_files=(".cursor/mcp.json",),
        entry=_program_and_args,
    ),
    "opencode": McpClient(
        title="opencode",
        form=JsonFormat(),
        keys=("mcp",),
        user_files=_opencode_files,
        project_files=("opencode.json", "opencode.jsonc"),
        entry=_opencode_entry,
        newer_keys=("mcp", "servers"),
    ),
}
"""Each client by the word that names it."""
