"""`trio-debugmcp call`: call a tool of the server that is kept for this project."""

import argparse
import errno
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from trio_debugmcp.cli._output import DONE, FAILED, NOT_FOUND, UNREACHABLE, USAGE
from trio_debugmcp.errors import UsageError
from trio_debugmcp.kept.calling import CallRefused, Conversation, ServerElsewhere, ServerLost, process_ended
from trio_debugmcp.kept.place import Place, other_projects, project_root
from trio_debugmcp.kept.server_start import NoServer, connected, reach
from trio_debugmcp.kept.shell_words import absolute_paths, split_words, typed

END_SECONDS = 30.0
"""For a server to end, which first says goodbye to its programs."""

EXAMPLES = """\
examples:
  trio-debugmcp call debug_launch test=tests/test_till.py::test_total
  trio-debugmcp call debug_launch program=app.py 'breakpoints=[{"file": "shop.py", "line": 12, "condition": "n > 2"}]'
  trio-debugmcp call debug_step mode=in
  trio-debugmcp call evaluate 'expression=[item.price for item in cart]'
  trio-debugmcp call --list
  trio-debugmcp call --status
  trio-debugmcp call --end

The server is started by the first call, in the project's directory: the nearest one with a pyproject.toml, a
package.json, .git or the like. It ends half an hour after the last call, by --end, or with --once when its last
program has ended.
Values are of the tool's types; @FILE and - take what is in a file or comes on standard input. On a terminal, and with
--text, answers are lines for people; else, and with --json, one line of JSON.

exit codes: 0 done, 2 wrong usage, 4 no server could be had, 5 the tool reports an error, which is on standard error
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `call` and its options to the command line."""
    parser = commands.add_parser(
        "call",
        help="call a tool of the server that is kept for this project, for shells and scripts",
        description="Call a tool of the server that is kept for this project. The first call starts it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="the tool to call; --list shows them")
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="its arguments")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the tools; with TOOL, its parameters")
    what.add_argument("--status", action="store_true", help="say what is kept, where, and what it is doing")
    what.add_argument("--stop", action="store_true", help="if a program is stopped, say where, in a line")
    what.add_argument("--stops", action="store_true", help="print a line at each stop, until Ctrl-C; starts no server")
    what.add_argument("--end", action="store_true", help="end the kept server, with its programs")
    parser.add_argument("--project", metavar="DIR", help="the project's directory (default: found above this one)")
    parser.add_argument("--once", action="store_true", help="a server that this call starts ends with its last program")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one line of JSON, also on a terminal")
    form.add_argument("--text", action="store_true", help="lines for people, also in a pipe or a file")
    parser.set_defaults(run=run, parse=partial(_parse, parser))


