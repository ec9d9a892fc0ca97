"""`Settings`: what the person who starts the server decides about debugging."""

from collections.abc import Callable

from msgspec import Struct

from trio_debugmcp.dap.profiles import PROFILES
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.engine import WantedEngine
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.session.host import Host

MAX_GUESTS = 1000
"""Programs that have dialed in by themselves; each is a session, with some tasks and less than a hundred KB."""


class Settings(Struct, frozen=True):
    """What the person who starts the server decides. `roots` empty: programs and sources may be anywhere.

    `host`: this machine, a recorder in front of it, or a replay in its place. `max_guests`: programs that have
    dialed in by themselves and are debugged at a time. `show_secrets`: clients see keys and passwords as they are.
    `allow_build`: programs are built, and tasks run, on a server with roots, too. `patience`: with every peer that
    owes an answer. `engine`: of Python programs whose launch does not say which. `observer_token` returns the token
    with which others may observe (a function, so that no representation has it); None where no page is served.
    `certificate`: the files of a certificate and its key, for the port where programs dial in; None: without TLS,
    unless a client asks for it. `project_file`: where the last launch and the breakpoints are kept for the next server;
    None: nowhere.
    """

    directory: str = "."
    roots: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = PROFILES
    host: Host = Host()
    max_guests: int = MAX_GUESTS
    show_secrets: bool = False
    allow_build: bool = False
    patience: Patience = USUAL
    engine: WantedEngine = "auto"
    project_file: str | None = None
    certificate: tuple[str, str] | None = None
    observer_token: Callable[[], str] | None = None
