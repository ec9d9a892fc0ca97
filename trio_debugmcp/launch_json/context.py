"""`VariableContext`: what an editor knows when it resolves a configuration, and the seam to this machine's files."""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct


class Folder(Struct, frozen=True):
    """A folder of the workspace: where its `.vscode` is, and what `${workspaceFolder:name}` calls it."""

    path: str
    name: str


class VariableContext(Struct, frozen=True):
    """What variables stand for.

    Attributes:
        folder: whose launch.json it is; `folders`: all of the workspace.
        home: the user's home directory.
        cwd: the directory of this server.
        read: returns the text of a file, None if there is none.
        variable: returns a variable of the environment, None if it is not set.
        file: the file that would be open in the editor; absolute.
        pid: the process that would be picked.
        inputs: the values of `${input:…}`.
        platform: whose section of a configuration is laid over it.
        shell: what runs the command lines of tasks.
        assumes: what is not given is assumed, to see whether there is anything else that is wrong.
    """

    folder: Folder
    folders: tuple[Folder, ...]
    home: str
    cwd: str
    read: Callable[[str], str | None]
    variable: Callable[[str], str | None]
    file: str | None = None
    pid: int | None = None
    inputs: Mapping[str, object] = {}
    platform: Literal["linux", "osx"] = "linux"
    shell: str = "/bin/sh"
    assumes: bool = False