def _parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Read options before, between and after the words."""
    return parser.parse_intermixed_args(arguments)


def run(arguments: argparse.Namespace) -> int:
    """Call, list, tell or end; returns the exit code."""
    as_json = not arguments.text and (arguments.json or not sys.stdout.isatty())
    try:
        return _run(arguments, as_json)
    except UsageError as error:
        return _failed(error.message, error.code, USAGE, as_json)
    except (NoServer, ServerLost) as error:
        return _failed(str(error), "unreachable", UNREACHABLE, as_json)
    except ServerElsewhere as error:
        return _failed(str(error), "failed", FAILED, as_json)
    except CallRefused as error:
        return _failed(str(error), "refused", NOT_FOUND, as_json)


def _run(arguments: argparse.Namespace, as_json: bool) -> int:
    if arguments.project is not None and not os.path.isdir(arguments.project):
        raise UsageError("usage", f"{arguments.project} is not a directory.")
    alone = arguments.status or arguments.end or arguments.stop or arguments.stops
    if (arguments.words and arguments.list) or (arguments.tool is not None and alone):
        raise UsageError("usage", "Of the options only --list takes a further word, the name of a tool.")
    if arguments.once and alone:
        raise UsageError("usage", "--once is for a call that starts the server: leave it out.")
    if (arguments.json or arguments.text) and (arguments.stop or arguments.stops):
        raise UsageError("usage", "--stop and --stops print lines: leave --json and --text out.")
    place = Place.of(project_root(_here()) if arguments.project is None else os.path.realpath(arguments.project))
    if arguments.status:
        return _show(_status(place), as_json)
    if arguments.stop or arguments.stops:
        return _stops(place, follow=arguments.stops)
    if arguments.end:
        return _end(place, as_json)
    if arguments.list:
        return _list(arguments, place, as_json)
    if arguments.tool is None:
        raise UsageError("usage", "Name a tool; --list shows them, --help how it is done.")
    return _call(arguments, place, as_json)


def _reach(arguments: argparse.Namespace, place: Place) -> Conversation:
    def command() -> list[str]:
        from trio_debugmcp.own_command import own_command

        once = ("--once",) if arguments.once else ()
        return own_command("serve", "--kept", place.project, "--ws", "127.0.0.1:0", "--tools", "full", *once)

    return reach(place, command)


def _call(arguments: argparse.Namespace, place: Place, as_json: bool) -> int:
    given = split_words(arguments.words, _read)
    if not _may_have(arguments.tool, place):
        return _no_tool(arguments.tool, as_json)
    with _reach(arguments, place) as conversation:
        _warn_of_another_start(arguments, place, as_json)
        schema: dict[str, Any] = {}
        is_known = _is_of_this_version(arguments.tool)
        if given or not is_known:
            tools = conversation.request("tools/list", {"name": arguments.tool})["tools"]
            tool = next((tool for tool in tools if tool["name"] == arguments.tool), None)
            if tool is None and not is_known:
                return _no_tool(arguments.tool, as_json)
            schema = {} if tool is None else tool["inputSchema"]
        values = absolute_paths(typed(given, schema), _here())
        result = conversation.request("tools/call", {"name": arguments.tool, "arguments": values})
    if result.get("isError"):
        return _failed(*_said(result), NOT_FOUND, as_json)
    return _show(result.get("structuredContent") or {"content": result["content"]}, as_json)


def _may_have(tool: str, place: Place) -> bool:
    """Whether the project's server may have a tool. None is started for one that it would not have."""
    if _is_of_this_version(tool):
        return True
    running = connected(place)
    if running is None:
        return False
    with running:  # it may be of another version
        return True


def _is_of_this_version(tool: str) -> bool:
    from trio_debugmcp.server.naming import MORE
    from trio_debugmcp.server.tool_names import FAMILIES

    return tool == MORE or any(tool in names for names in FAMILIES.values())


def _no_tool(tool: str, as_json: bool) -> int:
    from trio_debugmcp.server.tool_names import FAMILIES, tools_meant

    meant = tools_meant(tool, [name for names in FAMILIES.values() for name in names])
    return _failed(f"There is no tool '{tool}'.{meant} --list shows them.", "tool_not_found", NOT_FOUND, as_json)


def _warn_of_another_start(arguments: argparse.Namespace, place: Place, as_json: bool) -> None:
    """Say it if the server was started with --once, or in a virtual environment, otherwise than this call would."""
    for sentence in _other_starts(arguments, place.record() or {}):
        from trio_debugmcp.cli._output import visible, write_warning

        if as_json:
            write_warning(sentence)
        else:
            print(visible(sentence), file=sys.stderr)


def _other_starts(arguments: argparse.Namespace, record: dict[str, Any]) -> Iterator[str]:
    active = os.environ.get("VIRTUAL_ENV")
    python, environment = record.get("python", sys.executable), record.get("environment", active)
    if python != sys.executable:
        yield f"The kept server runs on {python}, this command on {sys.executable}: --end it to change."
    elif environment != active:  # its programs run in that one
        had, has = environment or "no virtual environment", active or "none"
        yield f"The kept server was started with {had} active, this call with {has}: --end it to change."
    if arguments.once and not record.get("once", True):
        yield "The kept server was started without --once, and stays when its last program ends: --end it to change."


def _said(result: dict[str, Any]) -> tuple[str, str]:
    """Return the sentence and the code of a tool's error, which stand in its text."""
    text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
    try:
        error = json.loads(text)["error"]
        return str(error["message"]), str(error["code"])
    except (ValueError, KeyError, TypeError):  # of the SDK, or of a later version
        return text, "failed"


