"""Any input on any side: no crash, no hang, no access to other files. In virtual time, and seconds of real time.

The inputs are the same in each run; `--hypothesis-profile long` tries more and others, `scripts/fuzz` is guided by
coverage, or tries others until its time is over.
"""

import json
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz import inputs, sources, targets
from tests.fuzz.running import run, whole_server
from tests.fuzz.wire import wire
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import FakeAdapter

# --- Debug adapters ----------------------------------------------------------------------------------------------

HEADS = st.sampled_from(
    [
        b"Content-Length: 2\r\n\r\n{}", b"content-length:2\r\nX: y\r\n\r\n{}", b"Content-Length: 0\r\n\r\n",
        b"\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: x\r\n\r\n", b"\n", b"\r", b"Traceback (most recent call last):\n", b"Starting\r\n",
        b"Content-Type: a\r\n", b"X" * 4096,
    ]
)  # fmt: skip
FRAMED = st.lists(HEADS | st.binary(max_size=10), max_size=4).map(b"".join)


@given(cuts=st.binary(min_size=4, max_size=4), stream=FRAMED)
def test_any_stream_is_decoded_to_the_same_bodies_however_it_is_cut(cuts: bytes, stream: bytes) -> None:
    targets.framing(cuts + stream)


@given(inputs.ENVELOPES.map(inputs.encoded) | st.binary(max_size=40) | inputs.JSON.map(inputs.encoded))
@example(inputs.deep(100_000))
@example(b'{"type":"event","event":"output","body":' + inputs.deep(5000) + b"}")
@example(b'{"type":"event","event":"stopped","body":{"reason":"\xff","threadId":1}}')
def test_any_message_of_an_adapter_is_decoded_or_a_violation(data: bytes) -> None:
    targets.dap(data)


@given(inputs.EVENTS)
def test_any_body_of_an_event_is_decoded_or_unknown(event: tuple[str, Any]) -> None:
    name, body = event
    targets.dap(inputs.encoded({"type": "event", "event": name, "body": body}))


def framed_event(event: tuple[str, Any]) -> bytes:
    name, body = event
    return encode_frame(inputs.encoded({"type": "event", "seq": 1, "event": name, "body": body}))


FRAMES = inputs.EVENTS.map(framed_event) | inputs.ENVELOPES.map(inputs.encoded).map(encode_frame)


@whole_server
@given(st.lists(FRAMES, max_size=6).map(b"".join) | FRAMED)
@example(encode_frame(b'{"type": "request", "command": "threads"}'))
def test_after_any_messages_of_an_adapter_the_server_still_works(data: bytes) -> None:
    targets.adapter(data)


def admission(response: tuple[int, object, Any]) -> bytes:
    number, success, body = response
    message = {"type": "response", "seq": 1, "request_seq": number, "success": success, "body": body}
    return encode_frame(inputs.encoded(message))


PROCESSES = st.fixed_dictionaries({"pid": inputs.SCALARS, "ppid": inputs.SCALARS}) | inputs.JSON
ADMISSIONS = st.tuples(
    st.integers(1, 4),
    st.just(True) | inputs.SCALARS,
    st.fixed_dictionaries({"process": PROCESSES})
    | st.fixed_dictionaries({"clientAccessToken": inputs.JSON})
    | inputs.JSON,
).map(admission)


@given(st.sampled_from([b"\0", b"\xff"]), st.lists(ADMISSIONS | FRAMES, max_size=5).map(b"".join) | FRAMED)
@example(b"\xff", admission((2, True, {"process": {"pid": 7, "ppid": 7}})) + admission((3, False, None)))
@example(b"\xff", admission((2, True, {"process": {"pid": inputs.HUGE, "ppid": -1}})) + admission((3, True, {})))
@example(b"\0", encode_frame(b'{"type":"response","request_seq":1,"success":true,"body":' + inputs.deep(5000) + b"}"))
def test_after_anything_that_dials_in_the_door_admits_the_next_program(knows: bytes, said: bytes) -> None:
    targets.caller(knows + said)


ANSWERED = {
    "threads": "ThreadsBody",
    "stackTrace": "StackTraceBody",
    "scopes": "ScopesBody",
    "variables": "VariablesBody",
    "exceptionInfo": "ExceptionInfoBody",
    "setBreakpoints": "BreakpointsBody",
    "evaluate": "EvaluateBody",
    "completions": "CompletionsBody",
    "source": "SourceBody",
    "initialize": "Capabilities",
}


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """Bodies of responses, by command."""
    commands = draw(st.lists(st.sampled_from(sorted(ANSWERED)), min_size=1, max_size=4, unique=True))
    kinds = {kind.__name__: kind for kind in targets.BODIES}
    return {command: draw(inputs.near_struct(kinds[ANSWERED[command]])) for command in commands}


@whole_server
@given(answers())
def test_with_any_responses_of_an_adapter_calls_end_and_reads_are_json(bodies: dict[str, Any]) -> None:
    async def main() -> None:
        fake = FakeAdapter()
        for command, body in bodies.items():
            fake.answer(command, partial(answer, body))
        async with wire(fake) as client:
            await client.call("breakpoint_set", {"file": fake.program, "line": 3})
            await client.call("debug_launch", {"program": fake.program, "timeout": 5})
            await client.read_all()
            for tool, arguments in CALLS:
                await client.call(tool, arguments)
            await fake.stop("exception")
            await trio.sleep(100)
            await client.read_all()
            await client.call("exception_get_context", {})
            await client.call("debug_disconnect", {})

    run(main)


async def answer(body: Any, arguments: object) -> Any:
    return body


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("debug_state", {}), ("threads_list", {}), ("stacktrace_get", {}), ("variables_get", {}),
    ("variables_get", {"path": "a.b"}), ("evaluate", {"expression": "1"}), ("breakpoint_list", {}),
    ("source_get", {"file": "/src/app.py"}), ("debug_step", {"wait": False}),
]  # fmt: skip


