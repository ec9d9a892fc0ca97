"""The requests at the beginning of a conversation, and at its end."""

import posix
import sys
from typing import Any

from trio_debugmcp.engine.inside.door_connection import DoorConnection
from trio_debugmcp.engine.inside.recording_requests import begin_recording
from trio_debugmcp.engine.inside.request_table import LATER, EngineRequest, RequestRefusedError, RequestTable
from trio_debugmcp.probe.inside.process_marks import marks_json

CAPABILITIES = {
    "supportsCompletionsRequest": True,
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsGotoTargetsRequest": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsModulesRequest": True,
    "supportsSetExpression": True,
    "supportsSetVariable": True,
    "supportsStepInTargetsRequest": True,
    "engineRequests": True,
    "recordsRuns": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "Raised Exceptions", "default": False},
        {"filter": "uncaught", "label": "Uncaught Exceptions", "default": True},
        {"filter": "userUnhandled", "label": "User Uncaught Exceptions", "default": False},
    ],
    "supportsEvaluateForHovers": True,
    "supportsExceptionOptions": True,
    "supportsExceptionInfoRequest": True,
    "supportTerminateDebuggee": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsTerminateRequest": True,
    "supportsValueFormattingOptions": True,
}


class StartingRequests:
    """How the debugger and the engine come together, and part.

    Attributes:
        is_configured: the program may run.
        is_over: the debugger has said goodbye.
        follows_children: children of the program dial in.
    """

    def __init__(self, engine: Any) -> None:
        self.is_configured = False
        self.is_over = False
        self.follows_children = True
        self._engine = engine

    def add_to(self, table: RequestTable) -> None:
        table.add(
            pydevdAuthorize=lambda _: LATER,  # answered by `greet`
            pydevdSystemInfo=lambda _: self._runtime(),
            initialize=lambda _: {**CAPABILITIES, "runtime": self._runtime()},
            launch=self._start,
            attach=self._start,
            configurationDone=self._configuration_done,
            disconnect=self._disconnect,
            terminate=self._terminate,
        )

    def _runtime(self) -> dict[str, Any]:
        """What runs the program, as pydevd says it."""
        version = "{}.{}.{}{}{}".format(*sys.version_info)
        implementation = {"name": sys.implementation.name, "version": version, "description": "CPython"}
        return {
            "python": {"version": version, "implementation": implementation},
            "platform": {"name": sys.platform},
            "process": _process(self._engine.parent),
            "marks": marks_json(),
        }

    def _start(self, request: EngineRequest) -> Any:
        arguments = request.arguments
        taken = self._engine.events.taken()
        if taken:
            raise RequestRefusedError(
                f"other tools of the program ({', '.join(taken)}) use the numbers of sys.monitoring that a debugger "
                "can have: let one free its own with sys.monitoring.free_tool_id, or begin to debug before they do"
            )
        files = self._engine.files
        files.just_my_code = bool(arguments.get("justMyCode", True))
        files.mappings = [
            (str(each["localRoot"]), str(each["remoteRoot"])) for each in arguments.get("pathMappings") or ()
        ]
        files.rules = [
            (str(each["path"]), bool(each["include"]))
            for each in arguments.get("rules") or ()
            if "path" in each and "include" in each
        ]
        files.run_as(_program())
        self.follows_children = arguments.get("subProcess") is not False
        if arguments.get("stopOnEntry"):
            self._engine.pauses.begin_at_entry()
        self._engine.steps.keeps_returned = bool(arguments.get("showReturnValue"))
        if arguments.get("redirectOutput"):
            self._engine.printed.begin()
        if arguments.get("record"):
            begin_recording(arguments["record"], files.home, self._engine.threads.own)
        request.respond()
        process = {
            "name": arguments.get("program") or _program(),
            "systemProcessId": posix.getpid(),
            "isLocalProcess": True,
            "startMethod": request.command,
        }
        self._engine.event("process", process)
        self._engine.event("initialized")
        return LATER

    def _configuration_done(self, request: EngineRequest) -> Any:
        request.respond()
        self._engine.event("thread", {"reason": "started", "threadId": 1})
        self.is_configured = True
        return LATER

    def _disconnect(self, request: EngineRequest) -> Any:
        request.respond()
        self.is_over = True
        if request.arguments.get("terminateDebuggee"):
            self._end_process()
        return LATER

    def _terminate(self, request: EngineRequest) -> Any:
        request.respond()
        self._end_process()
        return LATER

    def _end_process(self) -> None:
        self._engine.connection.close()
        posix._exit(0)


def greet(connection: DoorConnection, token: str, parent: int) -> None:
    """Say who dials in before the debugger asks, which it does first: the engine is made while it gets ready.

    `parent`: the process that this one is a child of.
    """
    body = {"clientAccessToken": token, "process": _process(parent)}
    answer = {"type": "response", "request_seq": 1, "command": "pydevdAuthorize", "success": True}
    connection.send({**answer, "body": body})


def _process(parent: int) -> dict[str, Any]:
    return {"pid": posix.getpid(), "ppid": parent, "executable": sys.executable}


def _program() -> str:
    """Return the file that the interpreter runs, or what it runs as, or itself."""
    words = sys.orig_argv
    for position, word in enumerate(words[1:], 1):
        if word == "-m" and position + 1 < len(words):
            return words[position + 1]
        if word == "-c":
            break
        if not word.startswith("-") and words[position - 1] not in ("-X", "-W"):
            return word
    return sys.executable
