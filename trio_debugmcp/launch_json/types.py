"""What the keys of each `type` of configuration mean, in the words that most of them share.

A translation renames keys of one type's to `program`, `args`, `cwd`, `env`, `stopOnEntry`, `processId`, `host` and
`port`, drops what only an editor needs, and refuses what cannot be had. All other keys are the adapter's own.
"""

import os.path
import re
from collections.abc import Callable, Mapping

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.keys import Keys

BROWSERS = frozenset(
    {"chrome", "pwa-chrome", "msedge", "pwa-msedge", "edge", "firefox", "safari", "brave", "ios", "blazorwasm"}
)
"""Types that debug a page in a browser."""

_OF_NO_ADAPTER = (
    *("name", "type", "request", "presentation", "serverReadyAction", "preLaunchTask", "postDebugTask"),
    *("internalConsoleOptions", "linux", "osx", "windows", "suppressMultipleSessionWarning", "debugServer"),
    *("console", "externalConsole", "integratedTerminal", "terminal", "terminalKind", "consoleTitle", "consoleName"),
    *("redirectOutput", "outputCapture", "internalConsole", "noDebug"),
)
"""Keys that the editor takes for itself; among them how the program's streams are connected, which are ours here."""


def translate(keys: Keys, type_: str, request: str, folder: str) -> tuple[str, ...]:
    """Bring the keys of a configuration into the shared words; return the types to find its adapter by.

    Raises:
        UsageError: `NOT_SUPPORTED` or `INVALID_PARAMETER`.
    """
    keys.refuse("debugServer", "a debug adapter that already runs at a port cannot be used; leave the key out")
    if keys.left.get("noDebug"):
        keys.notes.append("`noDebug` is passed over: the program runs under the debugger")
    translation = _TRANSLATIONS.get(type_)
    return (type_,) if translation is None else translation(keys, request, folder)


def drop_of_no_adapter(keys: Keys) -> None:
    """Pass over the keys that no adapter reads."""
    keys.drop(*_OF_NO_ADAPTER)


# --- Python -----------------------------------------------------------------------------------------------------------


