"""The start of the engine in a program, and its parts put together.

    begin({"host": "127.0.0.1", "port": 40123, "token": "…"})

The main thread dials in, and serves the debugger's requests until the program may run. From then on a thread of ours
does that, of which the program's `threading` knows nothing.
"""

import _thread
import posix
import sys
from typing import Any

from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.breakpoint_calls import BreakpointCalls
from trio_debugmcp.engine.inside.carrying_home import CarryingHome
from trio_debugmcp.engine.inside.door_connection import DoorConnection, connect
from trio_debugmcp.engine.inside.evaluating_requests import EvaluatingRequests
from trio_debugmcp.engine.inside.event_dispatch import EventDispatch
from trio_debugmcp.engine.inside.exception_stops import ExceptionStops
from trio_debugmcp.engine.inside.followed_children import Children
from trio_debugmcp.engine.inside.function_breakpoints import FunctionBreakpoints
from trio_debugmcp.engine.inside.held_threads import HeldThreads
from trio_debugmcp.engine.inside.line_breakpoints import LineBreakpoints
from trio_debugmcp.engine.inside.looking_requests import LookingRequests
from trio_debugmcp.engine.inside.monitoring import MonitoringTool
from trio_debugmcp.engine.inside.moving_requests import MovingRequests
from trio_debugmcp.engine.inside.pauses import Pauses
from trio_debugmcp.engine.inside.printed_output import PrintedOutput
from trio_debugmcp.engine.inside.probe_host import EngineDebugger
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.program_sources import ProgramSources
from trio_debugmcp.engine.inside.reader_thread import ReaderThread
from trio_debugmcp.engine.inside.recording_requests import RecordingRequests, end_recording
from trio_debugmcp.engine.inside.reported_modules import ReportedModules
from trio_debugmcp.engine.inside.request_table import RequestTable
from trio_debugmcp.engine.inside.starting_requests import StartingRequests, greet
from trio_debugmcp.engine.inside.statement_beginnings import StatementBeginnings
from trio_debugmcp.engine.inside.steps import Steps
from trio_debugmcp.engine.inside.stop_answers import StopAnswers
from trio_debugmcp.engine.inside.stop_frames import StopFrames
from trio_debugmcp.engine.inside.thread_evaluations import ThreadEvaluations
from trio_debugmcp.engine.inside.thread_records import ThreadRecords
from trio_debugmcp.engine.inside.value_requests import ValueRequests
from trio_debugmcp.probe.inside.debugger import attached

_get_ident = _thread.get_ident
_start = _thread.start_new_thread
_modules = sys.modules

_SERVED: Any = (MovingRequests, LookingRequests, EvaluatingRequests, ValueRequests, RecordingRequests)

_FETCHED = "<fetched>"
"""In place of the directory of an engine that the program has fetched: it has none."""


