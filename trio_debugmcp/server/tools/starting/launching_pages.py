"""`debug_launch` of a page in a browser: by its URL, or an HTML file that is served for it.

    debug_launch(url="http://localhost:5173/", dev_server="npm run dev")

The server is a task beside the session, as those of a configuration are.
"""

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import BROWSER
from trio_debugmcp.dap.profiles.javascript.browsers import INSTALL, browser_at, needs_no_sandbox, places
from trio_debugmcp.dap.sockets import free_port
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.task_definitions import Task, TaskCommand
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting import page_files
from trio_debugmcp.server.tools.starting.configured import check_tasks
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch, LaunchBreakpoint
from trio_debugmcp.server.tools.starting.launching import existing_directory, launch
from trio_debugmcp.server.tools.starting.other_programs import check_free, make_room
from trio_debugmcp.server.tools.starting.page_address import PageAddress, check_page, page_address
from trio_debugmcp.session.before.task_processes import wait_free
from trio_debugmcp.session.debugger import Debugger

_ROOTS = ("package.json", "index.html")
"""Files in the directory that a dev server serves."""

_OF_A_SHELL = re.compile(r"[|&;<>()$`*?~=\n]")
"""What only a shell understands in a command line."""

_HOST = "127.0.0.1"

_FREE_SECONDS = 2.0
"""For a port that is in use to become free; a server ends in less."""


async def launch_page(debugger: Debugger, params: DebugLaunch) -> StopAnswer:
    """Show a page in a browser under the debugger, with the server that it needs.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH`, `PERMISSION_DENIED`, `LAUNCH_FAILED`, or as `launch`.
    """
    check_free(debugger, params)
    if sum(each is not None for each in (params.url, params.program, params.module, params.code, params.test)) != 1:
        raise UsageError("INVALID_PARAMETER", "Pass one of `program`, `module`, `code`, `test` and `url`: what to run.")
    given = next((name for name in ("args", "stdin", "record") if getattr(params, name)), None)
    if given is not None:
        raise UsageError("NOT_SUPPORTED", f"A page has no `{given}`. Leave it out.", {"capability": given})
    deadline = trio.current_time() + params.timeout
    notes = _browser_notes(debugger, params)
    page, root, server = _served(debugger, params)
    if params.replace and params.dev_server is not None:  # the one before may have the port
        await make_room(debugger, params)
    await _check_port(debugger, page, params)
    tasks = debugger.tasks.around(server, None)
    async with tasks.begun(params.timeout):
        notes += await _check(debugger, params, page, root)
        left = max(0.0, deadline - trio.current_time())
        answer = await launch(debugger, _launch_of(params, page, root, left), tasks)
    return replace(answer, notes=[*notes, *answer.notes])


def _launch_of(params: DebugLaunch, page: PageAddress, root: str, seconds: float) -> DebugLaunch:
    options = {"url": page.url, **params.adapter_options}
    return replace(
        params,
        url=None,
        dev_server=None,
        program=page.url,
        cwd=root,
        adapter=params.adapter or BROWSER,
        adapter_options=options,
        stop_at_entry=False,
        timeout=seconds,
    )


def _browser_notes(debugger: Debugger, params: DebugLaunch) -> list[str]:
    """Check that there is a browser; return what is to be said of how it is run.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`: there is none.
    """
    wanted = params.adapter_options.get("browser")
    if wanted is not None and not isinstance(wanted, str):
        raise UsageError("INVALID_PARAMETER", "adapter_options: 'browser' is to be a path, or a name on PATH.")
    told = params.adapter_options.get("runtimeExecutable") or debugger.host.query(
        f"browser {wanted}", lambda: browser_at(wanted)
    )
    if told is None:
        where = f"'{wanted}' cannot be run" if wanted is not None else f"looked for {places()}"
        raise UsageError(
            "ADAPTER_NOT_FOUND",
            f"There is no browser for the page ({where}). Install Chromium: {INSTALL}; or pass the path of Chrome, "
            'Chromium or Edge: adapter_options={"browser": "/path/to/chrome"}.',
            {"adapter": BROWSER, "install": INSTALL},
        )
    notes = ["a page has no entry: set a breakpoint in its first script"] if params.stop_at_entry else []
    if debugger.host.query("sandbox of the browser", needs_no_sandbox):
        notes.append("the browser runs without its sandbox, as this server runs as root")
    return notes