def _python(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    keys.refuse("listen", "waiting for a program that connects is the tool debug_listen")
    keys.refuse("sudo", "a program cannot be run as root; start the server as root, or attach to the program")
    if keys.left.pop("gevent", None):
        keys.left["env"] = {"GEVENT_SUPPORT": "True", **(keys.left.get("env") or {})}
    connect = keys.table("connect")
    for name in ("host", "port"):
        if name in connect:
            keys.left[name] = connect[name]
    keys.drop("purpose", "autoStartBrowser")
    return ("debugpy", "python")


_OF_A_SHELL = re.compile(r"[|&;<>()$`*?~=]")
"""What only a shell understands in a command line."""


# --- JavaScript -------------------------------------------------------------------------------------------------------


def _node(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    if request == "attach":
        keys.rename("address", "host")
    elif "program" not in keys and keys.left.get("stopOnEntry") is not False:
        keys.notes.append("what `runtimeExecutable` runs does not stop at its entry: set breakpoints")
    keys.refuse("useWSL", "there is no Windows Subsystem for Linux here")
    return ("node", "pwa-node")


def _node_terminal(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    """A command line that runs node, for example `npm run dev`."""
    command = keys.text("command") or ""
    if _OF_A_SHELL.search(command):
        keys.left.update(runtimeExecutable="/bin/sh", runtimeArgs=["-c", command])
    else:
        keys.left["command"] = command
        first, *others = keys.texts("command") or ("",)
        keys.left.update(runtimeExecutable=first, runtimeArgs=others)
    return _node(keys, request, folder)


# --- Machine code -----------------------------------------------------------------------------------------------------

_ONLY_OF_CPPDBG = (
    *("logging", "symbolSearchPath", "additionalSOLibSearchPath", "symbolLoadInfo", "visualizerFile"),
    *("showDisplayString", "targetArchitecture", "avoidWindowsConsoleRedirection", "launchCompleteCommand"),
    *("customLaunchSetupCommands", "postRemoteConnectCommands", "unknownBreakpointHandling", "variables"),
    *("requireExactSource", "useExtendedRemote", "filterStdout", "filterStderr", "serverLaunchTimeout"),
    *("hardwareBreakpoints", "simplifyBreakpoints", "miDebuggerArgs", "miDebuggerPath"),
)


def _cppdbg(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    """Microsoft's C++ debugger, which drives gdb or lldb by their MI; ours speak DAP."""
    mode = keys.text("MIMode") or "gdb"
    if mode not in ("gdb", "lldb"):
        raise keys.wrong("MIMode", '"gdb" or "lldb"', mode)
    keys.refuse("pipeTransport", "a debugger on another machine cannot be run; start gdbserver there, and attach to it")
    keys.refuse("debugServerPath", "start that debug server yourself, or in a `preLaunchTask`")
    if keys.left.get("coreDumpPath"):  # an empty one is what the editor's completion leaves
        keys.left["request"] = "attach"
        keys.rename("coreDumpPath", "coreFile")
    keys.drop("coreDumpPath")
    keys.drop("debugServerArgs", "serverStarted")
    if "miDebuggerServerAddress" in keys:
        _attach_to_server(keys, "miDebuggerServerAddress")
    keys.rename("stopAtEntry", "stopOnEntry")
    keys.rename("stopAtConnect", "stopOnEntry")
    if "environment" in keys:
        keys.left["env"] = keys.environment("environment")
    _map_sources(keys, mode)
    _pass_over_setup(keys, mode)
    if keys.left.get("miDebuggerPath") in ("gdb", "/usr/bin/gdb", "lldb-mi"):  # which every new launch.json has
        keys.drop("miDebuggerPath")
    passed = [name for name in _ONLY_OF_CPPDBG if keys.left.pop(name, None) not in (None, "", [], {}, False)]
    if passed:
        keys.notes.append(f"passed over, as {mode} is used without cppdbg: {', '.join(sorted(passed))}")
    return ("gdb",) if mode == "gdb" else ("lldb-dap", "lldb")


def _map_sources(keys: Keys, mode: str) -> None:
    """Say where sources are in the words of lldb-dap; gdb's DAP has none for it."""
    mapped = keys.table("sourceFileMap")
    places = {there: place.get("editorPath") if isinstance(place, dict) else place for there, place in mapped.items()}
    if places and mode == "gdb":
        keys.notes.append(f"sourceFileMap is passed over, which gdb cannot be given here: {', '.join(places)}")
    elif places:
        keys.left["sourceMap"] = [[there, here] for there, here in places.items()]


def _pass_over_setup(keys: Keys, mode: str) -> None:
    """Drop the commands that prepare the debugger; pretty printing, which most have, is on anyway."""
    commands = keys.take("setupCommands") or []
    texts = (
        [str(command.get("text")) for command in commands if isinstance(command, dict)]
        if isinstance(commands, list)
        else []
    )
    others = [text for text in texts if "pretty-print" not in text]
    if others:
        keys.notes.append(f"setupCommands are passed over, as {mode} is used without cppdbg: {'; '.join(others)}")


def _gdb(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    """gdb: as its own DAP has it, or as the extension Native Debug."""
    if request == "launch":
        keys.rename("target", "program")
    elif keys.left.get("remote"):
        keys.rename("executable", "program")
        _attach_to_server(keys, "target")
    else:
        keys.rename("executable", "program")
        keys.rename("target", "processId")
    keys.rename("arguments", "args")
    keys.rename("stopAtEntry", "stopOnEntry")
    keys.rename("stopAtBeginningOfMainSubprogram", "stopOnEntry")
    keys.rename("pid", "processId")
    commands = keys.texts("autorun") if isinstance(keys.left.get("autorun"), list) else ()
    if commands:
        keys.notes.append(f"`autorun` is passed over: {'; '.join(commands)}")
    path = keys.take("gdbpath")
    if path:
        keys.notes.append(f"gdbpath '{path}' is passed over; set GDB_PATH for the server to use that one")
    keys.drop("valuesFormatting", "printCalls", "showDevDebugOutput", "autorun", "remote", "frameFilters")
    return ("gdb",)


def _lldb(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    """CodeLLDB; `pid` and `program` are its words for what it attaches to."""
    keys.rename("pid", "processId")
    if keys.left.get("waitFor"):
        keys.refuse("waitFor", "a process that does not run yet cannot be attached to; launch it")
    return ("lldb", "lldb-dap")


def _lldb_dap(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    keys.rename("pid", "processId")
    keys.drop("runInTerminal")
    return ("lldb-dap",)


def _attach_to_server(keys: Keys, key: str) -> None:
    """Attach to what a gdbserver or the like runs; the type calls that a launch, too."""
    address = (keys.text(key) or "").removeprefix("extended-remote ").removeprefix("tcp:")
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        raise keys.wrong(key, "HOST:PORT", address)
    keys.left.update(request="attach", port=int(port), host=host or "localhost")


# --- Others -----------------------------------------------------------------------------------------------------------


def _go(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    mode, program = keys.left.get("mode") or "auto", keys.left.get("program")
    keys.drop("showLog", "logOutput", "logDest", "trace", "debugAdapter", "dlvFlags", "dlvToolPath", "dlvLoadConfig")
    keys.drop("hideSystemGoroutines", "showGlobalVariables", "apiVersion")
    keys.refuse("asRoot", "a program cannot be run as root; start the server as root, or attach to the program")
    if request != "launch" or not isinstance(program, str):
        return ("go",)
    package = os.path.dirname(program) if program.endswith(".go") or mode in ("exec", "core", "replay") else program
    keys.left.setdefault("cwd", package)  # of the program, unlike for other types
    is_test = mode == "test" or (mode == "auto" and program.endswith("_test.go"))
    if mode in ("auto", "debug", "test") and ("buildFlags" in keys or (is_test and not program.endswith("_test.go"))):
        # Only dlv knows how to build it; it does so in the package's directory.
        keys.left["mode"] = "test" if is_test else "debug"
        keys.left.setdefault("dlvCwd", package)
    elif mode in ("auto", "debug", "test", "exec"):
        keys.drop("mode")  # a source file or package is built
    return ("go",)


def _rdbg(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    keys.rename("script", "program")
    if request == "launch":
        _run_by_command(keys)
    if request == "attach" and "debugPort" in keys:
        # A port, or a host with one; a path is a socket's.
        where = str(keys.take("debugPort"))
        host, _, port = where.rpartition(":")
        if not port.isdecimal():
            raise UsageError(
                "NOT_SUPPORTED", f"debugPort '{where}': only a port can be attached to. Start rdbg with --port."
            )
        keys.left["port"] = int(port)
        if host:
            keys.left["host"] = host
    keys.drop("askParameters", "rdbgPath", "showProtocolLog", "waitLaunchTime", "autoAttach")
    return ("rdbg",)


def _run_by_command(keys: Keys) -> None:
    """Run the script by what `command` says, for example `bin/rails`; that is a script, too."""
    if keys.left.pop("useBundler", None):  # which is what `bundle exec` does
        keys.left["env"] = {"RUBYOPT": "-rbundler/setup", **(keys.left.get("env") or {})}
    words = [text for text in keys.texts("command") if text not in ("bundle", "exec", "ruby")]
    if not words:
        return
    if "/" not in words[0]:
        raise UsageError(
            "NOT_SUPPORTED", f"command '{words[0]}': only a script can be run. Pass its path, for example bin/rails."
        )
    script = [keys.take("program")] if "program" in keys else []
    keys.left.update(program=words[0], args=[*words[1:], *script, *keys.texts("args")])


def _java(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    keys.rename("hostName", "host")
    keys.drop("projectName", "shortenCommandLine", "encoding", "stepFilters", "modulePaths")
    main, class_paths = keys.left.get("mainClass"), keys.texts("classPaths")
    if isinstance(main, str) and main.endswith((".java", ".class", ".jar")):
        keys.left["program"] = keys.take("mainClass")
    elif request == "launch" and main:
        paths = [entry for path in class_paths or ("$Auto",) for entry in (_CLASSES if path in _AUTOMATIC else (path,))]
        kept = [os.path.normpath(os.path.join(folder, path)) for path in paths if not path.startswith("!")]
        keys.left.setdefault("classpath", ":".join(dict.fromkeys(kept)))
    return ("java",)


_AUTOMATIC = ("$Auto", "$Runtime", "$Test")
"""Class paths that the editor's extension knows."""

_CLASSES = (
    "target/classes",
    "target/test-classes",
    "build/classes/java/main",
    "build/classes/java/test",
    "bin",
    "out",
    ".",
)
"""Where Maven, Gradle, Eclipse and javac put classes, below the folder; what is not there is passed over by Java."""


def _perl(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    keys.drop("reloadModules", "debugLog", "perlCmd")
    return ("perl",)


def _bash(keys: Keys, request: str, folder: str) -> tuple[str, ...]:
    own = ("pathBash", "pathBashdb", "pathBashdbLib", "pathCat", "pathMkfifo", "pathPkill", "showDebugOutput", "trace")
    keys.drop(*own)
    keys.rename("argsString", "args")
    return ("bashdb",)


_TRANSLATIONS: Mapping[str, Callable[[Keys, str, str], tuple[str, ...]]] = {
    "python": _python,
    "debugpy": _python,
    "node": _node,
    "pwa-node": _node,
    "node-terminal": _node_terminal,
    "cppdbg": _cppdbg,
    "gdb": _gdb,
    "lldb": _lldb,
    "lldb-dap": _lldb_dap,
    "go": _go,
    "rdbg": _rdbg,
    "java": _java,
    "perl": _perl,
    "bashdb": _bash,
}
