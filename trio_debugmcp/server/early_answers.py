"""Answers to the first requests of a client, given before the SDK is there: its import takes a second.

    answers = EarlyAnswers(core_only=True)
    answers.answer(line)           # EarlyAnswer(id=1, text=b'{"jsonrpc":"2.0","id":1,"result":{…}}'), or None
    answers.know_tools(tools)      # the answers to the requests for the list that have come before

Answered are `initialize`, `server/discover`, `ping`, and in the handshake era `tools/list`, in the bytes in which the
SDK's server answers them: it is given the requests later, and its answers are not sent (`transports/stdio.py`).
Whatever is not exactly as expected is left to it. Imports no SDK.
"""

import threading
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from trio_debugmcp.server.call_result import ListedTool
from trio_debugmcp.server.declared import CAPABILITIES, CARDS_EXTENSION, EXTENSIONS, SERVER_INFO
from trio_debugmcp.server.instructions import instructions_for
from trio_debugmcp.transports.early_stdio import EarlyAnswer, EarlyStdio

_HANDSHAKE_VERSIONS = Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

_MODERN_VERSION = Literal["2026-07-28"]


class _Strict(Struct, forbid_unknown_fields=True, rename="camel"):
    pass


class _Icon(_Strict):
    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None


class _Implementation(_Strict):
    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[_Icon] | None = None


class _Roots(_Strict):
    list_changed: bool | None = None


class _Nothing(_Strict):
    pass


class _Sampling(_Strict):
    context: _Nothing | None = None
    tools: _Nothing | None = None


class _Elicitation(_Strict):
    form: _Nothing | None = None
    url: _Nothing | None = None


class _ClientCapabilities(_Strict):
    experimental: dict[str, dict[str, Any]] | None = None
    extensions: dict[str, dict[str, Any]] | None = None
    roots: _Roots | None = None
    sampling: _Sampling | None = None
    elicitation: _Elicitation | None = None


class _Handshake(_Strict):
    protocol_version: _HANDSHAKE_VERSIONS
    capabilities: _ClientCapabilities
    client_info: _Implementation


class _Envelope(Struct, forbid_unknown_fields=True):
    version: _MODERN_VERSION = field(name="io.modelcontextprotocol/protocolVersion")
    capabilities: _ClientCapabilities = field(name="io.modelcontextprotocol/clientCapabilities")
    client: _Implementation | None = field(default=None, name="io.modelcontextprotocol/clientInfo")


class _Discovery(Struct, forbid_unknown_fields=True):
    meta: _Envelope = field(name="_meta")


class _Initialize(Struct, tag_field="method", tag="initialize", forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Handshake


class _Discover(Struct, tag_field="method", tag="server/discover", forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Discovery


class _Ping(Struct, tag_field="method", tag="ping", forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Nothing = field(default_factory=_Nothing)


class _Initialized(Struct, tag_field="method", tag="notifications/initialized", forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]


class _ListTools(Struct, tag_field="method", tag="tools/list", forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int | str
    params: _Nothing = field(default_factory=_Nothing)


class EarlyAnswers:
    """What is answered of one conversation, whose lines are given one after the other.

    Args:
        core_only: as for the toolbox.
    """

    def __init__(self, *, core_only: bool) -> None:
        self._instructions = instructions_for(core_only=core_only)
        self._lines = 0
        self._plain = False
        self._greeted = self._ready = False
        self._tools: msgspec.Raw | None = None
        self._waiting: list[int | str] = []
        self._lock = threading.Lock()
        self._decoder = msgspec.json.Decoder(_Initialize | _Discover | _Ping | _Initialized | _ListTools)
        self._encoder = msgspec.json.Encoder()

    def __repr__(self) -> str:
        return f"<EarlyAnswers after {self._lines} lines>"

    def answer(self, line: bytes) -> EarlyAnswer | None:
        """Return the answer to a line; None if it is for the SDK to answer, or none is due."""
        self._lines += 1
        try:
            request = self._decoder.decode(line)
        except (msgspec.DecodeError, ValueError, RecursionError):  # of any line that is not one of these
            return None
        match request:
            case _Initialize() if self._lines == 1:
                self._greeted = True
                extensions = request.params.capabilities.extensions or {}
                self._plain = CARDS_EXTENSION not in extensions  # a host with cards gets another list
                return self._answer(request.id, self._handshake(request.params.protocol_version))
            case _Discover() if self._lines == 1:
                return self._answer(request.id, self._discovery())
            case _Ping() if self._greeted:
                return self._answer(request.id, {})
            case _Initialized() if self._greeted:
                self._ready = True
            case _ListTools() if self._ready and self._plain:
                with self._lock:
                    if self._tools is not None:
                        return self._answer(request.id, {"tools": self._tools})
                    self._waiting.append(request.id)
        return None

    def know_tools(self, tools: Sequence[ListedTool]) -> list[EarlyAnswer]:
        """Answer requests for the list of tools from now on; return the answers to those that have come already.

        Called in another thread than `answer`.
        """
        with self._lock:
            self._tools = msgspec.Raw(self._encoder.encode(tools))
            waiting, self._waiting = self._waiting, []
            return [self._answer(request_id, {"tools": self._tools}) for request_id in waiting]

    def _answer(self, request_id: int | str, result: dict[str, Any]) -> EarlyAnswer:
        text = self._encoder.encode({"jsonrpc": "2.0", "id": request_id, "result": result})
        return EarlyAnswer(request_id, text)

    def _handshake(self, version: str) -> dict[str, Any]:
        return {
            "capabilities": {**CAPABILITIES, "extensions": EXTENSIONS},
            "instructions": self._instructions,
            "protocolVersion": version,
            "serverInfo": dict(sorted(SERVER_INFO.items())),
        }

    def _discovery(self) -> dict[str, Any]:
        return {
            "cacheScope": "private",
            "capabilities": dict(sorted({**CAPABILITIES, "extensions": EXTENSIONS}.items())),
            "instructions": self._instructions,
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "ttlMs": 0,
            "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO},
        }


Early = tuple[EarlyStdio, EarlyAnswers]
"""What serves standard input and output until the server is imported, and what it answers."""