TASK: dict[str, Any] = {"library": "trio", "id": 1, "name": "ben", "state": "ready", "chain": []}


@whole_server
@given(inputs.ANSWERS.map(inputs.encoded) | inputs.JSON.map(inputs.encoded))
@example(b"")
@example(inputs.deep(5000))
@example(inputs.encoded({"answer": {"tasks": [TASK | {"chainOmitted": 3, "depth": inputs.HUGE}], "total": 1}}))
@example(inputs.encoded({"answer": {"tasks": [TASK | {"chainOmitted": 3, "depth": 2**62}], "total": 1}}))
def test_any_answer_of_the_probe_leaves_a_session_that_can_be_used_and_ended(data: bytes) -> None:
    targets.probe(data)


# --- MCP clients -------------------------------------------------------------------------------------------------


@st.composite
def conversations(draw: st.DrawFn) -> bytes:
    """Lines of one client."""
    return b"\n".join(draw(st.lists(inputs.MCP_LINES, min_size=1, max_size=6, unique=True)))


@whole_server
@given(conversations())
@example(b'{"jsonrpc":"2.0","id":"\\ud800","method":5}')
@example(inputs.deep(100_000))
def test_after_any_lines_of_a_client_requests_are_answered_and_the_connection_works(data: bytes) -> None:
    targets.mcp(data)


TOOLS = {tool.name: tool.input_schema for tool in open_toolbox().listed("control")}


@whole_server
@pytest.mark.parametrize("phase", ["no session", "running", "paused"])
@given(data=st.data())
def test_any_arguments_of_any_tool_give_a_result_or_a_public_error(phase: str, data: st.DataObject) -> None:
    """Several tools are called in one session."""
    calls = [
        (name, data.draw(inputs.arguments_of(TOOLS[name]), label=name))
        for name in data.draw(st.lists(st.sampled_from(sorted(TOOLS)), min_size=1, max_size=5, unique=True))
    ]

    async def main() -> None:
        fake = FakeAdapter()
        fake.values = {"": "1", "None": "None"}
        async with wire(fake) as client:
            if phase != "no session":
                paused = phase == "paused"
                arguments = {"program": fake.program, "stop_at_entry": paused, "wait": paused}
                await client.call("debug_launch", arguments)
            for name, arguments in calls:
                await client.call(name, arguments)
                await client.read_all()
            assert "result" in await client.request("ping")

    run(main)


def test_every_tool_has_an_input_schema() -> None:
    for name, schema in TOOLS.items():
        assert json.loads(msgspec.json.encode(schema))["type"] == "object", name


# --- Sources and heads -------------------------------------------------------------------------------------------

ODD = [
    "%",
    "%2f",
    "%2F",
    "%252f",
    "%00",
    "\0",
    "..",
    "/",
    "//",
    "./",
    "%c0%ae",
    "\\",
    "?",
    "#",
    ";",
    " ",
    "é",
    "\ud800",
]


@st.composite
def ways(draw: st.DrawFn) -> bytes:
    """A path of the yard with some characters encoded, and up to two odd ones inserted."""
    text = draw(st.sampled_from(sources.source_ways())).replace(sources.yard(), "YARD")
    encoded = "".join(
        "".join(f"%{byte:02X}" for byte in each.encode()) if draw(st.integers(0, 9)) == 0 else each for each in text
    )
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(encoded)))
        encoded = encoded[:at] + draw(st.sampled_from(ODD)) + encoded[at:]
    return encoded.encode(errors="surrogatepass")


@given(ways() | st.binary(max_size=20))
def test_no_uri_opens_a_file_that_the_debugger_has_not_named(data: bytes) -> None:
    sources.uri(data)


@given(ways() | st.binary(max_size=20))
def test_no_path_that_an_adapter_names_opens_a_file_outside_the_roots(data: bytes) -> None:
    sources.named(data)


PIECES = st.sampled_from(
    [
        b"GET / HTTP/1.1\r\n", b"HEAD /mcp HTTP/1.1\r\n", b"POST * HTTP/1.1\r\n", b"GET / HTTP/1.0\r\n",
        b"Host: 127.0.0.1:8000\r\n", b"Host: evil\r\n", b"Origin: null\r\n", b"Origin: http://127.0.0.1:8000\r\n",
        b"Upgrade: websocket\r\n", b"Connection: Upgrade\r\n", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        b"Sec-WebSocket-Version: 13\r\n", b"Sec-WebSocket-Protocol: mcp\r\n",
        b"Authorization: Bearer the-control-token\r\n", b"Authorization: Bearer\r\n",
        b"Authorization: Bearer \xff\r\n", b"Sec-WebSocket-Protocol: bearer.x, mcp\r\n", b"Content-Length: 5\r\n",
        b"Transfer-Encoding: chunked\r\n", b"\r\n", b"\n", b" \r\n", b"X: " + b"x" * 20_000 + b"\r\n", b"\x81\x00",
        b"\x88\x00",
    ]
)  # fmt: skip
UPGRADE = targets.seeds("head")[1]


@given(
    st.lists(PIECES | st.binary(max_size=6), max_size=9).map(b"".join)
    | st.lists(PIECES, max_size=9).map(lambda pieces: b"GET /mcp HTTP/1.1\r\n" + b"".join(pieces) + b"\r\n")
    | st.binary(max_size=40).map(lambda frames: UPGRADE + frames)
)
def test_any_bytes_at_the_port_are_answered_or_closed_and_none_is_admitted_without_a_token(
    data: bytes,
) -> None:
    targets.head(data)
