"""Variables such as `${workspaceFolder}` and `${input:port}`, replaced in the values of a configuration or a task."""

import os.path
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import Folder, Input, VariableContext
from trio_debugmcp.launch_json.keys import as_text

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_PICKS_PROCESS = re.compile(r"(?:[\w.-]+\.)?pick(?:My|Node|Native|Go)?Process", re.IGNORECASE)
"""Commands of extensions that let the user select a process: `pickProcess`, `extension.pickNodeProcess`, …"""

_OF_THE_EDITOR = {
    "lineNumber": "the line of a cursor",
    "columnNumber": "the column of a cursor",
    "selectedText": "a selection",
    "execPath": "the editor's program",
    "extensionInstallFolder": "an extension's folder",
    "config": "a setting of the editor",
    "command": "a command of the editor or an extension",
}
"""What there is only in an editor: the variable's name → what it stands for."""

_PLAIN = frozenset(
    (
        *("workspaceFolder", "workspaceRoot", "workspaceFolderBasename", "userHome", "cwd", "pathSeparator", "/"),
        *("file", "fileWorkspaceFolder", "fileWorkspaceFolderBasename", "relativeFile", "relativeFileDirname"),
        *("fileBasename", "fileBasenameNoExtension", "fileExtname", "fileDirname", "fileDirnameBasename"),
        *("lineNumber", "columnNumber", "selectedText", "execPath", "defaultBuildTask"),
    )
)
"""The variables without an argument."""

_KINDS = re.compile(r"[A-Za-z]\w*:(?![-=+?])")
"""How a variable with an argument begins; a shell's own `${NAME:-default}` does not begin so."""


def first_variable(value: Any) -> str | None:
    """Return the first variable in the texts of a value. Those of a shell, or of the program, do not count."""
    match value:
        case str():
            names = (match[1] for match in _VARIABLE.finditer(value))
            return next((f"${{{name}}}" for name in names if name in _PLAIN or _KINDS.match(name)), None)
        case list():
            return next(filter(None, map(first_variable, value)), None)
        case dict():
            return first_variable([*value, *value.values()])
        case _:
            return None