def _served(debugger: Debugger, params: DebugLaunch) -> tuple[PageAddress, str, Task | None]:
    """Return the page, the directory that its server serves, and the task that is that server, if we start it."""
    cwd = existing_directory(debugger, replace(params, program=None))
    file = params.program if params.url is None else _file_of(params.url)
    if file is not None or params.url is None:
        return _served_file(debugger, file or "", cwd)
    page = page_address(params.url)
    root = cwd if params.cwd is not None else _root(debugger, params.breakpoints, cwd)
    if params.dev_server is None:
        return page, root, None
    check_tasks(debugger, f"`dev_server` would run `{params.dev_server}`")
    # A browser that it would open beside ours is of no use.
    command = TaskCommand(_words(params.dev_server), root, {"BROWSER": "none", **params.env})
    where = (page.host, page.port)
    return page, root, Task(params.dev_server, command, background=True, listens_at=where)


def _file_of(url: str) -> str | None:
    """Return the path of the file that a URL names, if it does."""
    return unquote(url.removeprefix("file://")) if url.startswith("file:///") else None


def _served_file(debugger: Debugger, program: str, cwd: str) -> tuple[PageAddress, str, Task]:
    """Return the same for an HTML file, whose directory is served as long as it is debugged.

    From `file://` browsers load no modules.
    """
    file = existing_file(debugger, program, cwd)
    if file is None:
        raise UsageError("INVALID_PATH", f"The page '{program}' does not exist in {cwd}.", {"path": program})
    directory, port = str(Path(file).parent), int(debugger.host.query("free port", lambda: free_port(_HOST)))
    argv = (sys.executable, "-I", page_files.__file__, _HOST, str(port), directory)
    task = Task(f"server of {directory}", TaskCommand(argv, directory), background=True, listens_at=(_HOST, port))
    return PageAddress(f"http://{_HOST}:{port}/{quote(Path(file).name)}", _HOST, port), directory, task


def _root(debugger: Debugger, breakpoints: Sequence[LaunchBreakpoint], cwd: str) -> str:
    """Return the directory of the project that a page is of: the nearest above the first file with a breakpoint."""
    file = next((each.file for each in breakpoints if each.file), None)
    found = None if file is None else existing_file(debugger, file, cwd)
    if found is None:
        return cwd

    def ask() -> str | None:
        roots = (each for each in Path(found).parents if any((each / name).is_file() for name in _ROOTS))
        return next(map(str, roots), None)

    root = debugger.host.query(f"project of {found}", ask)
    return cwd if root is None else debugger.workspace.resolve(root)


def _words(command: str) -> tuple[str, ...]:
    """Return a command line as the words of it; one that only a shell understands is given to one.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    if _OF_A_SHELL.search(command):
        return ("/bin/sh", "-c", command)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError("INVALID_PARAMETER", f"`dev_server` is not a command line: {error}.") from None
    if not words:
        raise UsageError("INVALID_PARAMETER", '`dev_server` is empty. Pass a command, such as "npm run dev".')
    return tuple(words)


async def _check_port(debugger: Debugger, page: PageAddress, params: DebugLaunch) -> None:
    """Refuse to start a server where one listens already.

    Raises:
        UsageError: `LAUNCH_FAILED`.
    """
    if params.dev_server is None:
        return
    with trio.move_on_after(debugger.patience.seconds(_FREE_SECONDS)):  # the one before may be ending
        await wait_free(page.host, page.port, debugger.patience)
        return
    raise UsageError(
        "LAUNCH_FAILED",
        f"Something listens at {page.host}:{page.port} already, so `{params.dev_server}` was not started. Leave out "
        "`dev_server` to debug what is served there, or end that server, or pass another port.",
        {"port": page.port},
    )


async def _check(debugger: Debugger, params: DebugLaunch, page: PageAddress, root: str) -> list[str]:
    advice = "Look at the output of `dev_server`, and call debug_launch again."
    if params.dev_server is None:
        scripts = debugger.host.query(f"scripts of {root}", lambda: _scripts(root))
        such = f" (scripts of its package.json: {', '.join(scripts)})" if scripts else ""
        advice = f'Start its server, or pass dev_server="npm run dev"{such}.'
    return await check_page(debugger, page, advice)


def _scripts(root: str) -> list[str]:
    """Return the names of the scripts that a project has for npm."""
    try:
        scripts = json.loads(Path(root, "package.json").read_text("utf-8")).get("scripts", {})
        return [str(name) for name in scripts][:10]
    except (OSError, ValueError, AttributeError):
        return []
