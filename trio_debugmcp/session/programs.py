"""`Programs`: what is debugged at a time, each program with its streams and its sources, and the last ones.

A program is a root session, which was launched or attached to or listens, and the sessions that come from it.

    program = programs.add("s-1", profile, start)
    programs.of("s-1") is program

What has ended is kept until a program is started while no other runs, so that its output can still be read.
"""

from collections.abc import Callable, Hashable, Mapping

from msgspec import Struct

from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Launch, RootStart
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProcessorUse
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.program_at_hand import DebuggedProgram, ProgramAtHand
from trio_debugmcp.session.start import session_active
from trio_debugmcp.state.model import State

MAX_PROGRAMS = 16
"""Programs at a time: each has an adapter, a process, some tasks, and up to 4 MiB of output."""

MAX_ENDED = 4
"""Ended programs whose output is kept; that of one may have 4 MiB."""


MAX_LOOKS = 64
"""Clients of which the last look at all processes is kept; that at a thousand has 0.2 MB."""


class FleetMemory(Struct, frozen=True):
    """What the last look at all processes has seen, `at` that time of Trio's clock, by the ids of their sessions.

    Of the stacks it has a number for each, which says whether the next one is the same: the frames of a thousand would
    be megabytes. None: its stack was not known.
    """

    at: float
    places: Mapping[str, int | None]
    used: Mapping[str, ProcessorUse]


class Programs:
    """The programs of one server: those that are debugged, in the order in which they were started, and the last ones.

    Args:
        state: returns what is true now.
        is_living: whether a session has not ended, by its id.

    Attributes:
        at_hand: the one that a call is about.
    """

    def __init__(
        self,
        state: Callable[[], State],
        is_living: Callable[[str], bool],
        new_console: Callable[[], Console],
        roots: tuple[str, ...],
    ) -> None:
        self._state = state
        self._is_living = is_living
        self._new_console = new_console
        self._roots = roots
        self._programs: dict[str, DebuggedProgram] = {}
        self.at_hand = ProgramAtHand(self._programs, state, new_console(), Sources(roots))
        self._reported: dict[int, set[Hashable]] = {}
        self._looks: dict[Hashable, FleetMemory] = {}

    def __repr__(self) -> str:
        return f"<Programs living={[program.id for program in self.living()]} of {list(self._programs)}>"

    # --- Finding ---------------------------------------------------------------------------------------------

    def living(self) -> list[DebuggedProgram]:
        """Return the programs that are being started or debugged."""
        return [program for program in self._programs.values() if self._is_living(program.id)]

    def of(self, session_id: str) -> DebuggedProgram | None:
        """Return the program that a session belongs to, or did."""
        return next((program for program in self._programs.values() if session_id in program.sessions), None)

    def roots_of(self, session_id: str | None) -> list[str] | None:
        """Return the root session of a session's program, as what a wait is for; None without a session."""
        found = None if session_id is None else self.of(session_id)
        return None if found is None else [found.id]

    def are_of_several_languages(self) -> bool:
        """Return whether it depends on the program which language is meant: several are debugged, and none is named."""
        return self.at_hand.chosen is None and len({program.profile.language for program in self.living()}) > 1

    def sources_with(self, path: str) -> Sources:
        """Return the sources which that path is among; those at hand come first, and if none are, they are returned."""
        everywhere = [self.at_hand.sources, *(program.sources for program in self.living())]
        return next((sources for sources in everywhere if path in sources), everywhere[0])

    def known_sources(self) -> set[str]:
        """Return the paths of the sources of all programs; without any, of the last one."""
        return {
            path
            for sources in [self.at_hand.sources, *(program.sources for program in self.living())]
            for path in sources.known()
        }

    # --- Looks -----------------------------------------------------------------------------------------------

    def last_look(self, reader: Hashable) -> FleetMemory | None:
        """Return what a reader's last look at all processes has seen: the next one says what has changed since."""
        return self._looks.get(reader)

    def keep_look(self, reader: Hashable, memory: FleetMemory) -> None:
        """Keep a reader's look; those of the readers that have not looked for longest are forgotten."""
        self._looks.pop(reader, None)
        self._looks[reader] = memory
        while len(self._looks) > MAX_LOOKS:
            del self._looks[next(iter(self._looks))]

    # --- Stops -----------------------------------------------------------------------------------------------

    def report(self, stop: int, reader: Hashable) -> None:
        """Keep that an answer has shown a stop to a reader; of the stops that are over nothing is kept."""
        current = {snapshot.stop.number for snapshot in self._state().snapshots if snapshot.stop is not None}
        self._reported = {number: known for number, known in self._reported.items() if number in current}
        self._reported.setdefault(stop, set()).add(reader)

    def reported_to(self, reader: Hashable) -> set[int]:
        """Return the stops that an answer has shown to a reader."""
        return {stop for stop, readers in self._reported.items() if reader in readers}

    # --- Starting --------------------------------------------------------------------------------------------

    def check_free(self, *, new_session: bool = False) -> None:
        """Raise unless a program may be started, with `new_session` beside others.

        Raises:
            UsageError: `SESSION_ACTIVE`.
        """
        programs = self.living()
        if new_session:
            if len(programs) >= MAX_PROGRAMS:
                ids = ", ".join(program.id for program in programs)
                raise UsageError(
                    "SESSION_ACTIVE",
                    f"{MAX_PROGRAMS} programs are debugged at a time, and no more. End one of {ids} with "
                    "debug_disconnect(session_id=…).",
                    {"sessions": [program.id for program in programs]},
                )
            return
        starting = next((program for program in programs if not program.start_over.is_set()), None)
        if starting is not None and (len(programs) == 1 or self._state().root is None):
            raise UsageError(
                "SESSION_ACTIVE",
                "Another call is just starting a debug session. See it with debug_state, or end it with replace=true.",
                {"session": self._state().focus},
            )
        if self._state().root is not None:
            raise session_active(self._state())

    def add(self, root_id: str, profile: Profile, start: RootStart, owner: object = None) -> DebuggedProgram:
        """Add a program that is about to be started."""
        added = DebuggedProgram(root_id, profile, start, self._new_console(), Sources(self._roots))
        added.owner = owner
        if isinstance(start, Launch):
            added.console.append("console", start.preface)
            added.sources.learn(start.source or start.program, "")
            code = profile.programs.given_code(start.options)
            if code is not None and profile.programs.code_file is not None:
                added.sources.learn_code(profile.programs.code_file, code)
        self._programs[root_id] = added
        return added

    def started(self, program: DebuggedProgram) -> None:
        """Record that a program was allowed to run; it drops what has ended before, if no other runs."""
        program.was_started = True
        living = self.living()
        ended = [other for other in self._programs.values() if other not in living and other is not program]
        for other in ended if len(living) < 2 else ended[: -MAX_ENDED or None]:
            del self._programs[other.id]