class ConfigurationVariables:
    """The variables of one configuration or task.

    Args:
        what: the configuration or task in errors, for example "The configuration 'Flask'".
        inputs: the definitions of the file's inputs.
        shell: the values are for a shell, whose own variables are left to it.
    """

    def __init__(
        self, context: VariableContext, what: str, inputs: Mapping[str, Input], *, shell: bool = False
    ) -> None:
        self._context = context
        self._what = what
        self._inputs = inputs
        self._shell = shell

    def __repr__(self) -> str:
        return f"<Variables of {self._what}>"

    def replaced(self, value: Any) -> Any:
        """Return a value with the variables in its texts and keys replaced.

        Raises:
            UsageError: `INVALID_PARAMETER`: a parameter is missing that the variable stands for, or it is not defined;
                `NOT_SUPPORTED`: only an editor has what it stands for.
        """
        match value:
            case str():
                return _VARIABLE.sub(self._replace, value)
            case list():
                return [self.replaced(item) for item in value]
            case dict():
                return {self.replaced(name): self.replaced(member) for name, member in value.items()}
            case _:
                return value

    def _replace(self, match: re.Match[str]) -> str:
        name, separator, argument = match[1].partition(":")
        if name in ("lineNumber", "columnNumber", "selectedText", "execPath", "extensionInstallFolder", "config"):
            raise self._unavailable(match[0], name)
        if name.startswith(("file", "relativeFile")) and not separator:
            value = self._of_file(name, match[0])
        elif name == "command" and separator:
            value = self._command(argument, match[0])
        elif name == "input" and separator:
            value = self._input(argument)
        elif name == "env" and separator:
            value = self._context.variable(argument) or ""
        elif name in ("workspaceFolder", "workspaceRoot", "workspaceFolderBasename"):
            folder = self._folder(argument, match[0]) if separator else self._context.folder
            value = os.path.basename(folder.path) if name.endswith("Basename") else folder.path
        else:
            fixed = {"userHome": self._context.home, "cwd": self._context.cwd, "pathSeparator": "/", "/": "/"}
            value = fixed.get(match[1])
        if value is None and not self._shell and _KINDS.match(match[1]):
            raise UsageError(
                "NOT_SUPPORTED",
                f"{self._what} uses {match[0]}, which is not a variable that this server knows. Write its value there.",
                {"variable": match[0]},
            )
        return match[0] if value is None else value

    def _unavailable(self, written: str, name: str) -> UsageError:
        return UsageError(
            "NOT_SUPPORTED",
            f"{self._what} uses {written}, {_OF_THE_EDITOR[name]}, which this server does not have. Write its value "
            "there, or an ${input:…}.",
            {"variable": written},
        )

    # --- Files and folders ------------------------------------------------------------------------------------

    def _folder(self, name: str, written: str) -> Folder:
        folder = next((folder for folder in self._context.folders if folder.name == name), None)
        if folder is None:
            names = ", ".join(folder.name for folder in self._context.folders)
            raise UsageError(
                "INVALID_PARAMETER",
                f"{self._what} uses {written}, but no folder of the workspace is called '{name}'. Folders: {names}.",
                {"variable": written},
            )
        return folder

    def _of_file(self, name: str, written: str) -> str | None:
        file, folder = self._context.file, self._context.folder.path
        if file is None and self._context.assumes:
            file = f"{folder}/file"
        path = PurePosixPath(file or "")
        inside = (folder.path for folder in self._context.folders if path.is_relative_to(folder.path))
        folder = max(inside, key=len, default=folder)
        values = {
            "file": str(path),
            "fileWorkspaceFolder": folder,
            "fileWorkspaceFolderBasename": os.path.basename(folder),
            "relativeFile": os.path.relpath(path, folder),
            "relativeFileDirname": os.path.relpath(path.parent, folder),
            "fileBasename": path.name,
            "fileBasenameNoExtension": path.stem,
            "fileExtname": path.suffix,
            "fileDirname": str(path.parent),
            "fileDirnameBasename": path.parent.name,
        }
        if file is None and name in values:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{self._what} uses {written}, the file that is open in an editor. Pass `file`: the one that is meant.",
                {"parameter": "file"},
            )
        return values.get(name)

    # --- What the user is asked for ---------------------------------------------------------------------------

    def _command(self, command: str, written: str) -> str:
        if command == "pickArgs" or command.endswith(".pickArgs"):
            raise UsageError(
                "INVALID_PARAMETER",
                f"{self._what} uses {written}: the program's arguments. Pass `args`.",
                {"parameter": "args"},
            )
        if _PICKS_PROCESS.fullmatch(command) is None:
            raise self._unavailable(written, "command")
        if self._context.pid is None and not self._context.assumes:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{self._what} uses {written}: the process to attach to. Pass `pid`.",
                {"parameter": "pid"},
            )
        return str(self._context.pid or 0)

    def _input(self, name: str) -> str:
        definition = self._inputs.get(name)
        if definition is None:
            names = ", ".join(self._inputs) or "none"
            raise UsageError(
                "INVALID_PARAMETER",
                f"{self._what} uses ${{input:{name}}}, but the file defines no input '{name}'. Inputs: {names}.",
                {"input": name},
            )
        options = options_of(definition)
        if name in self._context.inputs:
            answer = as_text(self._context.inputs[name])
            if options and answer not in options.values():
                if answer not in options:
                    raise self._other_than(name, answer, options)
                answer = options[answer]
            return answer
        if definition.get("type") == "command" and not self._context.assumes:
            written = f"${{input:{name}}}"
            raise UsageError(
                "NOT_SUPPORTED",
                f"{self._what} uses {written}, which the command '{definition.get('command')}' of the editor answers. "
                f'Pass its value: inputs={{"{name}": "…"}}.',
                {"input": name},
            )
        if "default" in definition:
            default: str = self.replaced(as_text(definition["default"]))
            return default
        if self._context.assumes:
            return next(iter(options.values()), "")
        raise self._missing(name, definition, options)

    def _other_than(self, name: str, answer: str, options: Mapping[str, str]) -> UsageError:
        return UsageError(
            "INVALID_PARAMETER",
            f"The input '{name}' is one of {', '.join(options.values())}; not '{answer}'.",
            {"input": name},
        )

    def _missing(self, name: str, definition: Input, options: Mapping[str, str]) -> UsageError:
        described = definition.get("description")
        meaning = f" ({described.rstrip('. ')})" if isinstance(described, str) and described else ""
        value = f"one of {', '.join(options.values())}" if options else "its value"
        return UsageError(
            "INVALID_PARAMETER",
            f"{self._what} uses ${{input:{name}}}{meaning}, which has no default. Pass {value}: "
            f'inputs={{"{name}": "…"}}.',
            {"input": name},
        )


def used_inputs(value: Any) -> list[str]:
    """Return the inputs that a value refers to, in the order in which it does."""
    return list(dict.fromkeys(name.partition(":")[2] for name in used(value) if name.startswith("input:")))


def uses_file(value: Any) -> bool:
    """Return whether a value refers to the file that is open in the editor."""
    return any(variable.startswith(("file", "relativeFile")) for variable in used(value))


def uses_process(value: Any) -> bool:
    """Return whether a value refers to a process that the user selects."""
    return any(variable.startswith("command:") and _PICKS_PROCESS.fullmatch(variable[8:]) for variable in used(value))


def used(value: Any) -> list[str]:
    """Return what stands between the braces of the variables of a value."""
    match value:
        case str():
            return _VARIABLE.findall(value)
        case list():
            return [name for item in value for name in used(item)]
        case dict():
            return [name for item in value.items() for part in item for name in used(part)]
        case _:
            return []


def options_of(definition: Input) -> dict[str, str]:
    """Return what the user may select of an input: its label → its value."""
    choices = {}
    for option in definition.get("options") or () if isinstance(definition.get("options"), list) else ():
        label, value = (option.get("label"), option.get("value")) if isinstance(option, dict) else (option, option)
        text = as_text(label if value is None else value)
        choices[text if label is None else as_text(label)] = text
    return choices
