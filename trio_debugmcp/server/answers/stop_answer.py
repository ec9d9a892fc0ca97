"""`StopAnswer`, the answer of every tool that moves the program: all that is needed to decide what to do next.

`answers/stop.py` makes it.
"""

from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.stop_data import StopData

FRAMES_BELOW = 5
"""Frames below the current one: enough to see how execution got here."""

EXCERPT_LINES = 2
"""Lines of source on either side of the current one."""


class StopAnswer(Answer, frozen=True, kw_only=True):
    """Where the program is now. `state`: Paused, Running or Disconnected; `reason` as pauseReason, or Exited.

    `stack`: the top frames below `at`; `omitted`: how many of what were left out; `notes`: what is not expected.
    `globals`: those that the statement at hand reads, without modules, classes and functions.
    `operands`: of the assertion that failed, but those that are locals. `tasks`: of asyncio and Trio, where loops wait.
    `says`: what the program or its debug adapter says of the stop: no words of this server.
    `engine`: what debugs a launched program, if that is not the default of its Python. `run`: as which it is recorded.
    `labels`: what tells its process from its siblings. `moment`: which stop it is, for cards; not in the answer itself.
    """

    full: StopData | None = None
    state: str
    reason: str | None = None
    breakpoints: tuple[str, ...] = ()
    exception: str | None = None
    mode: str | None = None
    caught_by: str | None = None
    handling: str | None = None
    says: str | None = None
    causes: list[str] = []
    operands: dict[str, str] = {}
    thread: str | None = None
    at: str | None = None
    stack: list[str] = []
    changed: dict[str, str] = {}
    returned: dict[str, str] = {}
    yielded: dict[str, str] = {}
    locals: dict[str, str] = {}
    globals: dict[str, str] = {}
    source: str | None = None
    instruction: str | None = None
    show: dict[str, str] = {}
    stdout: str = ""
    stderr: str = ""
    log: str = ""
    console: str = ""
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    threads: list[str] = []
    tasks: list[str] = []
    listening: str | None = None
    sessions: list[str] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []
    session: str | None = None
    labels: str | None = None
    pid: int | None = None
    engine: str | None = None
    run: str | None = None
    moment: str | None = None