class Engine:
    """The debugger inside this process.

    Attributes:
        threads, events, files, held, steps, breakpoints, frames: its parts, each of which owns what its name says.
    """

    def __init__(self, connection: DoorConnection, given: dict[str, Any], main: int) -> None:
        self.connection = connection
        self.printed, self._children = PrintedOutput(self._report_printed), _children(given)
        self.threads = ThreadRecords(main)
        self.events = MonitoringTool()
        self.files = ProgramFiles(str(given["home"] or _FETCHED))
        attention = Attention()
        self.steps = Steps(self.events, attention, self.files)
        self.stop_answers = answers = StopAnswers(self)
        self.held = HeldThreads(self.threads, self.events, attention, answers.announce, answers.miss)
        self.breakpoint_calls = BreakpointCalls(self.threads, self.held, self.events, attention, self.files)
        self.evaluations = ThreadEvaluations(self.threads, self.held)
        self.pid, self.parent = posix.getpid(), self._children.parent_now()
        self.token = str(given["token"])
        self.breakpoints = LineBreakpoints(self.events, self.files, self.threads.tops, self._report_error)
        self.functions = FunctionBreakpoints(self.events)
        self.exceptions = ExceptionStops(self.files)
        self.pauses = Pauses(self.events, attention, self.files, self.threads)
        self.held.at_stop, self.held.is_sending = self._settle, connection.is_sending
        self.sources = ProgramSources(self.files)
        self.frames = StopFrames(self.threads, self.files, self.sources)
        self.modules = ReportedModules(self.event)
        self.dispatch = EventDispatch(
            self.threads,
            self.events,
            attention,
            self.held,
            self.steps,
            self.breakpoints,
            self.functions,
            self.exceptions,
            self.pauses,
            self.breakpoint_calls,
            StatementBeginnings(self.sources),
        )
        self.requests = RequestTable(connection)
        self.reader = ReaderThread(connection, self._serve, self.leave, self.threads.own)
        self.starting = StartingRequests(self)
        for served in (self.starting, *(kind(self) for kind in _SERVED)):
            served.add_to(self.requests)
        attached.attach(EngineDebugger(self))

    def event(self, name: str, body: Any = None, sent: list[bool] | None = None, *, is_last: bool = False) -> None:
        """Send an event of DAP to the debugger. `sent`, `is_last`: as of `DoorConnection.send`."""
        message = {"type": "event", "event": name}
        self.connection.send(message if body is None else {**message, "body": body}, sent=sent, is_last=is_last)

    def _report(self, category: str, text: str) -> None:
        self.event("output", {"category": category, "output": text})

    def _report_printed(self, category: str, text: str) -> None:
        self.event("output", {"category": category, "output": text}, is_last=True)

    def _report_error(self, text: str) -> None:
        self._report("stderr", text)

    def _settle(self) -> None:
        """A thread has its turn to stop: what was to lead to a stop is done with, and who ends it is to be heard."""
        self.steps.end()
        self.pauses.end()
        self.reader.resume()

    def serve_until_configured(self) -> bool:
        """Serve requests until the program may run; False if the debugger has gone before."""
        while not self.starting.is_configured:
            message = self.connection.receive()
            if message is None:
                return False
            self.requests.serve(message)
        return True

    def run(self) -> None:
        """Begin to watch the program, and to serve requests beside it."""
        self.events.open(self.dispatch.callbacks())
        self.breakpoint_calls.begin()
        self.reader.start()

    def _serve(self, message: Any) -> bool:
        self.requests.serve(message)
        return not self.starting.is_over

    @property
    def is_over(self) -> bool:
        """Whether the debugger is gone."""
        return self.starting.is_over or not self.connection.is_open

    def forget_parent(self) -> None:
        """Leave what belongs to the process that this one is a fork of, but for the connection."""
        self.breakpoint_calls.end()
        self.events.close_in_fork()
        self.held.is_over = True

    def leave(self) -> None:
        """Let the program run on without a debugger, and leave nothing behind."""
        self.starting.is_over = True
        self.printed.end()
        end_recording("the debugger has left")
        self._children.leave_alone()
        self.breakpoint_calls.end()
        self.events.close()
        self.held.end()
        self.connection.close()


def begin(given: dict[str, Any]) -> None:
    """Start the engine in the main thread; without a debugger at the address, do nothing."""
    _begin_in(_get_ident(), given)


def begin_here(given: dict[str, Any]) -> None:
    """Start the engine in a program that runs already, in any of its threads, which waits until it may continue."""
    module = _modules.get("threading")
    thread = vars(module).get("_main_thread") if module is not None else None
    ident = vars(thread).get("_ident") if thread is not None else None
    _begin_in(ident or _get_ident(), given)


def begin_late(given: dict[str, Any]) -> None:
    """Start the engine in a program that runs already, whose main thread calls this; it does not wait here."""
    main = _get_ident()
    _start(lambda: _begin_in(main, given, beside=True), ())


def _begin_in(main: int, given: dict[str, Any], beside: bool = False) -> None:
    """Dial in, and begin when the debugger lets the program run. `beside`: in a thread of ours, which ends then."""
    connection = connect(given["host"], given["port"], given.get("pin", ""))
    if connection is None:
        return
    greet(connection, str(given["token"]), _children(given).parent_now())
    engine = Engine(connection, given, main)
    if beside:
        engine.threads.own.add(_get_ident())
    try:
        if engine.serve_until_configured() and not engine.starting.is_over:
            engine.run()
            _children(given).watch(engine, lambda: begin(given))
            if not engine.starting.follows_children:
                _children(given).leave_alone()
        else:
            connection.close()
    finally:
        engine.threads.own.discard(_get_ident())


_one: list[Children] = []


def _children(given: dict[str, Any]) -> Children:
    """Return what follows the children of this process, and of its forks."""
    if not _one:
        _one.append(Children(CarryingHome(given)))
    return _one[0]
