"""DAP messages to JSON and back: what real adapters send can be read, and what we send is exact."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trio_debugmcp.dap.codec import (
    decode_body,
    decode_event,
    decode_message,
    encode_request,
    encode_response,
    failure_text,
    merge_capabilities,
)
from trio_debugmcp.dap.messages import (
    EVENT_TYPES,
    BreakpointEvent,
    BreakpointsBody,
    Capabilities,
    CapabilitiesEvent,
    Continued,
    DapEvent,
    EvaluateBody,
    ExceptionInfoBody,
    Exited,
    ModuleEvent,
    Nothing,
    OutputEvent,
    ProcessEvent,
    Request,
    Response,
    RunInTerminal,
    ScopesBody,
    StackTraceBody,
    StartDebugging,
    Stopped,
    Terminated,
    ThreadEvent,
    ThreadsBody,
    UnknownEvent,
    VariablesBody,
)
from trio_debugmcp.errors import ProtocolViolation

TRACES = sorted((Path(__file__).parent.parent / "data" / "traces").glob("*.jsonl"))

BODIES: dict[str, type[Any]] = {
    "initialize": Capabilities,
    "setBreakpoints": BreakpointsBody,
    "setFunctionBreakpoints": BreakpointsBody,
    "setExceptionBreakpoints": BreakpointsBody,
    "threads": ThreadsBody,
    "stackTrace": StackTraceBody,
    "scopes": ScopesBody,
    "variables": VariablesBody,
    "evaluate": EvaluateBody,
    "exceptionInfo": ExceptionInfoBody,
}


def event(name: str, body: str = "") -> Any:
    member = f',"body":{body}' if body else ""
    message = decode_message(f'{{"type":"event","seq":1,"event":"{name}"{member}}}'.encode())
    assert isinstance(message, DapEvent)
    return decode_event(message)


def response(text: str) -> Response:
    message = decode_message(text.encode())
    assert isinstance(message, Response)
    return message


# --- Recordings of real adapters --------------------------------------------------------------------------


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.stem)
def test_every_message_of_a_recorded_session_can_be_read(trace: Path) -> None:
    heard = 0
    for line in trace.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["dir"] != "a2c":
            continue
        heard += 1
        raw = entry["msg"]
        match decode_message(json.dumps(raw).encode()):
            case DapEvent() as said:
                body = decode_event(said)
                known = EVENT_TYPES.get(said.event)
                assert isinstance(body, known or UnknownEvent), raw
            case Response(success=True, command=command, body=body) as said:
                assert said.request_seq == raw["request_seq"]
                assert isinstance(decode_body(body, BODIES.get(command, Nothing)), BODIES.get(command, Nothing))
            case Response() as said:
                names = ((raw.get("body") or {}).get("error") or {}).get("variables") or {}
                assert not [name for name in names if f"{{{name}}}" in failure_text(said)]
                assert failure_text(said).strip()
            case Request(command=command, arguments=arguments):
                kinds: dict[str, type[Any]] = {
                    "runInTerminal": RunInTerminal,
                    "startDebugging": StartDebugging,
                }
                kind = kinds[command]
                assert isinstance(decode_body(arguments, kind), kind)
    assert heard > 3


def test_the_recordings_are_there() -> None:
    names = {trace.stem.partition("-")[0] for trace in TRACES}
    assert {"debugpy", "bash", "cmake", "rdbg", "perl", "delve", "lldb"} <= names


# --- Odd habits -------------------------------------------------------------------------------------------


def test_a_message_needs_no_seq() -> None:
    assert decode_message(b'{"type":"event","event":"initialized"}') == DapEvent("initialized", 0)
    assert response('{"type":"response","request_seq":3,"success":true}') == Response(3, True)


def test_a_seq_of_zero_is_a_seq() -> None:
    assert decode_message(b'{"seq":0,"type":"request","command":"runInTerminal"}') == Request("runInTerminal", 0)


def test_members_that_we_do_not_know_are_skipped() -> None:
    assert event("stopped", '{"reason":"step","threadId":1,"__vendor":{"x":[1]}}') == Stopped("step", thread_id=1)


@pytest.mark.parametrize("body", ["", "null", '""', '"Success"', "[]", "{}"])
def test_a_body_that_is_not_an_object_counts_as_an_empty_one(body: str) -> None:
    assert event("terminated", body) == Terminated()
    assert event("stopped", body) == Stopped()
    member = f',"body":{body}' if body else ""
    answer = response(f'{{"type":"response","request_seq":1,"success":true,"command":"threads"{member}}}')
    assert decode_body(answer.body, ThreadsBody) == ThreadsBody()
    assert decode_body(answer.body, Nothing) == Nothing()


def test_optional_members_may_be_null() -> None:
    nulls = (
        '{"reason":"pause","description":null,"threadId":null,"preserveFocusHint":null,"text":null,'
        '"allThreadsStopped":null,"hitBreakpointIds":null}'
    )
    assert event("stopped", nulls) == Stopped("pause")
    frames = msgspec.Raw(
        b'{"stackFrames":[{"id":1,"name":"f","line":1,"column":1,"source":null,"moduleId":null,'
        b'"presentationHint":null,"instructionPointerReference":null}],"totalFrames":null}'
    )
    assert len(decode_body(frames, StackTraceBody).stack_frames or []) == 1
    assert decode_body(msgspec.Raw(b'{"threads":null}'), ThreadsBody).threads is None


def test_a_member_that_is_null_and_may_not_be_counts_as_absent() -> None:
    assert decode_body(msgspec.Raw(b'{"result":null,"variablesReference":0}'), EvaluateBody) == EvaluateBody()
    stack = msgspec.Raw(b'{"stackFrames":[{"id":1,"name":null,"line":null,"column":1},null]}')
    (frame,) = decode_body(stack, StackTraceBody).stack_frames or []
    assert (frame.id, frame.name) == (1, "")
    with pytest.raises(ProtocolViolation, match="unexpected body"):
        decode_body(msgspec.Raw(b'{"result":null,"variablesReference":"x"}'), EvaluateBody)


def test_a_thread_may_have_the_id_zero() -> None:
    assert event("stopped", '{"reason":"entry","threadId":0}').thread_id == 0
    assert event("stopped", '{"reason":"entry"}').thread_id is None
    assert event("thread", '{"reason":"started","threadId":0}') == ThreadEvent("started", 0)
    threads = decode_body(msgspec.Raw(b'{"threads":[{"id":0,"name":null}]}'), ThreadsBody).threads
    assert threads is not None
    assert (threads[0].id, threads[0].name) == (0, None)


def test_a_module_id_is_a_number_or_a_text() -> None:
    assert event("module", '{"reason":"new","module":{"id":0,"name":"m"}}').module.id == 0
    assert event("module", '{"reason":"new","module":{"id":"0xff","name":"m"}}').module.id == "0xff"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("thread", '{"reason":"started"}'),
        ("thread", '{"reason":"started","threadId":"one"}'),
        ("stopped", '{"reason":7}'),
        ("module", "{}"),
        ("breakpoint", '{"reason":"changed","breakpoint":null}'),
        ("exited", '{"exitCode":"zero"}'),
    ],
)
def test_an_event_that_does_not_fit_its_type_is_unknown(name: str, body: str) -> None:
    assert event(name, body) == UnknownEvent(name, json.loads(body))


def test_an_event_outside_the_specification_is_unknown_with_its_body() -> None:
    assert event("debugpySockets", '{"sockets":[]}') == UnknownEvent("debugpySockets", {"sockets": []})
    assert event("somethingNew") == UnknownEvent("somethingNew")


def test_every_event_that_we_use_has_its_members() -> None:
    assert event("continued", '{"threadId":1,"allThreadsContinued":true}') == Continued(1, True)
    assert event("exited", '{"exitCode":3}') == Exited(3)
    assert event("output", '{"category":"stderr","output":"a\\n"}') == OutputEvent("a\n", "stderr")
    assert event("process", '{"name":"p","systemProcessId":7,"startMethod":"launch"}') == ProcessEvent("p", 7, "launch")
    moved = event("breakpoint", '{"reason":"changed","breakpoint":{"id":2,"verified":true,"line":9}}')
    assert isinstance(moved, BreakpointEvent)
    assert (moved.breakpoint.id, moved.breakpoint.verified, moved.breakpoint.line) == (2, True, 9)
    loaded = event("module", '{"reason":"new","module":{"id":1,"name":"m","symbolStatus":"ok","isUserCode":true}}')
    assert isinstance(loaded, ModuleEvent)
    assert (loaded.module.symbol_status, loaded.module.is_user_code) == ("ok", True)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"Traceback",
        b'{"type":"event"}',
        b'{"type":"request","seq":1}',
        b'{"type":"response","success":true}',
        b'{"type":"letter","seq":1}',
        b'{"type":"event","event":"output"',
    ],
)
def test_text_that_is_not_a_dap_message_is_a_violation_that_quotes_it(text: bytes) -> None:
    with pytest.raises(ProtocolViolation, match="not a DAP message") as caught:
        decode_message(text)
    assert caught.value.head == text


def test_a_body_that_does_not_fit_is_a_violation_that_quotes_it() -> None:
    with pytest.raises(ProtocolViolation, match="unexpected body") as caught:
        decode_body(msgspec.Raw(b'{"threads":7}'), ThreadsBody)
    assert caught.value.head == b'{"threads":7}'
    assert "Expected `array | null`, got `int`" in caught.value.reason


# --- Failures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ('"message":"cancelled"', "cancelled"),
        (
            '"message":"x","body":{"error":{"format":"no {a} in {b}","variables":{"a":"x","b":"y"}}}',
            "no x in y",
        ),
        ('"message":"x","body":{"error":{"id":1,"format":"plain"}}', "plain"),
        ('"message":"x","body":{"error":{"id":1,"format":"n is {n}","variables":{"n":3}}}', "n is 3"),
        ('"message":"x","body":{"error":{"id":1}}', "x"),
        ('"message":"x","body":{"error":null}', "x"),
        ('"message":"x","body":"boom"', "x"),
        ('"message":null,"body":null', "the adapter gave no reason"),
        ('"message":""', "the adapter gave no reason"),
    ],
)
def test_a_refusal_has_the_reason_that_the_adapter_gives(members: str, text: str) -> None:
    answer = response(f'{{"type":"response","request_seq":1,"success":false,"command":"next",{members}}}')
    assert failure_text(answer) == text


@pytest.mark.parametrize("variables", ["[]", '["a"]', '"a"', "7"])
def test_a_refusal_with_malformed_variables_still_has_a_reason(variables: str) -> None:
    error = '{"error":{"format":"no {what}","variables":' + variables + "}}"
    answer = response(f'{{"type":"response","request_seq":1,"success":false,"body":{error}}}')
    assert failure_text(answer) == "no {what}"


# --- Capabilities -----------------------------------------------------------------------------------------


def test_capabilities_of_an_event_replace_earlier_ones() -> None:
    first = Capabilities(supports_log_points=True, supports_step_back=True)
    merged = merge_capabilities(first, msgspec.Raw(b'{"supportsStepBack":false,"supportsRestartRequest":true}'))
    assert merged == Capabilities(supports_log_points=True, supports_step_back=False, supports_restart_request=True)


def test_capabilities_that_are_null_change_nothing() -> None:
    first = Capabilities(supports_log_points=True)
    assert merge_capabilities(first, msgspec.Raw(b'{"supportsLogPoints":null}')) == first
    assert merge_capabilities(first, msgspec.Raw(b"null")) == first


def test_the_capability_without_an_s_is_read_as_the_protocol_spells_it() -> None:
    assert decode_body(msgspec.Raw(b'{"supportTerminateDebuggee":true}'), Capabilities).supports_terminate_debuggee


def test_the_capabilities_of_an_event_are_decoded_when_they_are_merged() -> None:
    said = event("capabilities", '{"capabilities":{"supportsLogPoints":true}}')
    assert isinstance(said, CapabilitiesEvent)
    assert merge_capabilities(Capabilities(), said.capabilities).supports_log_points is True


# --- Encoding ---------------------------------------------------------------------------------------------


def test_a_request_is_encoded_without_members_that_are_not_set() -> None:
    assert encode_request(1, "next", {"threadId": 0}) == (
        b'{"type":"request","seq":1,"command":"next","arguments":{"threadId":0}}'
    )
    assert encode_request(2, "configurationDone") == b'{"type":"request","seq":2,"command":"configurationDone"}'
    assert encode_request(3, "threads", {}) == b'{"type":"request","seq":3,"command":"threads","arguments":{}}'


def test_the_response_to_a_reverse_request_names_its_command_and_seq() -> None:
    request = Request("runInTerminal", 7)
    assert encode_response(4, request, {"processId": 9}) == (
        b'{"type":"response","seq":4,"request_seq":7,"success":true,"command":"runInTerminal","body":{"processId":9}}'
    )
    assert encode_response(5, request, failure="no") == (
        b'{"type":"response","seq":5,"request_seq":7,"success":false,"command":"runInTerminal","message":"no"}'
    )
    assert b'"success":false' in encode_response(6, Request("x", 0), failure="")


def test_an_environment_may_unset_a_variable() -> None:
    wanted = decode_body(msgspec.Raw(b'{"args":["a"],"cwd":"/","env":{"X":null,"Y":"1"}}'), RunInTerminal)
    assert wanted.env == {"X": None, "Y": "1"}


# --- Text that is not valid UTF-8 -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (rb"a\ud800b", "a?b"),
        (rb"half \udc00", "half ?"),
        (b"a\xffb", "a\ufffdb"),
        (rb"\ud83d\ude00", "\U0001f600"),
    ],
)
def test_undecodable_characters_of_output_are_replaced(output: bytes, shown: str) -> None:
    message = decode_message(b'{"type":"event","event":"output","body":{"output":"%b"}}' % output)
    assert isinstance(message, DapEvent)
    assert decode_event(message) == OutputEvent(shown)


def test_undecodable_characters_of_a_response_are_replaced() -> None:
    assert decode_body(msgspec.Raw(b'{"result":"\xff"}'), EvaluateBody) == EvaluateBody("\ufffd")
    refused = response('{"type":"response","request_seq":1,"success":false,"message":"m"}')
    assert failure_text(msgspec.structs.replace(refused, body=msgspec.Raw(b'{"error":{"format":"\xff"}}'))) == "\ufffd"


def test_nesting_that_is_too_deep_is_a_violation() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(ProtocolViolation, match="not a DAP message: it is nested too deeply"):
        decode_message(b'{"type":"event","event":"x","body":%b}' % deep)
