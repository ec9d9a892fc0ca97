"""How to serve: what the command line, a recording or a test says to `open_app` and to `serve`."""

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.kept.place import KeptProject
from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.server.clients import LINGER_SECONDS
from trio_debugmcp.server.early_answers import Early
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.transports.connection_tap import ConnectionTap

if TYPE_CHECKING:
    from trio_debugmcp.recording.recorder import Recorder
    from trio_debugmcp.replay.replaying import Replay
    from trio_debugmcp.transports.gate import AllowedHost


class Options(Struct, frozen=True):
    """How to serve: the debugger's settings, which tools to offer, and times in seconds.

    `quiet` and `max_wait` are for publishing; `linger` is how long a session outlives the client that used it. `tap`
    stands between the clients and the server; a recorder or a replay is the settings' `host` as well: see `recorded`
    and `replayed`.
    """

    settings: Settings = Settings()
    quiet: float = QUIET_SECONDS
    max_wait: float = MAX_WAIT_SECONDS
    core_tools_only: bool = False
    linger: float = LINGER_SECONDS
    tap: ConnectionTap = ConnectionTap()

    def recorded(self, recorder: "Recorder") -> "Options":
        """Make a copy of these options that records all that crosses the server's edges."""
        return replace(self, tap=recorder, settings=replace(self.settings, host=recorder))

    def replayed(self, replay: "Replay") -> "Options":
        """Make a copy of these options that replays a recording."""
        return replace(self, tap=replay, settings=replace(self.settings, host=replay.host))


class Address(Struct, frozen=True):
    """Where to listen; port 0 picks a free one."""

    host: str
    port: int


class Network(Struct, frozen=True):
    """The transports to serve on, and the tokens that admit clients; `certificate` is its file and that of the key.

    `allowed`: names beside our own under which clients reach the ports for WebSocket and HTTP. `page_sources`: the
    files of the dashboard are served one by one, as they are. `early` has served standard input and output until now,
    with its answers.
    """

    stdio: bool = True
    kept: KeptProject | None = None
    websocket: Address | None = None
    http: Address | None = None
    dap: Address | None = None
    tokens: Tokens | None = None
    certificate: tuple[str, str] | None = None
    allowed: "tuple[AllowedHost, ...]" = ()
    page_sources: bool = False
    early: Early | None = None