def _list(arguments: argparse.Namespace, place: Place, as_json: bool) -> int:
    if arguments.tool is not None and not _may_have(arguments.tool, place):
        return _no_tool(arguments.tool, as_json)
    with _reach(arguments, place) as conversation:
        named = {} if arguments.tool is None else {"name": arguments.tool}
        tools = conversation.request("tools/list", named)["tools"]
    if arguments.tool is None:
        return _show({tool["name"]: tool["description"].partition("\n")[0] for tool in tools}, as_json)
    tool = next((tool for tool in tools if tool["name"] == arguments.tool), None)
    if tool is None:
        return _no_tool(arguments.tool, as_json)
    parameters, required = tool["inputSchema"].get("properties", {}), tool["inputSchema"].get("required", [])
    if not as_json:
        from trio_debugmcp.cli._answer_lines import parameter_line

        parameters = {name: parameter_line(schema, name in required) for name, schema in parameters.items()}
        return _show({"description": tool["description"], "parameters": parameters}, as_json)
    needed = {"required": required} if required else {}
    return _show({"description": tool["description"], "parameters": parameters, **needed}, as_json)


def _status(place: Place) -> dict[str, Any]:
    conversation = connected(place)
    projects = other_projects(place)
    others = {"otherProjects": projects} if projects else {}
    if conversation is None:
        lost = {"reachable": False, "problem": _unreachable(place)} if place.is_served() else {}
        return {"kept": bool(lost), "project": place.project, **lost, **others}
    with conversation:
        state = conversation.request("tools/call", {"name": "debug_state", "arguments": {}})
    record = place.record() or {}
    url = record.get("url")
    shown: dict[str, Any] = {
        name: record[name] for name in ("pid", "python", "since", "version", "idleSeconds", "once") if name in record
    }
    page = {"page": f"{url}#token={record['observe']}", "pageRole": "observe"} if url else {}
    now = {"now": state.get("structuredContent")}
    return {"kept": True, "project": place.project, **shown, **page, "log": place.log, **now, **others}


def _stops(place: Place, *, follow: bool) -> int:
    """Print the present stop, or each that comes: what hooks and monitors of hosts show an agent."""
    from trio_debugmcp.cli._output import visible, write_line
    from trio_debugmcp.kept.stops import present_stop, stops

    try:
        for line in stops(place) if follow else filter(None, [present_stop(place)]):
            write_line(visible(line))
    except KeyboardInterrupt:
        pass
    return DONE


def _unreachable(place: Place) -> str:
    """Return why a server that is there cannot be reached, and what ends it."""
    pid = (place.record() or {}).get("pid")
    by_hand = f"kill {pid} ends it" if isinstance(pid, int) else "it ends half an hour after its last call"
    return f"The kept server runs, but its socket {place.socket} was removed: {by_hand}, then a call starts another."


def _end(place: Place, as_json: bool) -> int:
    conversation = connected(place)
    if conversation is None and place.is_served():
        return _failed(_unreachable(place), "failed", FAILED, as_json)
    if conversation is None:
        return _show({"ended": False, "kept": False, "project": place.project}, as_json)
    with conversation:
        pid = conversation.server_pid() or (place.record() or {}).get("pid")
        if not isinstance(pid, int):
            raise UsageError("failed", f"It is not known which process serves {place.socket}.")
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + END_SECONDS
        conversation.wait_closed(END_SECONDS)
    while not process_ended(pid):
        if time.monotonic() > end:
            return _failed(f"Process {pid} has not ended within {END_SECONDS:g} s.", "failed", FAILED, as_json)
        time.sleep(0.02)
    return _show({"ended": True, "project": place.project}, as_json)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError("usage", "The current directory was removed: change to another one.") from None


def _read(name: str) -> str:
    if name == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return sys.stdin.read()
    with open(name, encoding="utf-8") as file:
        return file.read()


def _show(answer: dict[str, Any], as_json: bool) -> int:
    from trio_debugmcp.cli._output import compact, visible, write_line

    if as_json:
        write_line(compact(answer))
    else:
        from trio_debugmcp.cli._answer_lines import answer_lines

        write_line(visible("\n".join(answer_lines(answer))))
    return DONE


def _failed(message: str, code: str, exit_code: int, as_json: bool) -> int:
    from trio_debugmcp.cli._output import visible, write_error

    if as_json:
        write_error(code, message)
    else:
        print(visible(message), file=sys.stderr)
    return exit_code
